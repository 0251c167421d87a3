#pragma once

#include <cstdint>
#include <vector>

#include "traces/byte_order.hpp"
#include "traces/capture_format.hpp"

namespace traces {

/// pcapng (draft-ietf-opsawg-pcapng): sections of either byte order, each with interfaces of their own link type and
/// clock. Blocks that carry no packet are skipped.
class PcapngFormat : public CaptureFormat {
 public:
  static constexpr uint32_t kMagic = 0x0a0d0d0a;  ///< block type of a section header, the same in either byte order

  PcapngFormat(std::string name, ByteSource source) : CaptureFormat(std::move(name), std::move(source)) {}

  bool read(Packet& packet) override;

 private:
  /// Clock of an interface: `time_ns = ticks * multiplier / divisor + offset_ns`.
  struct Interface {
    uint16_t link_type = 0;
    uint32_t snap_length = 0;  ///< 0: no limit
    unsigned __int128 multiplier = 1000;
    unsigned __int128 divisor = 1;
    __int128 offset_ns = 0;
  };
  /// Where the fields of a block that carries a packet stand, from the start of the block.
  struct PacketFields {
    uint32_t interface_number;
    uint64_t ticks;
    uint32_t captured_length;
    uint32_t original_length;
    size_t data_offset;
  };

  void section_header(uint32_t length);
  void interface_description(ByteSpan block);
  void clock_option(uint16_t code, ByteSpan value, Interface& interface);
  void packet_block(uint32_t type, ByteSpan block, Packet& packet);
  PacketFields fields_of(uint32_t type, ByteSpan block) const;
  int64_t time_of(const Interface& interface, uint64_t ticks) const;
  ByteSpan whole_block(uint32_t length);
  [[noreturn]] void fail_block(const std::string& what) const;

  ByteOrder order_;
  std::vector<Interface> interfaces_;  ///< of this section
  uint32_t earlier_interfaces_ = 0;    ///< of the sections before
};

}  // namespace traces
