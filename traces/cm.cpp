#include "traces/cm.hpp"

#include <algorithm>

namespace traces {
namespace {

constexpr size_t kMadHeader = 24;
constexpr uint8_t kClassCm = 7;
constexpr uint32_t kGsiQp = 1;

// Offsets in the data of the MAD (IBTA 12.6.5 and 12.6.8).
CmMessage decode_request(ByteSpan data) {
  constexpr uint32_t kMtus[] = {0, 256, 512, 1024, 2048, 4096};
  CmMessage message;
  message.kind = CmKind::kReq;
  message.local_id = static_cast<uint32_t>(load_big_endian<4>(data, 0));
  message.qpn = static_cast<uint32_t>(load_big_endian<3>(data, 32));
  message.starting_psn = static_cast<uint32_t>(load_big_endian<3>(data, 44));
  message.retry_count = data.data[47] & 7;
  const uint8_t mtu = data.data[50] >> 4;
  message.path_mtu = mtu < std::size(kMtus) ? kMtus[mtu] : 0;
  message.rnr_retry_count = data.data[50] & 7;
  message.ack_timeout = data.data[95] >> 3;
  return message;
}

CmMessage decode_reply(ByteSpan data) {
  CmMessage message;
  message.kind = CmKind::kRep;
  message.local_id = static_cast<uint32_t>(load_big_endian<4>(data, 0));
  message.remote_id = static_cast<uint32_t>(load_big_endian<4>(data, 4));
  message.qpn = static_cast<uint32_t>(load_big_endian<3>(data, 12));
  message.starting_psn = static_cast<uint32_t>(load_big_endian<3>(data, 20));
  message.rnr_retry_count = data.data[27] >> 5;
  return message;
}

CmMessage decode_other(CmKind kind, ByteSpan data) {
  CmMessage message;
  message.kind = kind;
  message.local_id = static_cast<uint32_t>(load_big_endian<4>(data, 0));
  message.remote_id = static_cast<uint32_t>(load_big_endian<4>(data, 4));
  if (kind == CmKind::kDreq) message.qpn = static_cast<uint32_t>(load_big_endian<3>(data, 8));
  return message;
}

}  // namespace

std::optional<CmMessage> decode_cm(const RocePacket& roce, ByteSpan frame) {
  const bool is_gsi = transport_of(roce.bth.opcode) == Transport::kUd && roce.bth.dest_qp == kGsiQp;
  if (!is_gsi || roce.extended_headers_cut) return std::nullopt;
  const ByteSpan mad = roce.payload(frame);
  constexpr size_t kLongest = 96;
  if (!mad.holds(0, kMadHeader + kLongest) || mad.data[0] != 1 || mad.data[1] != kClassCm) return std::nullopt;
  const auto kind = static_cast<CmKind>(load_big_endian<2>(mad, 16));
  const ByteSpan data = mad.slice(kMadHeader, mad.size);
  if (kind == CmKind::kReq) return decode_request(data);
  if (kind == CmKind::kRep) return decode_reply(data);
  if (kind > CmKind::kDrep || kind < CmKind::kReq) return std::nullopt;
  return decode_other(kind, data);
}

std::optional<CmConnection> CmExchanges::add(const CmMessage& message, const IpAddress& source,
                                             const IpAddress& destination) {
  const uint32_t id = message.kind == CmKind::kReq ? message.local_id : message.remote_id;
  const IpAddress& active = message.kind == CmKind::kReq ? source : destination;
  const IpAddress& passive = message.kind == CmKind::kReq ? destination : source;
  const auto request = std::find_if(requests_.begin(), requests_.end(), [&](const Request& r) {
    return r.message.local_id == id && r.source == active && r.destination == passive;
  });
  if (message.kind == CmKind::kReq) {
    const Request fresh{source, destination, message, false};
    if (request != requests_.end()) {
      // The same REQ again keeps its state; another one under the same ID is a new connection.
      const bool same = request->message.qpn == message.qpn && request->message.starting_psn == message.starting_psn;
      if (!same) *request = fresh;
    } else if (requests_.size() < kWaiting) {
      requests_.push_back(fresh);
    } else {
      requests_[oldest_] = fresh;
      oldest_ = (oldest_ + 1) % kWaiting;
    }
    return std::nullopt;
  }
  if (message.kind != CmKind::kRep || request == requests_.end() || request->answered) return std::nullopt;
  request->answered = true;
  return CmConnection{active, passive, request->message, message};
}

}  // namespace traces
