#include "traces/pcap_reader.hpp"

#include "traces/capture_format.hpp"
#include "traces/link_layer.hpp"

namespace traces {

PcapReader::PcapReader(const std::string& file, uint32_t file_index)
    : file_(file), file_index_(file_index), format_(open_capture(file)) {}

PcapReader::~PcapReader() = default;
PcapReader::PcapReader(PcapReader&&) noexcept = default;
PcapReader& PcapReader::operator=(PcapReader&&) noexcept = default;

bool PcapReader::read(Packet& packet) {
  if (ended_) return false;
  ended_ = true;  // also when the next line throws
  ended_ = !format_->read(packet);
  packet.file_index = file_index_;
  return !ended_;
}

std::optional<Packet> PcapReader::next() {
  Packet packet;
  if (!read(packet)) return std::nullopt;
  return packet;
}

void PcapReader::require_ethernet(const Packet& packet) const {
  if (packet.link_type == kLinkEthernet) return;
  throw InputError(shown_name(file_) + ": packet " + std::to_string(packet.index) + ": link type " +
                   link_type_text(packet.link_type) + "; allowed: " + link_type_text(kLinkEthernet));
}

}  // namespace traces
