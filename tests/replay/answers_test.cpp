// One short sequence for each rule of the comparison of answers, with both outcomes.
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

class Answers : public testing::TestWithParam<Case> {};

TEST_P(Answers, AreJudged) {
  sim::VerdictOptions options;
  options.peer = GetParam().peer;
  const sim::Verdicts verdicts = script::run_answers(GetParam().script, options);
  std::string told;
  for (const std::string& line : sim::lines(verdicts)) told += line + "\n";
  EXPECT_EQ(script::summary(verdicts.answers), GetParam().expected) << told;
}

const Case kAcks[] = {
    {"SameAck", Peer::kNone, "restart . 10 msn=0; ask write 10 ackreq=1; C ack 10 msn=1; S ack 10 msn=1", "1 match"},
    {"NicFirst", Peer::kNone, "restart . 10 msn=0; ask write 10 ackreq=1; S ack 10 msn=1; C ack 10 msn=1", "1 match"},
    {"Wrap", Peer::kNone,
     "restart . 16777215 msn=16777215; ask write 16777215; ask write 0; C ack 0 msn=1; S ack 16777215 msn=0; S ack 0 "
     "msn=1",
     "1 match, 1 equivalent"},
    {"Credits", Peer::kNone, "restart . 10 msn=0; ask write 10 ackreq=1; C ack 10 msn=1 syndrome=5; S ack 10 msn=1",
     "1 match"},
    {"OtherMsn", Peer::kNone, "restart . 10 msn=0; ask write 10 ackreq=1; C ack 10 msn=2; S ack 10 msn=1",
     "1 different"},
    {"CoalescedByNic", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11; C ack 10 msn=1; C ack 11 msn=2; S ack 11 msn=2",
     "1 match, 1 equivalent"},
    {"CoalescedByEndpoint", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11; S ack 10 msn=1; S ack 11 msn=2; C ack 11 msn=2",
     "1 match, 1 equivalent"},
    {"CoveredWithAnMsnAboveTheNeighbour", Peer::kNone,
     "restart . 10 msn=0; ask write_first 10; ask write_middle 11; ask write_last 12; C ack 11 msn=2; C ack 12 msn=1; "
     "S ack 12 msn=1",
     "1 match, 1 different"},
    {"CoveredWithAnMsnBelowTheOneBefore", Peer::kNone,
     "restart . 10 msn=5; ask write 10; ask write 11; C ack 10 msn=4; C ack 11 msn=7; S ack 11 msn=7",
     "1 match, 1 different"},
    {"MoreMessagesThanPsns", Peer::kNone,
     "restart . 10 msn=5; ask write 10; ask write 11; S ack 10 msn=7; S ack 11 msn=7; C ack 11 msn=7",
     "1 match, 1 different"},
    {"OneWrongNeighbourIsOneFailure", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11; ask write 12; S ack 10 msn=1; S ack 12 msn=3; C ack 11 msn=0; C "
     "ack 12 msn=3",
     "1 match, 1 different"},
    {"CapturedBelowAWaitingAckWithLess", Peer::kNone,
     "restart . 10 msn=0; ask write_first 10; ask write_middle 11; ask write_last 12; S ack 12 msn=1; C ack 11 msn=2; "
     "C ack 12 msn=1",
     "1 equivalent, 1 different"},
    {"OneWrongAckAboveManyIsOneFailure", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11; ask write 12; S ack 10 msn=1; S ack 11 msn=2; C ack 12 msn=0",
     "1 equivalent, 1 different"},
    {"RepeatedAck", Peer::kNone,
     "restart . 10 msn=0; ask write 10 ackreq=1; C ack 10 msn=1; C ack 10 msn=1; S ack 10 msn=1",
     "1 match, 1 equivalent"},
    {"RepeatedAckWithAnotherMsn", Peer::kNone,
     "restart . 10 msn=0; ask write 10 ackreq=1; C ack 10 msn=1; S ack 10 msn=1; S ack 10 msn=2",
     "1 match, 1 different"},
    {"OwedByTheNic", Peer::kNone, "restart . 10 msn=0; ask write 10 ackreq=1; C ack 10 msn=1", "1 missing"},
    {"NothingAskedTheNic", Peer::kNone, "restart . 10 msn=0; ask write 10; C ack 10 msn=1", "1 not comparable"},
    {"CaptureEnds", Peer::kNone, "restart . 10 msn=0; ask write 10 ackreq=1; S ack 10 msn=1", "1 not comparable"},
    {"CoveredByReadResponse", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask read 11; C ack 10 msn=1; C only 11 msn=2; S only 11 msn=2",
     "1 match, 1 equivalent"},
    {"AckReplacesNoReadResponse", Peer::kNone,
     "restart . 10 msn=0; ask read 10 ackreq=1; C only 10 msn=1; S ack 10 msn=1", "1 equivalent, 1 missing"},
    {"AtomicMsnTakesPart", Peer::kNone,
     "restart . 10 msn=0; ask atomic 10; ask write 11; C atomic_ack 10 msn=1; C ack 11 msn=2; S ack 11 msn=2",
     "1 match, 1 not comparable"},
    {"AtomicWithAWrongMsn", Peer::kNone, "restart . 10 msn=0; ask atomic 10; C atomic_ack 10 msn=7", "1 different"},
    {"AckBelowTheAtomicsMsn", Peer::kNone,
     "restart . 10 msn=0; ask atomic 10; ask write_first 11; ask write_last 12; C atomic_ack 10 msn=1; S ack 11 msn=0; "
     "C ack 12 msn=2",
     "1 different, 2 not comparable"},
    {"BothReackWithTheOwnPsn", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11 ackreq=1; C ack 11 msn=2; S ack 11 msn=2; again write 10; C ack "
     "10 msn=2; S ack 10 msn=2",
     "1 match, 2 equivalent"},
    {"EndpointReacksWithTheOwnPsn", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11 ackreq=1; C ack 11 msn=2; S ack 11 msn=2; again write 10; C ack "
     "10 msn=2; S ack 11 msn=2",
     "1 match, 1 equivalent, 1 different"},
    {"RxeReacksWithTheOwnPsn", Peer::kRxe,
     "restart . 10 msn=0; ask write 10; ask write 11 ackreq=1; C ack 11 msn=2; S ack 11 msn=2; again write 10; C ack "
     "10 msn=2; S ack 11 msn=2",
     "1 match, 1 equivalent, 1 own_psn_reack"},
    {"RxeReacksWithTheEndOfTheMessage", Peer::kRxe,
     "restart . 10 msn=0; ask write_first 10; ask write_last 11; ask write 12 ackreq=1; C ack 12 msn=2; S ack 12 "
     "msn=2; "
     "again write_first 10; C ack 11 msn=2; S ack 12 msn=2",
     "1 match, 1 equivalent, 1 own_psn_reack"},
    {"NicReacksWithTheOwnPsn", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11 ackreq=1; C ack 11 msn=2; S ack 11 msn=2; again write 10; C ack "
     "11 msn=2; S ack 10 msn=2",
     "1 match, 1 equivalent, 1 different"},
    {"NicReacksUnseen", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11 ackreq=1; C ack 11 msn=2; S ack 11 msn=2; again write 10; S ack "
     "10 msn=2",
     "1 match, 1 unseen"},
    {"RxeAcksInMessage", Peer::kRxe,
     "restart . 10 msn=0; ask write_first 10; ask write_middle 11; again write_middle 11; C ack 11 msn=0",
     "1 ack_in_message"},
};
INSTANTIATE_TEST_SUITE_P(Acks, Answers, testing::ValuesIn(kAcks), [](const auto& c) { return c.param.name; });

const Case kNaks[] = {
    {"Same", Peer::kNone, "restart . 10 msn=0; ask write 11; C nak 10 msn=0; S nak 10 msn=0", "1 match"},
    {"OtherMsn", Peer::kNone, "restart . 10 msn=0; ask write 11; S nak 10 msn=1; C nak 10 msn=0", "1 different"},
    {"RnrTimer", Peer::kNone, "restart . 10 msn=0; ask send 10; C rnr 10 syndrome=0x21; S rnr 10 syndrome=0x2c",
     "1 equivalent"},
    {"RnrAgain", Peer::kNone, "restart . 10 msn=0; ask send 10; C rnr 10; S rnr 10; again send 10; C rnr 10; S rnr 10",
     "2 match"},
    {"OtherCode", Peer::kNone, "restart . 10 msn=0; ask write 10; C nak 10 syndrome=0x62; S nak 10 syndrome=0x61",
     "1 different"},
    {"OtherPsn", Peer::kNone, "restart . 10 msn=0; ask write 12; C nak 11 msn=0; S nak 10 msn=0", "1 different"},
    {"CoversWhatIsBeforeIt", Peer::kNone,
     "restart . 10 msn=0; ask write 10 ackreq=1; ask write 12; C ack 10 msn=1; C nak 11 msn=1; S nak 11 msn=1",
     "1 match, 1 equivalent"},
    {"NicSentNone", Peer::kNone,
     "restart . 10 msn=0; ask write 11; C nak 10; again write 10; again write 11 ackreq=1; C ack 11 msn=2; S ack 11 "
     "msn=2",
     "1 match, 1 missing"},
    {"LostAndTheRequesterWentBack", Peer::kNone,
     "restart . 10 msn=0; ask write 11; S nak 10; again write 10; again write 11 ackreq=1; C ack 11 msn=2; S ack 11 "
     "msn=2",
     "1 match, 1 unseen"},
    {"LateAndTheRequesterWentBack", Peer::kNone,
     "restart . 10 msn=0; ask write 11; again write 10; again write 11 ackreq=1; C ack 11 msn=2; S nak 10; S ack 11 "
     "msn=2",
     "1 match, 1 unseen"},
    {"AcknowledgedWithoutRetry", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11; S nak 10; C ack 11 msn=2", "1 extra, 1 not comparable"},
    {"NoLaterAnswer", Peer::kNone, "restart . 10 msn=0; ask write 11; S nak 10", "1 unseen"},
    {"EndpointRefused", Peer::kNone,
     "restart . 10 msn=0; ask write 10; ask write 11; C ack 10 msn=1; C nak 11 syndrome=0x62 msn=1; S ack 10 msn=1; S "
     "ack 11 msn=2",
     "1 match, 1 different"},
    {"EndpointRefusedLater", Peer::kNone,
     "restart . 10 msn=0; ask write 10; S ack 10 msn=1; C nak 10 syndrome=0x62 msn=0", "1 different"},
    {"EndpointRefusedARead", Peer::kNone,
     "restart . 10 msn=0; ask read 10; S only 10 msn=1; C nak 10 syndrome=0x62 msn=0", "1 different"},
    {"AfterRnr", Peer::kNone, "restart . 10 msn=0; ask send 10; ask send 11; C rnr 10; S rnr 10; C nak 10",
     "1 match, 1 missing"},
    {"RxeAfterRnr", Peer::kRxe, "restart . 10 msn=0; ask send 10; ask send 11; C rnr 10; S rnr 10; C nak 10",
     "1 match, 1 nak_after_rnr"},
    {"RxeNakWithoutRnr", Peer::kRxe, "restart . 10 msn=0; ask write 11; C nak 10", "1 missing"},
    {"LongSend", Peer::kNone, "restart . 10 msn=0; ask send 10; C nak 10 syndrome=0x63; S nak 10 syndrome=0x61",
     "1 different"},
    {"RxeLongSend", Peer::kRxe, "restart . 10 msn=0; ask send 10; C nak 10 syndrome=0x63; S nak 10 syndrome=0x61",
     "1 operational_error_for_long_send"},
    {"Invalidate", Peer::kNone,
     "restart . 10 msn=4; ask send_inv 10 ackreq=1; C ack 10 msn=4; S nak 10 syndrome=0x62 msn=4",
     "1 missing, 1 extra"},
    {"RxeInvalidate", Peer::kRxe,
     "restart . 10 msn=4; ask send_inv 10 ackreq=1; C ack 10 msn=4; S nak 10 syndrome=0x62 msn=4",
     "1 not comparable, 1 silence_after_invalidate"},
    {"ResourceLimit", Peer::kNone, "restart . 10 msn=0; ask read 10; S nak 10 syndrome=0x61 msn=0; C only 10 msn=1",
     "1 missing, 1 extra"},
    {"RxeResourceLimit", Peer::kRxe, "restart . 10 msn=0; ask read 10; S nak 10 syndrome=0x61 msn=0; C only 10 msn=1",
     "1 no_resource_limit"},
    {"RxeResourceLimitAfterTheResponse", Peer::kRxe,
     "restart . 10 msn=0; ask read 10; C only 10 msn=1; S nak 10 syndrome=0x61 msn=0",
     "1 not comparable, 1 no_resource_limit"},
    {"RxeReadRefusedOtherwise", Peer::kRxe,
     "restart . 10 msn=0; ask read 10; C only 10 msn=1; S nak 10 syndrome=0x62 msn=0", "1 missing, 1 extra"},
};
INSTANTIATE_TEST_SUITE_P(Naks, Answers, testing::ValuesIn(kNaks), [](const auto& c) { return c.param.name; });

const Case kReads[] = {
    {"Same", Peer::kNone,
     "restart . 10 msn=0; ask read 10 n=3; S first 10 msn=1; S middle 11; S last 12 msn=1 bytes=7; C first 10 msn=1; C "
     "middle 11; C last 12 msn=1 bytes=7",
     "3 match"},
    {"EndpointFirst", Peer::kNone,
     "restart . 10 msn=0; ask read 10 n=4; C first 10 msn=1; C middle 11; C middle 12; C last 13 msn=1; S first 10 "
     "msn=1; S middle 11; S middle 12; S last 13 msn=1",
     "4 match"},
    {"FirstWithTheOldMsn", Peer::kNone,
     "restart . 10 msn=0; ask read 10 n=2; S first 10 msn=1; S last 11 msn=1; C first 10 msn=0; C last 11 msn=1",
     "1 match, 1 equivalent"},
    {"LastWithAnotherMsn", Peer::kNone,
     "restart . 10 msn=0; ask read 10 n=2; S first 10 msn=1; S last 11 msn=1; C first 10 msn=1; C last 11 msn=0",
     "1 match, 1 different"},
    {"OtherLength", Peer::kNone, "restart . 10 msn=0; ask read 10; S only 10 msn=1 bytes=8; C only 10 msn=1 bytes=9",
     "1 different"},
    {"OtherPosition", Peer::kNone, "restart . 10 msn=0; ask read 10; S only 10 msn=1; C first 10 msn=1", "1 different"},
    {"NicLeftOneOut", Peer::kNone,
     "restart . 10 msn=0; ask read 10 n=3; C first 10 msn=1; C middle 11; C last 12 msn=1; S first 10 msn=1; S last 12 "
     "msn=1",
     "2 match, 1 missing"},
    {"NicSentNone", Peer::kNone, "restart . 10 msn=0; ask read 10; C only 10 msn=1", "1 missing"},
    {"LaterAnswersCoverIt", Peer::kNone,
     "restart . 10 msn=0; ask read 10 n=2; ask read 12; S first 10 msn=1; S last 11 msn=1; S only 12 msn=2; C only 12 "
     "msn=2",
     "1 match, 2 unseen"},
    {"AskedAgainAfterLaterAnswers", Peer::kNone,
     "restart . 10 msn=0; ask read 10 n=2; ask read 12; S first 10 msn=1; S last 11 msn=1; S only 12 msn=2; C only 12 "
     "msn=2; again read 10 n=2; S first 10 msn=2; S last 11 msn=2; C first 10 msn=2; C last 11 msn=2",
     "3 match, 2 unseen"},
    {"LaterAckCoversIt", Peer::kNone,
     "restart . 10 msn=0; ask read 10; ask write 11 ackreq=1; S only 10 msn=1; S ack 11 msn=2; C ack 11 msn=2",
     "1 match, 1 unseen"},
    {"CaptureEnds", Peer::kNone, "restart . 10 msn=0; ask read 10; S only 10 msn=1", "1 not comparable"},
    {"AskedAgain", Peer::kNone,
     "restart . 10 msn=0; ask read 10; S only 10 msn=1; again read 10; S only 10 msn=1; C only 10 msn=1",
     "1 match, 1 unseen"},
    {"ExecutedTwice", Peer::kNone,
     "restart . 10 msn=0; ask read 10; S only 10 msn=1; C only 10 msn=1; again read 10; S only 10 msn=1; C only 10 "
     "msn=1",
     "2 match"},
    {"ExecutedOnceTooOften", Peer::kNone,
     "restart . 10 msn=0; ask read 10; S only 10 msn=1; C only 10 msn=1; S only 10 msn=1", "1 match, 1 extra"},
    {"SecondRequestNotFed", Peer::kNone,
     "restart . 10 msn=0; ask read 10; S only 10 msn=1; C only 10 msn=1; C only 10 msn=1", "1 match, 1 not comparable"},
    {"TailAskedAgain", Peer::kNone,
     "restart . 10 msn=0; ask read 10 n=4; S first 10 msn=1; S middle 11; S middle 12; S last 13 msn=1; C first 10 "
     "msn=1; again read 11 n=3; S first 11 msn=1; S middle 12; S last 13 msn=1; C first 11 msn=1; C middle 12; C last "
     "13 msn=1",
     "4 match, 3 unseen"},
    {"MiddleAfterPartial", Peer::kNone,
     "restart . 10 msn=0; ask read 10 n=3; S first 10 msn=1; S middle 11; S last 12 msn=1; C first 10 msn=1; C middle "
     "11; C last 12 msn=1; again read 11 n=2; S first 11 msn=1; S last 12 msn=1; C middle 11; C last 12 msn=1",
     "4 match, 1 different"},
    {"RxeMiddleAfterPartial", Peer::kRxe,
     "restart . 10 msn=0; ask read 10 n=3; S first 10 msn=1; S middle 11; S last 12 msn=1; C first 10 msn=1; C middle "
     "11; C last 12 msn=1; again read 11 n=2; S first 11 msn=1; S last 12 msn=1; C middle 11; C last 12 msn=1",
     "4 match, 1 middle_after_partial_read"},
    {"MsnOfARepeat", Peer::kNone,
     "restart . 10 msn=0; ask read 10; S only 10 msn=1; C only 10 msn=1; ask write 11; S ack 11 msn=2; C ack 11 msn=2; "
     "again read 10; S only 10 msn=2; C only 10 msn=1",
     "2 match, 1 equivalent"},
};
INSTANTIATE_TEST_SUITE_P(Reads, Answers, testing::ValuesIn(kReads), [](const auto& c) { return c.param.name; });

const Case kHoles[] = {
    {"NicStandsAtTheHole", Peer::kNone,
     "restart . 10 msn=0; hole . 10 n=1; ask write 11 ackreq=1; S nak 10; C ack 11 msn=2", "2 not comparable"},
    {"BeforeTheHole", Peer::kNone, "restart . 10 msn=0; ask write 10; hole . 11 n=1; C ack 10 msn=1; S ack 10 msn=1",
     "1 match"},
    {"StateSetAnew", Peer::kNone,
     "restart . 10 msn=0; hole . 10 n=2; restart . 12 msn=2; ask write 12; C ack 11 msn=2; C ack 12 msn=3; S ack 12 "
     "msn=3",
     "1 match, 1 not comparable"},
    {"FedAfterAll", Peer::kNone,
     "restart . 10 msn=0; hole . 10 n=2; ask write 12; C nak 10; S nak 10; again write 10; again write 11; again write "
     "12; C ack 12 msn=3; S ack 12 msn=3",
     "1 match, 2 not comparable"},
    {"RestartForgetsWhatWaits", Peer::kNone,
     "restart . 10 msn=0; ask write 10 ackreq=1; C ack 10 msn=1; restart . 20 msn=0", "1 not comparable"},
    {"RestartForgetsANak", Peer::kNone, "restart . 10 msn=0; ask write 11; C nak 10; restart . 20 msn=0",
     "1 not comparable"},
    {"NoRequestBefore", Peer::kNone, "C ack 9 msn=1; ask write 10; C ack 10 msn=2; S ack 10 msn=2",
     "1 match, 1 not comparable"},
    {"AnswerToAPacketThatIsNotThere", Peer::kNone,
     "restart . 10 msn=0; ask write 10 ackreq=1; C ack 12 msn=3; S ack 10 msn=1", "2 not comparable"},
};
INSTANTIATE_TEST_SUITE_P(Holes, Answers, testing::ValuesIn(kHoles), [](const auto& c) { return c.param.name; });

TEST(AnswersOfOneDirection, AreNotComparable) {
  const sim::Verdicts verdicts = script::run_answers(
      "restart . 10 msn=0; ask write 11; S nak 10; again write 10; ask read 12; S ack 11 msn=2; S only 12 msn=3", {},
      false);
  EXPECT_EQ(script::summary(verdicts.answers), "3 not comparable");
}

TEST(ExactAcks, ComparesOneByOne) {
  const struct {
    const char *script, *expected;
  } cases[] = {
      {"restart . 10; ask write 10; C ack 10 msn=1; S ack 10 msn=1", "1 match"},
      {"restart . 10; ask write 10; C ack 10 msn=1 syndrome=5; S ack 10 msn=1", "1 different"},
      {"restart . 10; ask write 10; ask write 11; C ack 10 msn=1; C ack 11 msn=2; S ack 11 msn=2",
       "1 match, 1 missing"},
      {"restart . 10; ask write 10; ask write 11; C ack 11 msn=2; S ack 10 msn=1; S ack 11 msn=2", "1 match, 1 extra"},
  };
  sim::VerdictOptions options;
  options.ack_compare = sim::AckCompare::kExact;
  for (const auto& c : cases) {
    const sim::Verdicts verdicts = script::run_answers(c.script, options);
    EXPECT_EQ(script::summary(verdicts.exact_acks), c.expected) << c.script;
    EXPECT_TRUE(verdicts.answers.good()) << c.script;
    EXPECT_TRUE(script::run_answers(c.script).exact_acks.empty()) << c.script;
  }
}

}  // namespace
