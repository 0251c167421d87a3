// Damaged captures: whatever the bytes, reading ends in packets and at most one error line. Run under
// BALBOA_SANITIZE=address,undefined to see reads out of bounds. fuzz.cpp searches further, guided by coverage.

#include <random>

#include "fuzz_checks.hpp"
#include "support.hpp"
#include "traces/connections.hpp"

namespace traces {
namespace {

std::vector<std::filesystem::path> seeds() {
  std::vector<std::filesystem::path> files = {test::sample_capture()};
  for (const char* name : {"encapsulated.pcap", "mixed.pcapng", "mixed.pcapng.gz"}) files.push_back(test::sample(name));
  if (!test::shared_folder().empty()) files.push_back(test::shared_folder() / "captures/rxe/nano_mixed.s.pcap");
  return files;
}

// Flips up to eight bytes, most of them near the start where the headers are, and cuts every fourth file.
std::vector<uint8_t> mutate(std::vector<uint8_t> bytes, std::mt19937& random) {
  const size_t flips = random() % 9;
  for (size_t i = 0; i < flips; ++i) {
    const size_t range = random() % 2 ? bytes.size() : std::min<size_t>(bytes.size(), 400);
    bytes[random() % range] ^= static_cast<uint8_t>(1 + random() % 255);
  }
  if (random() % 4 == 0) bytes.resize(random() % bytes.size());
  return bytes;
}

// True when the capture holds a connection, cut or not.
bool has_connection(const std::string& file) {
  ConnectionTracker tracker;
  try {
    PcapReader reader(file);
    for (Packet packet; reader.read(packet);) tracker.add(packet, decode(packet));
  } catch (const InputError& error) {
    test::expect_error_line(error.what(), file);
  }
  tracker.finish();
  return !tracker.lanes().empty();
}

TEST(Fuzz, DamagedCapturesNeverCrash) {
  constexpr size_t kMutations = 2000;
  constexpr size_t kSeedBytes = 40000;
  const auto files = seeds();
  std::vector<std::vector<uint8_t>> originals;
  for (const auto& file : files) {
    originals.push_back(test::read_bytes(file));
    originals.back().resize(std::min(originals.back().size(), kSeedBytes));
  }
  std::mt19937 random(3);
  test::TemporaryFile file("damaged.pcap");
  size_t readable = 0;
  for (size_t i = 0; i < kMutations && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const std::vector<uint8_t> damaged = mutate(originals[i % originals.size()], random);
    test::write_bytes(file.name(), damaged);
    EXPECT_EQ(test::problem_of_capture(file.name()), "");
    EXPECT_EQ(test::problem_of_frame(ByteSpan(damaged).slice(24 + 16, 2000)), "");
    readable += has_connection(file.name());
  }
  // Damage that nothing survives, or that everything survives, would test nothing.
  EXPECT_GT(readable, kMutations / 10);
  EXPECT_LT(readable, kMutations);
}

}  // namespace
}  // namespace traces
