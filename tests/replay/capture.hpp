// Small captures, made packet by packet.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "sim/replay/look_ahead.hpp"
#include "tests/traces/support.hpp"
#include "tests/traces/tap.hpp"

namespace replay_test {

using traces::test::build_frame;
using traces::test::Ends;
using traces::test::FrameSpec;

constexpr uint8_t kSendFirst = 0x00, kSendMiddle = 0x01, kSendLast = 0x02, kSendOnly = 0x04, kSendOnlyImmediate = 0x05,
                  kWriteFirst = 0x06, kWriteMiddle = 0x07, kWriteLast = 0x08, kWriteLastImmediate = 0x09,
                  kWriteOnly = 0x0a, kRead = 0x0c, kReadFirst = 0x0d, kReadLast = 0x0f, kReadOnly = 0x10, kAck = 0x11;

class Capture {
 public:
  Capture() { clear(); }

  void clear() {
    bytes_.clear();
    traces::test::append(bytes_, false, 4, {0xa1b23c4d});
    traces::test::append(bytes_, false, 2, {2, 4});
    traces::test::append(bytes_, false, 4, {0, 0, 262144, 1});  // Ethernet
  }
  void add(const FrameSpec& spec, int64_t after_ns = 10'000) { add_bytes(build_frame(spec), after_ns); }
  void add(std::initializer_list<FrameSpec> specs) {
    for (const FrameSpec& spec : specs) add(spec);
  }
  void add_bytes(const std::vector<uint8_t>& frame, int64_t after_ns = 10'000) {
    add_record(frame, frame.size(), after_ns);
  }
  // Cut by the snap length.
  void add_cut(const FrameSpec& spec, size_t kept_bytes) { add_record(build_frame(spec), kept_bytes, 10'000); }

  std::vector<uint8_t>& bytes() { return bytes_; }
  std::string file() const {
    std::filesystem::remove(file_.name());  // some file systems wait for the disk where a file is overwritten
    traces::test::write_bytes(file_.name(), bytes_);
    return file_.name();
  }
  sim::LookAheadOptions options() const {
    sim::LookAheadOptions options;
    options.files = {file()};
    options.packets = 1024;
    return options;
  }

 private:
  void add_record(const std::vector<uint8_t>& frame, size_t kept_bytes, int64_t after_ns) {
    now_ns_ += after_ns;
    const auto time = uint64_t(now_ns_);
    traces::test::append(bytes_, false, 4, {time / 1'000'000'000, time % 1'000'000'000, kept_bytes, frame.size()});
    bytes_.insert(bytes_.end(), frame.begin(), frame.begin() + std::ptrdiff_t(kept_bytes));
  }

  traces::test::TemporaryFile file_{"capture.pcap"};
  std::vector<uint8_t> bytes_;
  int64_t now_ns_ = 1'000'000'000;
};

}  // namespace replay_test
