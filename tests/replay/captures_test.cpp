// Real captures: an endpoint compared with itself always matches, late and with its ACKs coalesced too; a plain
// responder by the rules departs from soft-RoCE only where the table says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/replay/verdict/answers.hpp"
#include "sim/replay/verdict/text.hpp"
#include "support.hpp"
#include "traces/opcode.hpp"
#include "traces/pcap_reader.hpp"
#include "traces/psn.hpp"
#include "traces/roce.hpp"

namespace {

std::string capture(const std::string& name) {
  return traces::test::shared_folder() / "captures/rxe" / name;
}

constexpr uint32_t kPathMtu = 1024;

sim::TransportPacket packet_of(const traces::RocePacket& roce) {
  sim::TransportPacket p;
  p.opcode = roce.bth.opcode;
  p.psn = roce.bth.psn;
  p.ack_request = roce.bth.ack_request;
  p.payload_bytes = uint32_t(roce.payload_length);
  if (roce.aeth) {
    p.syndrome = roce.aeth->syndrome;
    p.msn = roce.aeth->msn;
  }
  if (roce.reth) p.dma_length = roce.reth->dma_length;
  return p;
}

uint32_t psns_of(const sim::TransportPacket& request) {
  const bool is_read = traces::operation_of(request.opcode).verb == traces::Verb::kReadRequest;
  return is_read ? std::max(1u, (request.dma_length + kPathMtu - 1) / kPathMtu) : 1;
}

bool is_ack(const sim::TransportPacket& p) {
  return p.opcode == traces::kOpcodeRcAck && p.syndrome < 0x20;
}

// A responder by the rules that has all receives and memory it is asked for.
class PlainResponder {
 public:
  explicit PlainResponder(uint32_t psn) : expected_(psn) {}

  std::vector<sim::TransportPacket> receive(const sim::TransportPacket& request) {
    const int32_t ahead = traces::distance24(request.psn, expected_);
    const bool is_read = traces::operation_of(request.opcode).verb == traces::Verb::kReadRequest;
    if (ahead > 0) {
      const bool is_silent = refused_;
      refused_ = true;
      return is_silent ? std::vector<sim::TransportPacket>{} : std::vector<sim::TransportPacket>{ack(expected_, 0x60)};
    }
    if (ahead < 0) return is_read ? read(request) : std::vector<sim::TransportPacket>{ack(expected_ - 1, 0x1f)};
    refused_ = false;
    expected_ = (expected_ + psns_of(request)) & traces::kPsnMask;
    if (traces::ends_message(request.opcode)) msn_++;
    if (is_read) return read(request);
    return request.ack_request ? std::vector<sim::TransportPacket>{ack(request.psn, 0x1f)}
                               : std::vector<sim::TransportPacket>{};
  }

 private:
  sim::TransportPacket ack(uint32_t psn, uint8_t syndrome) const {
    sim::TransportPacket p;
    p.opcode = traces::kOpcodeRcAck;
    p.psn = psn & traces::kPsnMask;
    p.syndrome = syndrome;
    p.msn = msn_;
    return p;
  }
  std::vector<sim::TransportPacket> read(const sim::TransportPacket& request) const {
    std::vector<sim::TransportPacket> responses;
    const uint32_t psns = psns_of(request);
    for (uint32_t i = 0; i < psns; i++) {
      sim::TransportPacket p = ack(request.psn + i, 0);
      p.opcode = uint8_t(psns == 1 ? 0x10 : i == 0 ? 0x0d : i + 1 == psns ? 0x0f : 0x0e);
      p.payload_bytes = i + 1 == psns ? request.dma_length - i * kPathMtu : kPathMtu;
      if (p.opcode == 0x0e) p.msn = 0;
      responses.push_back(p);
    }
    return responses;
  }

  uint32_t expected_, msn_ = 0;
  bool refused_ = false;
};

struct Connection {
  std::unique_ptr<sim::AnswerVerdict> judge;
  std::optional<PlainResponder> responder;
  std::vector<sim::TransportPacket> held;  // answers of the endpoint that are played as the NIC's
  uint32_t next_psn = 0;
};

enum class Nic : uint8_t { kSame, kLateAndCoalesced, kPlain };

class Replay {
 public:
  Replay(Nic nic, sim::Peer peer) : nic_(nic) { options_.peer = peer; }

  sim::Verdicts run(const std::string& file) {
    traces::PcapReader reader(file);
    traces::Packet packet;
    while (reader.read(packet)) {
      const traces::RocePacket roce = traces::decode(packet);
      if (!roce.has_bth || !roce.icrc_ok() || traces::transport_of(roce.bth.opcode) != traces::Transport::kRc) continue;
      if (traces::is_response(roce.bth.opcode))
        answer(connection(roce.source, roce.bth.dest_qp), packet_of(roce), packet);
      else
        request(connection(roce.destination, roce.bth.dest_qp), packet_of(roce), packet);
    }
    for (auto& [key, c] : connections_) {
      for (const sim::TransportPacket& p : c.held) c.judge->simulated(p);
      c.judge->finish(true);
    }
    return verdicts_;
  }

 private:
  // Both ends of these captures have equal QPNs.
  Connection& connection(const traces::IpAddress& responder, uint32_t qpn) {
    Connection& c = connections_[traces::to_string(responder) + "/" + std::to_string(qpn)];
    if (!c.judge) c.judge = std::make_unique<sim::AnswerVerdict>(options_, verdicts_);
    return c;
  }
  void request(Connection& c, const sim::TransportPacket& p, const traces::Packet& packet) {
    if (!c.responder) {
      c.responder.emplace(p.psn);
      c.judge->restart(p.psn, 0);
      c.next_psn = p.psn;
    }
    const bool again = traces::distance24(p.psn, c.next_psn) < 0;
    if (!again) c.next_psn = (p.psn + psns_of(p)) & traces::kPsnMask;
    c.judge->request(p.psn, psns_of(p), p.opcode, p.ack_request, again, packet.index);
    if (nic_ != Nic::kPlain) return;
    for (const sim::TransportPacket& answer : c.responder->receive(p)) c.judge->simulated(answer);
  }
  void answer(Connection& c, const sim::TransportPacket& p, const traces::Packet& packet) {
    c.judge->captured(p, packet.index, packet.time_ns);
    if (nic_ == Nic::kPlain) return;
    const bool is_needless = nic_ == Nic::kLateAndCoalesced && is_ack(p) && !c.held.empty() && is_ack(c.held.back());
    if (is_needless) c.held.pop_back();
    c.held.push_back(p);
    const size_t most = nic_ == Nic::kSame ? 0 : 5;
    for (; c.held.size() > most; c.held.erase(c.held.begin())) c.judge->simulated(c.held.front());
  }

  Nic nic_;
  sim::VerdictOptions options_;
  sim::Verdicts verdicts_;
  std::map<std::string, Connection> connections_;
};

std::string told(const sim::Verdicts& verdicts) {
  std::string text;
  for (const std::string& line : sim::lines(verdicts)) text += line + "\n";
  return text;
}

TEST(Captures, AnEndpointIsLikeItself) {
  SKIP_WITHOUT_SHARED();
  for (const std::filesystem::path& file : traces::test::captures_in("rxe")) {
    if (file.filename().string().find("mtu256") != std::string::npos) continue;  // the others have kPathMtu
    const sim::Verdicts same = Replay(Nic::kSame, sim::Peer::kNone).run(file);
    EXPECT_TRUE(same.good()) << file << "\n" << told(same);
    EXPECT_EQ(same.answers[sim::Verdict::kUnseen], 0u) << file << "\n" << told(same);
    const sim::Verdicts late = Replay(Nic::kLateAndCoalesced, sim::Peer::kNone).run(file);
    EXPECT_TRUE(late.good()) << file << "\n" << told(late);
  }
}

TEST(Captures, SoftRoceDepartsFromThePlainResponderByTheTable) {
  SKIP_WITHOUT_SHARED();
  const struct {
    const char* file;
    bool departs;  // and fails where the peer is not named
  } cases[] = {{"loss_ack.s.pcap", false},        {"loss_read_resp.s.pcap", true}, {"loss_write.s.pcap", false},
               {"dup_mixed.s.pcap", false},       {"corrupt_write.s.pcap", false}, {"rc_wrap.s.pcap", false},
               {"rc_wrap_spurious.s.pcap", true}, {"rc_zero.s.pcap", false},       {"rc_mixed.s.pcap", false},
               {"pt_read_bw.s.pcap", false},      {"pt_write_bw.s.pcap", false}};
  for (const auto& c : cases) {
    const std::string file = capture(c.file);
    const sim::Verdicts rxe = Replay(Nic::kPlain, sim::Peer::kRxe).run(file);
    EXPECT_TRUE(rxe.good()) << file << "\n" << told(rxe);
    EXPECT_GT(rxe.answers[sim::Verdict::kMatch], 0u) << file;
    EXPECT_EQ(Replay(Nic::kPlain, sim::Peer::kNone).run(file).good(), !c.departs) << file;
  }
}

// It refuses nothing: what the endpoint refused for its key, rights or receives differs.
TEST(Captures, AResponderThatRefusesNothingFails) {
  SKIP_WITHOUT_SHARED();
  for (const char* name : {"rc_bad_rkey_read.s.pcap", "rc_bad_rkey_write.s.pcap", "rc_noperm_mr.s.pcap",
                           "rc_noperm_qp_write.s.pcap", "rc_rnr_retry.s.pcap", "rc_short_recv.s.pcap"})
    EXPECT_FALSE(Replay(Nic::kPlain, sim::Peer::kRxe).run(capture(name)).good()) << name;
}

}  // namespace
