// A NIC that notes what replay asks of it, in words, and sends what a test tells it to.
#pragma once
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "sim/replay/replay_nic.hpp"

namespace replay_test {

class ScriptedNic : public sim::ReplayNic {
 public:
  std::vector<std::string> calls;
  std::map<uint32_t, sim::Binding> bindings;
  std::vector<sim::TransportPacket> packets;  // received; their payloads are gone
  std::function<void(uint32_t connection, const sim::TransportPacket&)> on_receive;
  std::function<void(uint32_t connection, const sim::WorkRequest&)> on_post;
  bool data = true;

  void send(uint32_t connection, const sim::TransportPacket& packet) const { observer_(connection, packet); }

  // The calls of these kinds, "; " between them.
  std::string told(const std::vector<std::string>& kinds) const {
    std::string text;
    for (const std::string& call : calls)
      for (const std::string& kind : kinds)
        if (call.rfind(kind, 0) == 0) text += (text.empty() ? "" : "; ") + call;
    return text;
  }

  void observe_sent(Observer observer) override { observer_ = std::move(observer); }
  bool carries_data() const override { return data; }
  void bind(uint32_t connection, const sim::Binding& binding) override {
    note("bind ", connection);
    bindings[connection] = binding;
  }
  void stage_payload(uint32_t connection, uint64_t offset, traces::ByteSpan bytes) override {
    note("stage ", connection, ": ", offset, "+", bytes.size);
  }
  void seed_memory(uint64_t address, traces::ByteSpan bytes) override { note("seed ", hex(address), "+", bytes.size); }
  void receive_frame(traces::ByteSpan frame) override { note("frame of ", frame.size); }
  void set_responder(uint32_t connection, const sim::ResponderState& s) override {
    note("responder ", connection, ": psn ", s.expected_psn, " msn ", s.msn, " mtu ", s.path_mtu);
  }
  void set_requester(uint32_t connection, const sim::RequesterState& s) override {
    note("requester ", connection, ": psn ", s.first_psn, " mtu ", s.path_mtu);
  }
  void set_region(const sim::OpenRegion& r) override {
    note("region ", hex(r.remote_key), ": ", hex(r.first), "-", hex(r.end), " ", r.read ? "R" : "", r.write ? "W" : "");
  }
  void post_receive(uint32_t connection, uint32_t) override { note("take ", connection); }
  void post_send(uint32_t connection, const sim::WorkRequest& w) override {
    const char* const kinds[] = {"WRITE", "SEND", "READ"};
    note("post ", connection, ": ", kinds[size_t(w.kind)], " ", w.length,
         w.kind == sim::WorkKind::kSend ? "" : " at " + hex(w.remote_address) + " key " + hex(w.remote_key),
         w.has_immediate ? " immediate " + hex(w.immediate) : "", w.solicited ? " solicited" : "");
    if (on_post) on_post(connection, w);
  }
  void receive(uint32_t connection, const sim::TransportPacket& packet, traces::ByteSpan frame) override {
    note("packet ", connection, ": ", packet.psn, frame.size == 0 ? " made" : "");
    packets.push_back(packet);
    packets.back().payload = {};
    if (on_receive) on_receive(connection, packet);
  }
  void settle() override { note("settle"); }

 private:
  static std::string hex(uint64_t number) {
    std::ostringstream text;
    text << "0x" << std::hex << number;
    return text.str();
  }
  template <class... Parts>
  void note(const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    calls.push_back(text.str());
  }

  Observer observer_;
};

}  // namespace replay_test
