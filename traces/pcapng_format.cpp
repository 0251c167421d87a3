#include "traces/pcapng_format.hpp"

#include <limits>

#include "traces/text.hpp"

namespace traces {
namespace {

constexpr uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr uint32_t kInterfaceBlock = 1;
constexpr uint32_t kObsoletePacketBlock = 2;
constexpr uint32_t kSimplePacketBlock = 3;
constexpr uint32_t kEnhancedPacketBlock = 6;

constexpr size_t kBlockOverhead = 12;  // type and length in front, the length again behind
constexpr size_t kSmallestSection = 28;
constexpr uint32_t kLargestBlock = 1 << 20;  // that is looked into: a packet of the largest size, with room for options
constexpr size_t kMostInterfaces = 65536;

constexpr uint16_t kOptionEnd = 0;
constexpr uint16_t kOptionTimeResolution = 9;
constexpr uint16_t kOptionTimeOffset = 14;

constexpr int64_t kSecond_ns = 1'000'000'000;

bool carries_packet(uint32_t type) {
  return type == kEnhancedPacketBlock || type == kSimplePacketBlock || type == kObsoletePacketBlock;
}

}  // namespace

bool PcapngFormat::read(Packet& packet) {
  while (true) {
    const ByteSpan head = source().peek(kBlockOverhead);
    if (head.size == 0) return false;
    if (head.size < kBlockOverhead)
      fail_block(format("the block is cut: %zu of at least %zu bytes; allowed: whole blocks up to the end of the file",
                        head.size, kBlockOverhead));
    if (ByteOrder{}.load32(head.data) == kMagic) {
      order_.big_endian = ByteOrder{true}.load32(head.data + 8) == kByteOrderMagic;
      if (order_.load32(head.data + 8) != kByteOrderMagic)
        fail_block(format("byte-order magic %02x%02x%02x%02x; allowed: 1a2b3c4d in either order", head.data[8],
                          head.data[9], head.data[10], head.data[11]));
    }
    const uint32_t type = order_.load32(head.data);
    const uint32_t length = order_.load32(head.data + 4);
    if (length < kBlockOverhead || length % 4 != 0)
      fail_block(format("block length %u; allowed: a multiple of 4 from %zu", length, kBlockOverhead));
    if (type == kMagic) section_header(length);
    if (type == kInterfaceBlock) interface_description(whole_block(length));
    const bool has_packet = carries_packet(type);
    if (has_packet) packet_block(type, whole_block(length), packet);
    if (!source().skip(length))
      fail_block("the file ends inside a block; allowed: whole blocks up to the end of the file");
    if (has_packet) return true;
  }
}

ByteSpan PcapngFormat::whole_block(uint32_t length) {
  if (length > kLargestBlock) fail_block(format("block length %u; allowed: up to %u", length, kLargestBlock));
  const ByteSpan block = source().peek(length).slice(0, length);
  if (block.size < length)
    fail_block(format("the block is cut: %zu of %u bytes; allowed: whole blocks up to the end of the file", block.size,
                      length));
  const uint32_t again = order_.load32(block.data + length - 4);
  if (again != length)
    fail_block(format("the block has length %u and ends with %u; allowed: twice the same", length, again));
  return block;
}

void PcapngFormat::section_header(uint32_t length) {
  if (length < kSmallestSection)
    fail_block(format("section header of %u bytes; allowed: %zu and more", length, kSmallestSection));
  earlier_interfaces_ += static_cast<uint32_t>(interfaces_.size());
  interfaces_.clear();
}

void PcapngFormat::interface_description(ByteSpan block) {
  constexpr size_t kOptions = 16;
  if (block.size < kOptions + 4)
    fail_block(format("interface description of %zu bytes; allowed: 20 and more", block.size));
  if (interfaces_.size() == kMostInterfaces)
    fail_block(format("more than %zu interfaces in a section; allowed: these", kMostInterfaces));
  Interface interface;
  interface.link_type = order_.load16(block.data + 8);
  interface.snap_length = order_.load32(block.data + 12);
  const ByteSpan options = block.slice(kOptions, block.size - kOptions - 4);
  for (size_t offset = 0; options.holds(offset, 4);) {
    const uint16_t code = order_.load16(options.data + offset);
    const uint16_t size = order_.load16(options.data + offset + 2);
    if (code == kOptionEnd) break;
    if (!options.holds(offset + 4, size))
      fail_block(format("option %u of %u bytes reaches beyond its block; allowed: inside", code, size));
    clock_option(code, options.slice(offset + 4, size), interface);
    offset += 4 + (size + 3u) / 4 * 4;
  }
  interfaces_.push_back(interface);
}

void PcapngFormat::clock_option(uint16_t code, ByteSpan value, Interface& interface) {
  if (code == kOptionTimeOffset && value.size == 8) {
    interface.offset_ns = __int128{static_cast<int64_t>(order_.load64(value.data))} * kSecond_ns;
  } else if (code == kOptionTimeResolution && value.size == 1) {
    constexpr unsigned kMostDigits = 38;  // 10^38 < 2^128
    const unsigned exponent = value.data[0] & 127;
    const bool binary = value.data[0] & 128;
    if (!binary && exponent > kMostDigits)
      fail_block(format("if_tsresol of 10^-%u s; allowed: down to 10^-%u", exponent, kMostDigits));
    interface.divisor = 1;
    for (unsigned i = 0; i < exponent; ++i) interface.divisor *= binary ? 2 : 10;
    interface.multiplier = kSecond_ns;
    if (interface.multiplier % interface.divisor == 0) {  // spares a wide division for each packet
      interface.multiplier /= interface.divisor;
      interface.divisor = 1;
    }
  }
}

PcapngFormat::PacketFields PcapngFormat::fields_of(uint32_t type, ByteSpan block) const {
  const uint8_t* b = block.data;
  if (type == kSimplePacketBlock) {
    constexpr size_t kData = 12;
    const uint32_t original = order_.load32(b + 8);
    const uint32_t snap = interfaces_.empty() ? 0 : interfaces_.front().snap_length;
    const auto room = static_cast<uint32_t>(block.size - kData - 4);
    return {0, 0, std::min({original, room, snap ? snap : original}), original, kData};
  }
  const bool enhanced = type == kEnhancedPacketBlock;
  const uint32_t interface = enhanced ? order_.load32(b + 8) : order_.load16(b + 8);
  return {interface, uint64_t{order_.load32(b + 12)} << 32 | order_.load32(b + 16), order_.load32(b + 20),
          order_.load32(b + 24), 28};
}

void PcapngFormat::packet_block(uint32_t type, ByteSpan block, Packet& packet) {
  const size_t smallest = type == kSimplePacketBlock ? 16 : 32;
  if (block.size < smallest)
    fail_packet(format("packet block of %zu bytes; allowed: %zu and more", block.size, smallest));
  const PacketFields fields = fields_of(type, block);
  if (fields.interface_number >= interfaces_.size()) {
    fail_packet(format("interface %u; allowed: below %zu, one that the section has described", fields.interface_number,
                       interfaces_.size()));
  }
  if (fields.captured_length > kLargestPacket)
    fail_packet(format("the block claims %u bytes; allowed: 0 to %u", fields.captured_length, kLargestPacket));
  const ByteSpan body = block.slice(0, block.size - 4);
  if (!body.holds(fields.data_offset, fields.captured_length))
    fail_packet(format("the block claims %u bytes and has room for %zu; allowed: what fits", fields.captured_length,
                       body.size - fields.data_offset));
  const Interface& interface = interfaces_[fields.interface_number];
  const int64_t time_ns = type == kSimplePacketBlock ? 0 : time_of(interface, fields.ticks);  // which has no time
  deliver(packet, time_ns, body.slice(fields.data_offset, fields.captured_length), fields.original_length,
          interface.link_type, earlier_interfaces_ + fields.interface_number);
}

int64_t PcapngFormat::time_of(const Interface& interface, uint64_t ticks) const {
  unsigned __int128 since = ticks * interface.multiplier;  // below 2^94
  if (interface.divisor != 1) since /= interface.divisor;
  const __int128 time = static_cast<__int128>(since) + interface.offset_ns;
  if (time < 0 || time > std::numeric_limits<int64_t>::max())
    fail_packet("the timestamp is out of range; allowed: 0 to 2^63 - 1 ns");
  return static_cast<int64_t>(time);
}

void PcapngFormat::fail_block(const std::string& what) const {
  fail_packet("pcapng: " + what);
}

}  // namespace traces
