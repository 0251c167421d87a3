#include "traces/pcap_format.hpp"

#include "traces/text.hpp"

namespace traces {
namespace {

constexpr size_t kFileHeaderSize = 24;
constexpr size_t kRecordHeaderSize = 16;
constexpr size_t kModifiedRecordHeaderSize = 24;
constexpr uint16_t kMajorVersion = 2;
constexpr uint32_t kSecond_ns = 1'000'000'000;

constexpr ByteOrder kLittle = {false};
constexpr ByteOrder kBig = {true};
constexpr PcapVariant kVariants[] = {
    {0xa1b2c3d4, kLittle, 1000, false}, {0xd4c3b2a1, kBig, 1000, false},   {0xa1b23c4d, kLittle, 1, false},
    {0x4d3cb2a1, kBig, 1, false},       {0xa1b2cd34, kLittle, 1000, true}, {0x34cdb2a1, kBig, 1000, true},
};

}  // namespace

std::optional<PcapVariant> pcap_variant_of(uint32_t magic) {
  for (const PcapVariant& variant : kVariants) {
    if (variant.magic == magic) return variant;
  }
  return std::nullopt;
}

PcapFormat::PcapFormat(std::string name, ByteSource source, const PcapVariant& variant)
    : CaptureFormat(std::move(name), std::move(source)), variant_(variant) {
  const ByteSpan header = this->source().peek(kFileHeaderSize);
  if (header.size < kFileHeaderSize)
    fail("file header (offset 0)", format("cut at byte %zu; allowed: %zu bytes", header.size, kFileHeaderSize));
  const uint16_t major = variant_.order.load16(header.data + 4);
  if (major != kMajorVersion) fail("file header (offset 4)", format("version %u; allowed: %u", major, kMajorVersion));
  link_type_ = variant_.order.load32(header.data + 20) & 0xffff;  // above it: whether frames carry an FCS
  this->source().skip(kFileHeaderSize);
  if (variant_.modified) find_record_size();
}

bool PcapFormat::read(Packet& packet) {
  ByteSpan record = source().peek(record_header_size_);
  if (record.size == 0) return false;
  if (record.size < record_header_size_) {
    fail_packet(format("the record header is cut: %zu of %zu bytes; allowed: whole records up to the end of the file",
                       record.size, record_header_size_));
  }
  const uint32_t captured = variant_.order.load32(record.data + 8);
  if (captured > kLargestPacket)
    fail_packet(format("the record claims %u bytes; allowed: 0 to %u", captured, kLargestPacket));
  record = source().peek(record_header_size_ + captured);
  if (!record.holds(record_header_size_, captured)) {
    fail_packet(format("the record body is cut: %zu of %u bytes; allowed: whole records up to the end of the file",
                       record.size - record_header_size_, captured));
  }
  const int64_t time_ns = int64_t{variant_.order.load32(record.data)} * kSecond_ns +
                          int64_t{variant_.order.load32(record.data + 4)} * variant_.time_unit_ns;
  deliver(packet, time_ns, {record.data + record_header_size_, captured}, variant_.order.load32(record.data + 12),
          link_type_, 0);
  source().skip(record_header_size_ + captured);
  return true;
}

bool PcapFormat::is_record(ByteSpan header) const {
  const uint32_t captured = variant_.order.load32(header.data + 8);
  return variant_.order.load32(header.data + 4) < kSecond_ns / variant_.time_unit_ns && captured <= kLargestPacket &&
         captured <= variant_.order.load32(header.data + 12);
}

// Whether headers of this size lead from record to record: to several, or to the end of the file.
bool PcapFormat::records_have(size_t header_size) {
  constexpr int kEnough = 8;
  size_t offset = 0;
  for (int records = 0; records < kEnough; ++records) {
    const ByteSpan rest = source().peek(offset + kRecordHeaderSize);
    if (rest.size == offset) return records > 0;
    if (!rest.holds(offset, kRecordHeaderSize)) return records > 1;  // cut
    const ByteSpan header = rest.slice(offset, kRecordHeaderSize);
    if (!is_record(header)) return false;
    offset += header_size + variant_.order.load32(header.data + 8);
  }
  return true;
}

// Files with the modified magic exist with records of either size, so the first records must tell.
void PcapFormat::find_record_size() {
  if (source().peek(1).size == 0) return;  // no packet
  const bool plain = records_have(kRecordHeaderSize);
  const bool modified = records_have(kModifiedRecordHeaderSize);
  if (plain == modified) {
    fail_packet(
        format("the modified pcap format, with record headers that may have %zu or %zu bytes; allowed: a file "
               "whose first records fit one of them alone",
               kRecordHeaderSize, kModifiedRecordHeaderSize));
  }
  record_header_size_ = modified ? kModifiedRecordHeaderSize : kRecordHeaderSize;
}

}  // namespace traces
