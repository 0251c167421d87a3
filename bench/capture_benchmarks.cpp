// Packets a second of one core from a capture file (in the page cache) through the reader, and through the decoder with
// its ICRC, by payload size: build/bench/capture_benchmarks.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "traces/merged_reader.hpp"
#include "traces/pcap_reader.hpp"
#include "traces/pcap_writer.hpp"
#include "traces/roce.hpp"

namespace {

constexpr size_t kFileBytes = size_t{256} << 20;
constexpr uint32_t kQueuePairs = 4000;

void put(std::vector<uint8_t>& frame, size_t offset, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) frame[offset + i] = static_cast<uint8_t>(value >> (8 * (count - 1 - i)));
}

// A WRITE_Middle. Its ICRC is computed by the decoder and found wrong, which takes the same time.
std::vector<uint8_t> write_middle(size_t payload) {
  const size_t udp_length = 8 + 12 + payload + 4;
  std::vector<uint8_t> frame(14 + 20 + udp_length, 0x5a);
  put(frame, 12, 0x0800'4500, 4);
  put(frame, 16, 20 + udp_length, 2);
  put(frame, 18, 0x0000'4000'4011, 6);
  put(frame, 36, 4791, 2);
  put(frame, 38, udp_length, 2);
  put(frame, 42, 0x0700'ffff, 4);
  return frame;
}

// A file of about kFileBytes; its queue pairs take turns.
class GeneratedCapture {
 public:
  explicit GeneratedCapture(size_t payload) {
    std::string folder = (std::filesystem::temp_directory_path() / "balboa-bench-XXXXXX").string();
    if (!mkdtemp(folder.data())) throw traces::OutputError(folder + ": cannot create");
    folder_ = folder;
    traces::PcapWriter writer(file());
    std::vector<uint8_t> frame = write_middle(payload);
    for (size_t i = 0; i * frame.size() < kFileBytes; ++i) {
      put(frame, 46, i % kQueuePairs, 4);
      put(frame, 50, i / kQueuePairs, 4);
      writer.write(i * 100'000, frame);
    }
  }
  ~GeneratedCapture() { std::filesystem::remove_all(folder_); }
  GeneratedCapture(const GeneratedCapture&) = delete;
  GeneratedCapture& operator=(const GeneratedCapture&) = delete;

  std::string file() const { return (folder_ / "generated.pcap").string(); }

 private:
  std::filesystem::path folder_;
};

template <typename Reader, typename Use>
void packets_through(benchmark::State& state, Use use) {
  const GeneratedCapture capture(static_cast<size_t>(state.range(0)));
  int64_t packets = 0;
  int64_t bytes = 0;
  for (auto _ : state) {
    Reader reader({capture.file()});
    traces::Packet packet;
    while (reader.read(packet)) {
      use(packet);
      ++packets;
      bytes += static_cast<int64_t>(packet.bytes.size());
    }
  }
  state.SetItemsProcessed(packets);
  state.SetBytesProcessed(bytes);
}

void Read(benchmark::State& state) {
  packets_through<traces::PcapReader>(state, [](const traces::Packet&) {});
}

void ReadDecode(benchmark::State& state) {
  packets_through<traces::MergedReader>(
      state, [](const traces::Packet& packet) { benchmark::DoNotOptimize(traces::decode(packet).bth.psn); });
}

void payloads(benchmark::internal::Benchmark* benchmark) {
  for (int64_t payload : {0, 64, 256, 1024, 4096}) benchmark->Arg(payload);
  benchmark->ArgName("payload")->Unit(benchmark::kMillisecond);
}

BENCHMARK(Read)->Apply(payloads);
BENCHMARK(ReadDecode)->Apply(payloads);

}  // namespace

BENCHMARK_MAIN();
