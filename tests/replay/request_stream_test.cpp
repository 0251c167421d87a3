// Properties over random streams of requests: what is free never fails, what the tap loses never fails, and one thing
// changed is one failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "sim/replay/verdict/requests.hpp"
#include "sim/replay/verdict/text.hpp"
#include "traces/opcode.hpp"
#include "traces/psn.hpp"

namespace {

constexpr uint32_t kPathMtu = 1024, kSeeds = 2000;
constexpr uint8_t kWriteFirst = 0x06, kWriteMiddle = 0x07, kWriteLastImm = 0x09, kWriteOnly = 0x0a, kRead = 0x0c;

struct Request {
  sim::TransportPacket packet;
  uint32_t psns = 1;
  bool again = false;
};

class Stream {
 public:
  explicit Stream(uint32_t seed) : random_(seed) {
    first_psn_ = psn_ = (0xffffff - draw(60)) & traces::kPsnMask;
    for (int i = 0; i < 30; i++) draw(3) == 0 ? add_read(1 + draw(8)) : add_write(1 + draw(4));
  }

  uint32_t draw(uint32_t below) { return uint32_t(random_() % below); }
  uint32_t first_psn() const { return first_psn_; }
  const std::vector<Request>& requests() const { return requests_; }

  // READs of at most `most` responses each, and AckReq wherever it falls.
  std::vector<Request> cut(uint32_t most) {
    std::vector<Request> pieces;
    for (const Request& r : requests_) {
      Request rest = r;
      for (; rest.packet.opcode == kRead && rest.psns > most; advance(rest, most)) {
        pieces.push_back(rest);
        pieces.back().psns = most;
        pieces.back().packet.dma_length = most * kPathMtu;
      }
      rest.packet.ack_request = draw(2) == 0;
      pieces.push_back(rest);
    }
    return pieces;
  }

 private:
  static void advance(Request& r, uint32_t psns) {
    r.packet.psn = (r.packet.psn + psns) & traces::kPsnMask;
    r.packet.virtual_address += uint64_t{psns} * kPathMtu;
    r.packet.dma_length -= psns * kPathMtu;
    r.psns -= psns;
  }
  void add(uint8_t opcode, uint32_t psns, uint32_t dma_length, uint32_t payload) {
    Request r;
    r.packet.opcode = opcode;
    r.packet.psn = psn_;
    r.packet.payload_bytes = payload;
    if (dma_length > 0) {
      r.packet.virtual_address = draw(1 << 20);
      r.packet.remote_key = draw(100);
      r.packet.dma_length = dma_length;
    }
    r.psns = psns;
    psn_ = (psn_ + psns) & traces::kPsnMask;
    requests_.push_back(r);
  }
  void add_read(uint32_t psns) { add(kRead, psns, psns * kPathMtu - draw(1000), 0); }
  void add_write(uint32_t packets) {
    const uint32_t last = 1 + draw(kPathMtu);
    if (packets == 1) return add(kWriteOnly, 1, last, last);
    add(kWriteFirst, 1, (packets - 1) * kPathMtu + last, kPathMtu);
    for (uint32_t i = 2; i < packets; i++) add(kWriteMiddle, 1, 0, kPathMtu);
    add(kWriteLastImm, 1, 0, last);
  }

  std::mt19937 random_;
  uint32_t first_psn_ = 0, psn_ = 0;
  std::vector<Request> requests_;
};

// Each side goes on at random; everything is acknowledged at the end.
sim::Verdicts judge(Stream& stream, const std::vector<Request>& captured, const std::vector<Request>& simulated) {
  sim::Verdicts verdicts;
  sim::RequestVerdict judge({}, verdicts);
  judge.restart(stream.first_psn());
  size_t c = 0, s = 0;
  while (c < captured.size() || s < simulated.size()) {
    const bool is_captured = s == simulated.size() || (c < captured.size() && stream.draw(2) == 0);
    const Request& r = is_captured ? captured[c++] : simulated[s++];
    if (is_captured)
      judge.captured(r.packet, r.psns, !r.again, c, 0);
    else
      judge.simulated(r.packet, r.psns);
  }
  judge.finish();
  return verdicts;
}

std::string told(uint32_t seed, const sim::Verdicts& verdicts) {
  std::string text = "seed " + std::to_string(seed) + "\n";
  for (const std::string& line : sim::lines(verdicts)) text += line + "\n";
  return text;
}

TEST(RequestStream, PiecesOfReadsAndAckReqAreFree) {
  for (uint32_t seed = 0; seed < kSeeds; seed++) {
    Stream stream(seed);
    const std::vector<Request> captured = stream.cut(1 + stream.draw(8)), simulated = stream.cut(1 + stream.draw(8));
    const sim::Verdicts verdicts = judge(stream, captured, simulated);
    ASSERT_TRUE(verdicts.good()) << told(seed, verdicts);
    const uint64_t judged = verdicts.requests[sim::Verdict::kMatch] + verdicts.requests[sim::Verdict::kEquivalent];
    ASSERT_GE(judged, stream.requests().size()) << told(seed, verdicts);
    ASSERT_EQ(verdicts.requests[sim::Verdict::kUnseen], 0u) << told(seed, verdicts);
  }
}

TEST(RequestStream, WhatTheTapLosesOrTheEndpointRepeatsIsNoFailure) {
  for (uint32_t seed = 0; seed < kSeeds; seed++) {
    Stream stream(seed);
    std::vector<Request> captured;
    for (const Request& r : stream.requests()) {
      if (stream.draw(3) > 0) captured.push_back(r);
      if (captured.empty() || stream.draw(8) > 0) continue;
      captured.push_back(captured[captured.size() - 1 - stream.draw(uint32_t(std::min<size_t>(captured.size(), 4)))]);
      captured.back().again = true;
    }
    const sim::Verdicts verdicts = judge(stream, captured, stream.requests());
    ASSERT_TRUE(verdicts.good()) << told(seed, verdicts);
  }
}

TEST(RequestStream, OneChangeIsOneFailure) {
  for (uint32_t seed = 0; seed < kSeeds; seed++) {
    Stream stream(seed);
    std::vector<Request> changed = stream.requests();
    sim::TransportPacket& p = changed[stream.draw(uint32_t(changed.size()))].packet;
    const bool has_reth = p.dma_length > 0;
    switch (stream.draw(has_reth ? 4 : 2)) {
      case 0:
        p.payload_bytes++;
        break;
      case 1:
        p.opcode = uint8_t(p.opcode == kWriteOnly ? kRead : kWriteOnly);
        break;
      case 2:
        p.virtual_address++;
        break;
      default:
        p.remote_key++;
    }
    const bool is_captured = stream.draw(2) == 0;
    const sim::Verdicts verdicts =
        judge(stream, is_captured ? changed : stream.requests(), is_captured ? stream.requests() : changed);
    ASSERT_EQ(verdicts.requests[sim::Verdict::kDifferent], 1u) << told(seed, verdicts);
    ASSERT_EQ(verdicts.requests[sim::Verdict::kMissing] + verdicts.requests[sim::Verdict::kExtra], 0u)
        << told(seed, verdicts);
  }
}

}  // namespace
