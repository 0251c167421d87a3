// The NIC under replay with its clock: a node of the testbed, fed from its line and its host. What replay asks for
// waits in a queue and happens at its captured time, or as early as the pace allows, in the order of the calls: rows of
// the tables only when the frames before them are through, frames only when the rows and receives before them are set,
// an answer of the peer only when the NIC has sent what it answers.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "sim/replay/replay_nic.hpp"
#include "sim/testbed/testbed.hpp"
#include "traces/roce_frame.hpp"

namespace sim {

// How fast the peers' packets come.
struct Pace {
  enum Kind : uint8_t { kCaptured, kLine, kRate } kind = kCaptured;
  double gbps = 0;  // of kRate
};

class ClockedNic : public ReplayNic, public Activity {
 public:
  // `source()` makes the next calls; it returns false behind the last one.
  ClockedNic(const Config& config, Node& node, Pace pace, std::function<bool()> source);

  void observe_sent(Observer observer) override { observer_ = std::move(observer); }
  bool carries_data() const override { return true; }
  void set_time(int64_t time_ns) override;
  void bind(uint32_t connection, const Binding& binding) override;
  void stage_payload(uint32_t connection, uint64_t offset, traces::ByteSpan bytes) override;
  void seed_memory(uint64_t address, traces::ByteSpan bytes) override;
  void receive_frame(traces::ByteSpan frame) override;
  void set_responder(uint32_t connection, const ResponderState& state) override;
  void set_requester(uint32_t connection, const RequesterState& state) override;
  void set_region(const OpenRegion& region) override;
  void post_receive(uint32_t connection, uint32_t length_bytes) override;
  void post_send(uint32_t connection, const WorkRequest& work) override;
  void receive(uint32_t connection, const TransportPacket& packet, traces::ByteSpan frame) override;
  void settle() override {}

  // Asks for the first calls, which name the NIC's address. Before the simulation begins.
  void fill();
  // Stage of the node's host side.
  void step();
  hw::Cycles quiet() const;
  uint64_t held() const { return actions_.size(); }

  bool done() const override { return ended_ && actions_.empty() && arrived_ == frames_; }
  uint64_t progress() const override { return arrived_ + sent_; }
  bool watched() const override { return false; }        // captures have long silences
  bool may_leave_work() const override { return true; }  // and end before the last answer

  uint64_t frames() const { return frames_; }

 private:
  struct Connection {
    Binding binding;
    uint32_t peer_ip = 0, own_ip = 0;  // IPv6 addresses under numbers of their own
    uint32_t wire_qpn = 0;             // what the peer is called by in what the NIC sends
    uint16_t next_send = 0, next_receive = 0;
    uint64_t local_offset = 0;  // of the next work request's data
    uint32_t path_mtu = 1024;
    bool receives = false;             // its row of qp_state is set
    std::optional<uint32_t> sent_psn;  // newest request that the NIC sent
  };
  struct Row {
    models::Control control;
    bool drained = false;  // frames before it must be through
  };
  struct Frame {
    std::vector<uint8_t> bytes;
    std::optional<std::pair<uint32_t, uint32_t>> after;  // connection and PSN that the NIC must have sent
  };
  struct Action {
    hw::Picoseconds due;
    std::variant<Row, Frame> what;
  };

  void push(const models::Control& control, bool drained = false);
  void push(const std::vector<models::Control>& rows);
  void push(std::vector<uint8_t> bytes, std::optional<std::pair<uint32_t, uint32_t>> after = std::nullopt);
  bool perform(Action& action);
  bool perform(Row& row);
  bool perform(Frame& frame);
  bool wait_until(hw::Picoseconds time);
  void sent(const models::Frame& frame);
  uint32_t number_of(const traces::IpAddress& address);
  traces::FrameFields fields_of(const Connection& c, const TransportPacket& packet) const;
  uint64_t local_address(uint32_t connection, uint64_t offset) const;
  hw::Picoseconds now() const { return clock_.edge(hw::world().now); }

  Node& node_;
  hw::Clock clock_;
  Config config_;
  Pace pace_;
  std::function<bool()> source_;
  Observer observer_;
  std::map<uint32_t, Connection> connections_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_peer_;  // address and QPN on the wire
  std::map<traces::IpAddress, uint32_t> ipv6_numbers_;
  std::deque<Action> actions_;
  std::optional<int64_t> first_ns_;
  hw::Picoseconds due_ = 0;        // of what is asked for now
  hw::Picoseconds line_free_ = 0;  // end of the last frame
  hw::Picoseconds rate_free_ = 0;  // where the pace is a rate: when the next frame is due
  hw::Picoseconds settled_ = 0;    // when the last rows have reached the tables
  hw::Picoseconds gate_since_ = 0;
  bool gated_ = false;
  bool ended_ = false;
  hw::Cycles wake_ = 0;
  uint64_t frames_ = 0, arrived_ = 0, sent_ = 0;
};

}  // namespace sim
