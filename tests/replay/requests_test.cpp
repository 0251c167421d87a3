// One short sequence for each rule of the comparison of requests, with both outcomes.
#include <gtest/gtest.h>

#include "tests/replay/verdict_script.hpp"

namespace {

using sim::Peer;

struct Case {
  const char* name;
  Peer peer;
  const char* script;
  const char* expected;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class Requests : public testing::TestWithParam<Case> {};

TEST_P(Requests, AreJudged) {
  sim::VerdictOptions options;
  options.peer = GetParam().peer;
  const sim::Verdicts verdicts = script::run_requests(GetParam().script, options);
  std::string told;
  for (const std::string& line : sim::lines(verdicts)) told += line + "\n";
  EXPECT_EQ(script::summary(verdicts.requests), GetParam().expected) << told;
}

const Case kFresh[] = {
    {"Same", Peer::kNone, "restart . 10; C write 10 va=1 rkey=2 len=3 bytes=3; S write 10 va=1 rkey=2 len=3 bytes=3",
     "1 match"},
    {"NicFirst", Peer::kNone, "restart . 10; S write 10; S write 11; C write 10; C write 11", "2 match"},
    {"OtherOpcode", Peer::kNone, "restart . 10; C write 10; S send 10", "1 different"},
    {"OtherAddress", Peer::kNone, "restart . 10; C write 10 va=1; S write 10 va=2", "1 different"},
    {"OtherKey", Peer::kNone, "restart . 10; C write 10 rkey=1; S write 10 rkey=2", "1 different"},
    {"OtherDmaLength", Peer::kNone, "restart . 10; C write 10 len=1; S write 10 len=2", "1 different"},
    {"OtherPayload", Peer::kNone, "restart . 10; C write 10 bytes=1; S write 10 bytes=2", "1 different"},
    {"OtherImmediate", Peer::kNone, "restart . 10; C write_imm 10 imm=1; S write_imm 10 imm=2", "1 different"},
    {"OtherSolicited", Peer::kNone, "restart . 10; C send 10 solicited=1; S send 10", "1 different"},
    {"AckReqIsFree", Peer::kNone, "restart . 10; C send 10 ackreq=1; S send 10", "1 equivalent"},
    {"NicSentNone", Peer::kNone, "restart . 10; C send 10", "1 missing"},
    {"CaptureEnds", Peer::kNone, "restart . 10; C send 10; S send 10; S send 11", "1 match, 1 not comparable"},
    {"NotFed", Peer::kNone, "restart . 10; S send 10; hole . 10 n=2; S send 11; C send 12; S send 12",
     "1 match, 2 unseen"},
    {"NotFedAtTheEnd", Peer::kNone, "restart . 10; C send 10; S send 10; hole . 11 n=1; S send 11; S send 12",
     "1 match, 1 not comparable, 1 unseen"},
    {"GapInTheCapture", Peer::kNone, "restart . 10; S send 10; S send 11; C send 11", "1 match, 1 unseen"},
    {"GapThatARetryFills", Peer::kNone, "restart . 10; S send 10; S send 11; C send 11; C send 10",
     "2 match, 1 unseen"},
    {"GapThatARetryFillsBeforeTheNic", Peer::kNone, "restart . 10; C send 11; C send 10; S send 10; S send 11",
     "2 match, 1 unseen"},
    {"RestartForgetsWhatWaits", Peer::kNone, "restart . 10; C send 10; restart . 20; C send 20; S send 20",
     "1 match, 1 not comparable"},
    {"ReadCutByNic", Peer::kNone,
     "restart . 10; C read 10 n=8 va=0 len=8192; S read 10 n=4 va=0 len=4096; S read 14 n=4 va=4096 len=4096",
     "1 equivalent"},
    {"ReadCutByEndpoint", Peer::kNone,
     "restart . 10; S read 10 n=8 va=0 len=8000; C read 10 n=4 va=0 len=4096; C read 14 n=4 va=4096 len=3904",
     "1 equivalent"},
    {"ReadCutBeforeTheEndpoint", Peer::kNone,
     "restart . 10; S read 10 n=4 va=0 len=4096; S read 14 n=4 va=4096 len=4096; C read 10 n=8 va=0 len=8192",
     "1 equivalent"},
    {"ReadCutWithAHoleInMemory", Peer::kNone,
     "restart . 10; C read 10 n=8 va=0 len=8192; S read 10 n=4 va=0 len=4096; S read 14 n=4 va=5000 len=4096",
     "1 different"},
    {"ReadCutElsewhere", Peer::kNone,
     "restart . 10; C read 10 n=8 va=0 len=8192; S read 10 n=4 va=64 len=4096; S read 14 n=4 va=4160 len=4096",
     "1 different, 1 unseen"},
    {"ReadCutTooShort", Peer::kNone,
     "restart . 10; C read 10 n=8 va=0 len=8192; S read 10 n=4 va=0 len=4096; S read 14 n=4 va=4096 len=4000",
     "1 different"},
    {"WhatIsJudgedDoesNotCountAgain", Peer::kNone,
     "restart . 9; C send 9; C read 10 n=8 va=0 len=8192; S read 10 n=4 va=64 len=4096; S read 14 n=4 va=4160 len=4096",
     "1 different, 1 missing, 1 unseen"},
    {"OverlappingPsns", Peer::kNone, "restart . 10; C read 10 n=4 len=4096; S send 10; S read 11 n=3 len=3072",
     "1 different, 1 unseen"},
};
INSTANTIATE_TEST_SUITE_P(Fresh, Requests, testing::ValuesIn(kFresh), [](const auto& c) { return c.param.name; });

const Case kReturns[] = {
    {"BothGoBack", Peer::kNone,
     "restart . 10; C send 10; S send 10; C send 11; S send 11; fed nak 10; again send 10; S send 10; again send 11; S "
     "send 11",
     "3 match"},
    {"BothGoBackAfterRnr", Peer::kNone,
     "restart . 10; C send 10; S send 10; fed rnr 10; S send 10; again send 10; fed rnr 10; again send 10; S send 10",
     "3 match"},
    {"NumberIsFree", Peer::kNone,
     "restart . 10; C send 10; S send 10; C send 11; S send 11; fed nak 10; again send 10; S send 10; S send 11",
     "3 match"},
    {"NicDoesNotGoBack", Peer::kNone, "restart . 10; C send 10; S send 10; fed nak 10; again send 10",
     "1 match, 1 missing"},
    {"NicGoesBackOnceOfTwice", Peer::kNone,
     "restart . 10; C send 10; S send 10; fed nak 10; again send 10; S send 10; fed nak 10; again send 10",
     "2 match, 1 missing"},
    {"StaleNak", Peer::kNone, "restart . 10; C send 10; S send 10; fed ack 10; fed nak 10; again send 10",
     "1 match, 1 unseen"},
    {"NoVisibleCause", Peer::kNone, "restart . 10; C send 10; S send 10; again send 10", "1 match, 1 unseen"},
    {"EndpointsOwnIsLost", Peer::kNone, "restart . 10; C send 10; S send 10; fed nak 10; S send 10; fed ack 10",
     "1 match, 1 unseen"},
    {"NicAlone", Peer::kNone, "restart . 10; C send 10; S send 10; S send 10; fed ack 10", "1 match, 1 extra"},
    {"NicAloneAtTheEnd", Peer::kNone, "restart . 10; C send 10; S send 10; S send 10", "1 match, 1 not comparable"},
    {"ImpliedNak", Peer::kNone, "restart . 10; C read 10 n=2; S read 10 n=2; S read 10 n=2; fed ack 12",
     "1 match, 1 extra"},
    {"RxeImpliedNak", Peer::kRxe, "restart . 10; C read 10 n=2; S read 10 n=2; S read 10 n=2; fed ack 12",
     "1 match, 1 no_implied_nak"},
    {"RxeWithoutAnImpliedNak", Peer::kRxe, "restart . 10; C send 10; S send 10; S send 10; fed ack 10",
     "1 match, 1 extra"},
    {"OtherPacketAgain", Peer::kNone,
     "restart . 10; C read 10 va=1; S read 10 va=1; fed nak 10; again read 10 va=1; S read 10 va=2",
     "1 match, 1 different"},
};
INSTANTIATE_TEST_SUITE_P(Returns, Requests, testing::ValuesIn(kReturns), [](const auto& c) { return c.param.name; });

// A retry may fill a gap for a while; what stays open is settled, and costs no memory.
TEST(RequestsLongAfterAGap, AreSettled) {
  sim::Verdicts verdicts;
  sim::RequestVerdict judge({}, verdicts);
  judge.restart(0);
  sim::TransportPacket p;
  p.opcode = 0x04;
  const uint32_t packets = 20000;
  for (p.psn = 0; p.psn < packets; p.psn++) {
    judge.simulated(p, 1);
    if (p.psn >= 100) judge.captured(p, 1, true, p.psn, 0);
  }
  EXPECT_EQ(verdicts.requests[sim::Verdict::kUnseen], 100u);
  EXPECT_EQ(verdicts.requests[sim::Verdict::kMatch], packets - 100);
  p.psn = 50;
  judge.captured(p, 1, true, packets, 0);
  judge.finish();
  EXPECT_EQ(verdicts.requests[sim::Verdict::kMissing], 0u);
}

}  // namespace
