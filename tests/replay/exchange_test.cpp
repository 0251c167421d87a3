// Properties over random exchanges of a responder: what is free never fails, what the tap loses never fails, and one
// thing changed is one failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "sim/replay/verdict/answers.hpp"
#include "sim/replay/verdict/text.hpp"
#include "traces/opcode.hpp"
#include "traces/psn.hpp"

namespace {

constexpr uint32_t kPathMtu = 1024;
constexpr uint8_t kSendOnly = 0x04, kWriteFirst = 0x06, kWriteMiddle = 0x07, kWriteLast = 0x08, kWriteOnly = 0x0a;
constexpr uint8_t kRead = 0x0c, kReadFirst = 0x0d, kReadMiddle = 0x0e, kReadLast = 0x0f, kReadOnly = 0x10;

struct Request {
  uint32_t psn = 0, psns = 1;
  uint8_t opcode = 0;
  bool ack_request = false, again = false;
};

// A request, and what the responder sends because of it.
struct Step {
  Request request;
  std::vector<sim::TransportPacket> answers;
  bool answered_before_next = false;  // the requester waits for what is answered here
};

using Answers = std::vector<std::pair<size_t, sim::TransportPacket>>;  // the step behind which each is sent

class Exchange {
 public:
  explicit Exchange(uint32_t seed) : random_(seed) {
    first_psn_ = psn_ = (0xffffff - draw(100)) & traces::kPsnMask;
    first_msn_ = msn_ = draw(0x1000000);
    for (int i = 0; i < 30; i++) add_message();
    add_write(1);  // what comes last is acknowledged
  }

  uint32_t draw(uint32_t below) { return uint32_t(random_() % below); }
  uint32_t first_psn() const { return first_psn_; }
  uint32_t first_msn() const { return first_msn_; }
  const std::vector<Step>& steps() const { return steps_; }

  Answers answers() const {
    Answers all;
    for (size_t i = 0; i < steps_.size(); i++)
      for (const sim::TransportPacket& p : steps_[i].answers) all.emplace_back(i, p);
    return all;
  }

 private:
  void add_message() {
    switch (draw(6)) {
      case 0:
        return add_read(1 + draw(5));
      case 1:
        return add_refused(0x60);
      case 2:
        return add_refused(uint8_t(0x20 + draw(32)));
      default:
        return add_write(1 + draw(5));
    }
  }
  void add_write(uint32_t packets) {
    for (uint32_t i = 0; i < packets; i++) {
      const bool is_last = i + 1 == packets;
      Step step;
      step.request.opcode = packets == 1 ? kWriteOnly : i == 0 ? kWriteFirst : is_last ? kWriteLast : kWriteMiddle;
      step.request.psn = next_psn(1);
      if (is_last) msn_ = (msn_ + 1) & traces::kPsnMask;
      step.request.ack_request = is_last || draw(3) == 0;
      if (step.request.ack_request) step.answers.push_back(answer(traces::kOpcodeRcAck, step.request.psn, 0x1f));
      steps_.push_back(std::move(step));
    }
  }
  void add_read(uint32_t psns) {
    Step step;
    step.request.opcode = kRead;
    step.request.psns = psns;
    step.request.psn = next_psn(psns);
    msn_ = (msn_ + 1) & traces::kPsnMask;
    step.answers = responses(step.request.psn, psns);
    steps_.push_back(step);
    if (draw(3) > 0) return;
    const uint32_t had = draw(psns);
    step.request.psn = (step.request.psn + had) & traces::kPsnMask;
    step.request.psns = psns - had;
    step.request.again = true;
    step.answers = responses(step.request.psn, step.request.psns);
    steps_.back().answered_before_next = true;
    steps_.push_back(step);
  }
  // The first packet is lost on its way, or finds no receive; the requester goes back to it.
  void add_refused(uint8_t syndrome) {
    Step step;
    step.request.opcode = kSendOnly;
    const uint32_t lost = next_psn(1);
    step.request.psn = syndrome == 0x60 ? next_psn(1) : lost;
    step.answers.push_back(answer(traces::kOpcodeRcAck, lost, syndrome));
    step.answered_before_next = true;
    steps_.push_back(step);
    for (uint32_t p = lost; traces::distance24(p, psn_) < 0; p = (p + 1) & traces::kPsnMask) {
      msn_ = (msn_ + 1) & traces::kPsnMask;
      Step again;
      again.request.opcode = kSendOnly;
      again.request.psn = p;
      again.request.ack_request = again.request.again = true;
      again.answers.push_back(answer(traces::kOpcodeRcAck, p, 0x1f));
      steps_.push_back(std::move(again));
    }
  }
  std::vector<sim::TransportPacket> responses(uint32_t psn, uint32_t psns) const {
    std::vector<sim::TransportPacket> packets;
    for (uint32_t i = 0; i < psns; i++) {
      const uint8_t opcode = psns == 1 ? kReadOnly : i == 0 ? kReadFirst : i + 1 == psns ? kReadLast : kReadMiddle;
      packets.push_back(answer(opcode, (psn + i) & traces::kPsnMask, 0));
      packets.back().payload_bytes = kPathMtu;
    }
    return packets;
  }
  sim::TransportPacket answer(uint8_t opcode, uint32_t psn, uint8_t syndrome) const {
    sim::TransportPacket p;
    p.opcode = opcode;
    p.psn = psn;
    p.syndrome = syndrome;
    p.msn = opcode == kReadMiddle ? 0 : msn_;
    return p;
  }
  uint32_t next_psn(uint32_t count) {
    const uint32_t first = psn_;
    psn_ = (psn_ + count) & traces::kPsnMask;
    return first;
  }

  std::mt19937 random_;
  uint32_t first_psn_ = 0, first_msn_ = 0, psn_ = 0, msn_ = 0;
  std::vector<Step> steps_;
};

bool is_ack(const sim::TransportPacket& p) {
  return p.opcode == traces::kOpcodeRcAck && p.syndrome >> 5 == 0;
}

// Later, in their order. `waited`: before the next request where the requester waits for them.
void delay(Answers& answers, Exchange& exchange, bool waited) {
  const auto& steps = exchange.steps();
  size_t last = steps.size();
  for (auto a = answers.rbegin(); a != answers.rend(); ++a) {
    size_t latest = std::min(last, a->first + exchange.draw(8));
    for (size_t i = a->first; waited && i < latest; i++)
      if (steps[i].answered_before_next) latest = i;
    last = a->first = std::max(a->first, latest);
  }
}

// ACKs that a later ACK makes needless go, others are sent twice.
void coalesce(Answers& answers, Exchange& exchange) {
  Answers left;
  for (size_t i = 0; i < answers.size(); i++) {
    const bool is_covered = i + 1 < answers.size() && is_ack(answers[i].second);
    if (is_covered && exchange.draw(2) == 0) continue;
    left.push_back(answers[i]);
    if (is_ack(answers[i].second) && exchange.draw(4) == 0) left.push_back(answers[i]);
  }
  answers = std::move(left);
}

sim::Verdicts judge(const Exchange& exchange, const Answers& captured, const Answers& simulated) {
  sim::Verdicts verdicts;
  sim::AnswerVerdict judge({}, verdicts);
  judge.restart(exchange.first_psn(), exchange.first_msn());
  auto c = captured.begin();
  auto s = simulated.begin();
  for (size_t i = 0; i <= exchange.steps().size(); i++) {
    if (i < exchange.steps().size()) {
      const Request& r = exchange.steps()[i].request;
      judge.request(r.psn, r.psns, r.opcode, r.ack_request, r.again, i);
    }
    const bool simulated_first = i % 2 == 0;
    for (int turn = 0; turn < 2; turn++)
      if (simulated_first == (turn == 0))
        for (; s != simulated.end() && s->first <= i; ++s) judge.simulated(s->second);
      else
        for (; c != captured.end() && c->first <= i; ++c) judge.captured(c->second, i, 0);
  }
  judge.finish(true);
  return verdicts;
}

std::string told(const sim::Verdicts& verdicts) {
  std::string text;
  for (const std::string& line : sim::lines(verdicts)) text += line + "\n";
  return text;
}

uint64_t failures(const sim::Verdicts& v) {
  return v.answers[sim::Verdict::kDifferent] + v.answers[sim::Verdict::kMissing] + v.answers[sim::Verdict::kExtra];
}

constexpr uint32_t kSeeds = 2000;

TEST(Exchange, TheSameMatches) {
  for (uint32_t seed = 0; seed < kSeeds; seed++) {
    Exchange exchange(seed);
    Answers captured = exchange.answers(), simulated = captured;
    delay(captured, exchange, true);
    delay(simulated, exchange, false);
    const sim::Verdicts verdicts = judge(exchange, captured, simulated);
    ASSERT_EQ(verdicts.answers[sim::Verdict::kMatch], captured.size()) << "seed " << seed << "\n" << told(verdicts);
    ASSERT_TRUE(verdicts.good()) << "seed " << seed << "\n" << told(verdicts);
  }
}

TEST(Exchange, PlacementAndNumberOfAcksAreFree) {
  for (uint32_t seed = 0; seed < kSeeds; seed++) {
    Exchange exchange(seed);
    Answers captured = exchange.answers(), simulated = captured;
    coalesce(seed % 2 == 0 ? captured : simulated, exchange);
    if (seed % 3 == 0) coalesce(seed % 2 == 0 ? simulated : captured, exchange);
    delay(captured, exchange, true);
    delay(simulated, exchange, false);
    const sim::Verdicts verdicts = judge(exchange, captured, simulated);
    ASSERT_TRUE(verdicts.good()) << "seed " << seed << "\n" << told(verdicts);
    ASSERT_EQ(verdicts.answers[sim::Verdict::kNotComparable], 0u) << "seed " << seed << "\n" << told(verdicts);
  }
}

TEST(Exchange, WhatTheTapLosesIsNoFailure) {
  for (uint32_t seed = 0; seed < kSeeds; seed++) {
    Exchange exchange(seed);
    Answers captured = exchange.answers(), simulated = captured;
    const uint32_t percent = 1 + exchange.draw(60);
    captured.erase(
        std::remove_if(captured.begin(), captured.end(), [&](const auto&) { return exchange.draw(100) < percent; }),
        captured.end());
    delay(captured, exchange, true);
    delay(simulated, exchange, false);
    const sim::Verdicts verdicts = judge(exchange, captured, simulated);
    ASSERT_TRUE(verdicts.good()) << "seed " << seed << "\n" << told(verdicts);
  }
}

void change(sim::TransportPacket& p, Exchange& exchange) {
  const bool is_middle = p.opcode == kReadMiddle, is_response = p.opcode != traces::kOpcodeRcAck;
  const bool is_gap = p.syndrome == 0x60;  // the next PSN was asked for too
  if (is_middle || (is_response && exchange.draw(2) == 0))
    p.payload_bytes -= 1 + exchange.draw(100);
  else if (is_gap && exchange.draw(2) == 0)
    p.psn = (p.psn + 1) & traces::kPsnMask;
  else
    p.msn = (p.msn + 100 + exchange.draw(1000)) & traces::kPsnMask;
}

TEST(Exchange, OneChangeIsOneFailure) {
  for (uint32_t seed = 0; seed < kSeeds; seed++) {
    Exchange exchange(seed);
    Answers captured = exchange.answers(), simulated = captured;
    Answers& changed = seed % 2 == 0 ? captured : simulated;
    change(changed[exchange.draw(uint32_t(changed.size()))].second, exchange);
    delay(captured, exchange, true);
    delay(simulated, exchange, false);
    const sim::Verdicts verdicts = judge(exchange, captured, simulated);
    ASSERT_EQ(failures(verdicts), 1u) << "seed " << seed << "\n" << told(verdicts);
  }
}

}  // namespace
