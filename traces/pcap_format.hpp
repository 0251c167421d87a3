#pragma once

#include <cstdint>
#include <optional>

#include "traces/byte_order.hpp"
#include "traces/capture_format.hpp"

namespace traces {

/// What the magic number of a pcap file says.
struct PcapVariant {
  uint32_t magic;  ///< as a little-endian number
  ByteOrder order;
  uint32_t time_unit_ns;
  bool modified;  ///< record headers may have 24 bytes: interface, protocol and packet type behind the usual 16
};

std::optional<PcapVariant> pcap_variant_of(uint32_t magic);

/// The classic format (draft-ietf-opsawg-pcap).
class PcapFormat : public CaptureFormat {
 public:
  /// `source` stands before the magic number. Throws InputError.
  PcapFormat(std::string name, ByteSource source, const PcapVariant& variant);

  bool read(Packet& packet) override;

 private:
  bool is_record(ByteSpan header) const;
  bool records_have(size_t header_size);
  void find_record_size();

  PcapVariant variant_;
  int link_type_ = 0;
  size_t record_header_size_ = 16;
};

}  // namespace traces
