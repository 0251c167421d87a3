#include "traces/roce_frame.hpp"

#include "traces/decoder.hpp"
#include "traces/icrc.hpp"
#include "traces/transport.hpp"

namespace traces {
namespace {

constexpr size_t kEthernetSize = 14, kIpSize = 20, kUdpSize = 8;
constexpr uint16_t kRocePort = 4791;

class Bytes {
 public:
  void put(uint64_t value, size_t count) {
    while (count-- > 0) bytes_.push_back(static_cast<uint8_t>(value >> 8 * count));
  }
  void append(const uint8_t* from, size_t count) { bytes_.insert(bytes_.end(), from, from + count); }
  void set16(size_t offset, uint32_t value) {
    bytes_[offset] = static_cast<uint8_t>(value >> 8);
    bytes_[offset + 1] = static_cast<uint8_t>(value);
  }
  size_t size() const { return bytes_.size(); }
  ByteSpan span() const { return ByteSpan(bytes_); }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

/// RFC 1071.
uint16_t checksum(ByteSpan header) {
  uint32_t sum = 0;
  for (size_t i = 0; i < header.size; i += 2) sum += load16(header, i);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

void put_network(Bytes& b, const FrameFields& f) {
  b.append(f.destination_mac.data(), f.destination_mac.size());
  b.append(f.source_mac.data(), f.source_mac.size());
  b.put(kIpv4Type, 2);
  b.put(0x4500'0000'0000'4000, 8);  // version, header length; total length follows; identification; DF
  b.put(0x4011'0000, 4);            // TTL 64, UDP; checksum follows
  b.put(f.source, 4);
  b.put(f.destination, 4);
  b.put(f.source_port, 2);
  b.put(kRocePort, 2);
  b.put(0, 4);  // length follows; no checksum
}

void put_transport(Bytes& b, const FrameFields& f, uint32_t pad) {
  const Bth& bth = f.bth;
  b.put(bth.opcode, 1);
  b.put(uint64_t{bth.solicited} << 7 | uint64_t{bth.migration} << 6 | pad << 4 | bth.transport_version, 1);
  b.put(bth.partition_key, 2);
  b.put(bth.dest_qp & 0xffffff, 4);
  b.put(uint64_t{bth.ack_request} << 31 | (bth.psn & 0xffffff), 4);
  if (f.reth) {
    b.put(f.reth->virtual_address, 8);
    b.put(f.reth->remote_key, 4);
    b.put(f.reth->dma_length, 4);
  }
  if (f.aeth) b.put(uint64_t{f.aeth->syndrome} << 24 | (f.aeth->msn & 0xffffff), 4);
  if (f.immediate) b.put(*f.immediate, 4);
  b.append(f.payload.data, f.payload.size);
  b.put(0, pad);
}

}  // namespace

std::vector<uint8_t> roce_frame(const FrameFields& fields) {
  const auto pad = static_cast<uint32_t>(-fields.payload.size & 3);
  Bytes b;
  put_network(b, fields);
  put_transport(b, fields, pad);
  const auto ip_size = static_cast<uint32_t>(b.size() + kIcrcSize - kEthernetSize);
  b.set16(kEthernetSize + 2, ip_size);
  b.set16(kEthernetSize + kIpSize + 4, ip_size - kIpSize);
  b.set16(kEthernetSize + 10, checksum(b.span().slice(kEthernetSize, kIpSize)));
  const ByteSpan frame = b.span();
  const uint32_t icrc =
      compute_icrc(frame.slice(kEthernetSize, kIpSize), frame.slice(kEthernetSize + kIpSize, kUdpSize),
                   frame.slice(kEthernetSize + kIpSize + kUdpSize, frame.size));
  for (uint32_t i = 0; i < kIcrcSize; ++i) b.put(icrc >> 8 * i & 0xff, 1);
  return b.take();
}

}  // namespace traces
