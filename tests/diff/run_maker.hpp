// Run folders made by hand.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/diff/run_diff.hpp"
#include "tests/config/temporary_folder.hpp"
#include "tests/traces/frames.hpp"
#include "traces/pcap_writer.hpp"

namespace test {

struct SentFrame {
  uint64_t time_ps;
  std::vector<uint8_t> bytes;
};

// A frame of node `from` (0 or 1), as spelled by `spec`.
inline std::vector<uint8_t> frame_of(unsigned from, const traces::test::FrameSpec& spec) {
  std::vector<uint8_t> bytes = traces::test::build_frame(spec);
  bytes[5] = uint8_t(2 - from);
  bytes[11] = uint8_t(1 + from);
  return bytes;
}

// Node 0 writes four messages, node 1 acknowledges each; a packet every 100 ns.
inline std::vector<SentFrame> four_writes() {
  std::vector<SentFrame> frames;
  for (uint32_t i = 0; i < 4; i++) {
    frames.push_back({1000000 + i * 200000, frame_of(0, traces::test::write_only(100 + i, 64))});
    frames.push_back({1100000 + i * 200000, frame_of(1, traces::test::ack(7, 100 + i, i + 1))});
  }
  return frames;
}

struct MadeRun {
  std::string config = "[nic]\nclock_hz = 250000000\npmtu = 4096\n[workload]\nsize = 64\n";
  nlohmann::ordered_json result = nlohmann::ordered_json::parse(R"({
    "schema_version": 1, "version": "0.1.0", "seed": 1, "simulated_ps": 2000000, "command": "perf",
    "results": [{"test": "write_bw", "size_bytes": 64, "iterations": 4, "qps": 1, "tx_depth": 128, "messages": 4,
                 "errors": 0, "memory_equal": true, "steady_gbps": 10.0, "steady_messages_per_s": 2e6,
                 "latency_ps": {"min": 1000, "median": 2000, "p99": 3000}, "frames": 8, "end_ps": 2000000,
                 "problems": [],
                 "counters": {"nic0": {"mac.tx.frames": 4, "mac.rx.frames": 4}, "nic1": {"mac.tx.frames": 4}}}]})");
  std::vector<SentFrame> frames = four_writes();
  std::string counters = "nic0.mac.tx.frames 4\nnic0.mac.rx.frames 4\n";

  nlohmann::ordered_json& workload() { return result["results"][0]; }

  // Leaves the folder and returns its path.
  std::string write(const std::filesystem::path& folder) const {
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "config.toml") << config;
    std::ofstream(folder / "result.json") << result.dump();
    std::ofstream(folder / "counters.txt") << counters;
    traces::PcapWriter pcap((folder / "nic0.pcap").string());
    for (const SentFrame& frame : frames) pcap.write(frame.time_ps, frame.bytes);
    return folder.string();
  }
};

// The two runs compared.
inline sim::RunDiff diff_of(const MadeRun& a, const MadeRun& b) {
  const TemporaryFolder root;
  return sim::compare_runs(a.write(root / "a"), b.write(root / "b"));
}

}  // namespace test
