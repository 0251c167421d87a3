#pragma once

#include <string>
#include <vector>

#include "frames.hpp"
#include "traces/connections.hpp"

namespace traces::test {

constexpr uint8_t kWriteFirst = 0x06, kWriteMiddle = 0x07, kWriteLast = 0x08, kWriteOnly = 0x0a, kSendOnly = 0x04,
                  kReadRequest = 0x0c, kReadFirst = 0x0d, kReadMiddle = 0x0e, kReadLast = 0x0f, kReadOnly = 0x10;
constexpr uint8_t kNakSequence = 0x60, kNakAccess = 0x62, kRnrNak = 0x21;

/// Both ends of a connection, to build its packets.
struct Ends {
  std::string requester = "10.0.0.2", responder = "10.0.0.1";
  uint32_t requester_qpn = 0x11, responder_qpn = 0x12;

  FrameSpec request(uint8_t opcode, uint32_t psn, size_t payload = 1024) const {
    FrameSpec spec;
    spec.source = requester;
    spec.destination = responder;
    spec.dest_qp = responder_qpn;
    spec.opcode = opcode;
    spec.psn = psn & 0xffffff;
    spec.payload = payload;
    if (opcode == kWriteFirst || opcode == kWriteOnly) spec.reth = Reth{0x1000, 0x77, 4096};
    return spec;
  }
  FrameSpec write(uint32_t psn) const { return request(kWriteOnly, psn); }
  FrameSpec read(uint32_t psn, uint32_t length) const {
    FrameSpec spec = request(kReadRequest, psn, 0);
    spec.reth = Reth{0x2000, 0x78, length};
    return spec;
  }
  FrameSpec answer(uint32_t psn, uint32_t msn, uint8_t syndrome = 0x1f, uint8_t opcode = kOpcodeRcAck,
                   size_t payload = 0) const {
    FrameSpec spec;
    spec.source = responder;
    spec.destination = requester;
    spec.dest_qp = requester_qpn;
    spec.opcode = opcode;
    spec.psn = psn & 0xffffff;
    spec.payload = payload;
    if (opcode != kReadMiddle) spec.aeth = Aeth{syndrome, msn & 0xffffff};
    return spec;
  }
  Ends reversed() const { return {responder, requester, responder_qpn, requester_qpn}; }
};

/// A tap: gives packets to a tracker, ten microseconds apart.
class Tap {
 public:
  explicit Tap(TrackerOptions options = {}) : tracker(options) {}

  Observation see(const FrameSpec& spec) { return see(build_frame(spec)); }
  Observation see(const std::vector<uint8_t>& frame, int64_t after_ns = 10'000) {
    now_ns += after_ns;
    Packet packet = as_packet(frame, ++packets);
    packet.time_ns = now_ns;
    seen.push_back(tracker.add(packet, decode(packet)));
    return seen.back();
  }

  /// Sees the packets in order, and finishes.
  void see_all(const std::vector<FrameSpec>& specs) {
    for (const FrameSpec& spec : specs) see(spec);
    tracker.finish();
  }

  /// The newest life of the lane to `qpn`.
  const Lane& lane_to(uint32_t qpn) const { return tracker.lanes()[id_to(qpn)]; }
  uint32_t id_to(uint32_t qpn) const {
    uint32_t found = kNoLane;
    for (uint32_t id = 0; id < tracker.lanes().size(); ++id) {
      if (tracker.lanes()[id].qpn == qpn) found = id;
    }
    return found;
  }

  ConnectionTracker tracker;
  int64_t now_ns = 1'000'000'000;
  uint64_t packets = 0;
  std::vector<Observation> seen;
};

}  // namespace traces::test
