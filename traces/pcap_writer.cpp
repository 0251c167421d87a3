#include "traces/pcap_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace traces {
namespace {

constexpr uint32_t kNanosecondMagic = 0xa1b23c4d;
constexpr uint32_t kEthernet = 1;

template <typename Number>
void append_little_endian(std::vector<uint8_t>& bytes, Number value) {
  for (size_t i = 0; i < sizeof value; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

}  // namespace

PcapWriter::PcapWriter(const std::string& file) : file_(file), stream_(std::fopen(file.c_str(), "wb")) {
  if (!stream_) throw OutputError(file + ": cannot create: " + std::strerror(errno));
  std::setvbuf(stream_.get(), nullptr, _IONBF, 0);
  append_little_endian(record_, kNanosecondMagic);
  append_little_endian(record_, uint16_t{2});  // version 2.4
  append_little_endian(record_, uint16_t{4});
  append_little_endian(record_, uint64_t{0});  // time zone and accuracy: always 0
  append_little_endian(record_, kSnapLength);
  append_little_endian(record_, kEthernet);
  write_record();
}

void PcapWriter::write(uint64_t time_ps, ByteSpan frame) {
  const uint64_t time_ns = time_ps / 1000;
  const ByteSpan kept = frame.slice(0, kSnapLength);
  append_little_endian(record_, static_cast<uint32_t>(time_ns / 1'000'000'000));
  append_little_endian(record_, static_cast<uint32_t>(time_ns % 1'000'000'000));
  append_little_endian(record_, static_cast<uint32_t>(kept.size));
  append_little_endian(record_, static_cast<uint32_t>(frame.size));
  record_.insert(record_.end(), kept.data, kept.data + kept.size);
  write_record();
}

void PcapWriter::write_record() {
  const bool written = std::fwrite(record_.data(), 1, record_.size(), stream_.get()) == record_.size();
  record_.clear();
  if (!written) throw OutputError(file_ + ": cannot write: " + std::strerror(errno));
}

}  // namespace traces
