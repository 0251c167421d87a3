#include "traces/roce_line.hpp"

#include <cinttypes>
#include <iterator>

#include "traces/text.hpp"

namespace traces {
namespace {

void append_extended_headers(std::string& line, const RocePacket& roce) {
  if (roce.aeth) {
    line += format(" synd=0x%02x:%s msn=%u", roce.aeth->syndrome, syndrome_text(roce.aeth->syndrome).c_str(),
                   roce.aeth->msn);
  }
  if (roce.reth) {
    line += format(" va=0x%" PRIx64 " rkey=0x%x dmalen=%u", roce.reth->virtual_address, roce.reth->remote_key,
                   roce.reth->dma_length);
  }
  if (roce.atomic) line += format(" va=0x%" PRIx64 " rkey=0x%x", roce.atomic->virtual_address, roce.atomic->remote_key);
  if (roce.immediate) line += format(" imm=0x%08x", *roce.immediate);
  if (roce.invalidate_key) line += format(" ieth=0x%08x", *roce.invalidate_key);
  if (roce.deth) line += format(" srcqp=0x%x qkey=0x%x", roce.deth->source_qp, roce.deth->queue_key);
}

void append_rare_fields(std::string& line, const RocePacket& roce) {
  const Bth& bth = roce.bth;
  if (roce.traffic_class & 3) line += format(" ecn=%d", roce.traffic_class & 3);
  if (bth.fecn || bth.becn) line += format(" fecn=%d becn=%d", bth.fecn, bth.becn);
  if (bth.solicited) line += format(" se=1");
  if (bth.migration) line += format(" mig=1");
  if (bth.reserved6) line += format(" resv6=%d", bth.reserved6);
  const char* separator = " vlan=";
  for (const VlanTag& tag : roce.vlan_tags) {
    line += format("%s%x:%d/pcp%d", separator, tag.tag_protocol, tag.control & 0xfff, tag.control >> 13);
    separator = ",";
  }
}

const char* name_of(IcrcState state) {
  return state == IcrcState::kOk ? "OK" : state == IcrcState::kBad ? "BAD" : "CUT";
}

}  // namespace

std::string syndrome_text(uint8_t syndrome) {
  constexpr const char* kNakCodes[] = {"PSN_SEQ_ERR", "INV_REQ", "REM_ACCESS_ERR", "REM_OP_ERR", "INV_RD_REQ"};
  const unsigned value = syndrome & 31;
  switch (syndrome >> 5) {
    case 0:
      return format("ACK(credit=%u)", value);
    case 1:
      return format("RNR_NAK(timer=%u)", value);
    case 3:
      return value < std::size(kNakCodes) ? format("NAK(%s)", kNakCodes[value]) : format("NAK(code%u)", value);
    default:
      return format("RSVD(%02x)", syndrome);
  }
}

std::optional<std::string> LineFormatter::line(const Packet& packet, const RocePacket& roce) {
  if (roce.kind != FrameKind::kRoceV2) return std::nullopt;
  if (!first_time_ns_) first_time_ns_ = packet.time_ns;
  if (!roce.has_bth) {
    return format("%" PRIu64 " ROCEV2 SHORT caplen=%zu origlen=%u", packet.index, packet.bytes.size(),
                  packet.original_length);
  }
  const Bth& bth = roce.bth;
  std::string line = format("%" PRIu64 " %.3f %s>%s ROCEV2 qpn=0x%06x psn=%u %s len=%d ackreq=%d", packet.index,
                            static_cast<double>(packet.time_ns - *first_time_ns_) / 1e3, to_string(roce.source).c_str(),
                            to_string(roce.destination).c_str(), bth.dest_qp, bth.psn, opcode_name(bth.opcode).c_str(),
                            roce.payload_length, bth.ack_request);
  append_extended_headers(line, roce);
  append_rare_fields(line, roce);
  line += format(" pad=%d icrc=%s", bth.pad_count, name_of(roce.icrc));
  return line;
}

}  // namespace traces
