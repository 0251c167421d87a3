#include <gtest/gtest.h>

#include "tests/replay/verdict_script.hpp"

namespace {

using sim::Verdict;

TEST(VerdictCounts, OnlyFailuresAreNotGood) {
  const bool is_good[sim::kVerdicts] = {true, true, false, false, false, true, true};
  for (size_t i = 0; i < sim::kVerdicts; i++) {
    sim::VerdictCounts counts;
    counts.give(Verdict(i), nullptr, nullptr, "");
    EXPECT_EQ(counts.good(), is_good[i]) << sim::name_of(Verdict(i));
    EXPECT_FALSE(counts.empty());
  }
  sim::VerdictCounts departure;
  departure.depart(sim::Quirk::kNakAfterRnr, nullptr, nullptr);
  EXPECT_TRUE(departure.good());
}

TEST(VerdictCounts, KeepsTheFirstFewAndAddsUp) {
  sim::VerdictCounts one, two;
  sim::Sighting seen;
  for (; seen.index < 5; seen.index++) one.give(Verdict::kMissing, &seen, nullptr, "");
  two.give(Verdict::kMissing, &seen, nullptr, "", 7);
  two.add(one);
  EXPECT_EQ(two[Verdict::kMissing], 12u);
  const auto& examples = two.verdicts[size_t(Verdict::kMissing)].examples;
  ASSERT_EQ(examples.size(), sim::kExamplesOfAVerdict);
  EXPECT_EQ(examples[0].captured->index, 5u);
  EXPECT_EQ(examples[1].captured->index, 0u);
  EXPECT_EQ(examples[2].captured->index, 1u);
}

TEST(VerdictCounts, PayloadOfAnExampleIsNotKept) {
  const uint8_t byte = 1;
  sim::Sighting seen;
  seen.packet.payload = {&byte, 1};
  sim::VerdictCounts counts;
  counts.give(Verdict::kMatch, &seen, nullptr, "");
  EXPECT_EQ(counts.verdicts[size_t(Verdict::kMatch)].examples[0].captured->packet.payload.size, 0u);
}

TEST(VerdictText, TellsCountsAndFailures) {
  const sim::Verdicts verdicts = script::run_answers(
      "restart . 10 msn=0; ask write 10; ask write 11; C ack 10 msn=1; S ack 10 msn=1; C ack 11 msn=3; S ack 11 msn=2");
  const std::vector<std::string> lines = sim::lines(verdicts);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "answers: 1 match, 0 equivalent, 1 different, 0 missing, 0 extra");
  EXPECT_EQ(
      lines[1],
      "  different: packet 6 at 0.000006000 s: captured RC_ACK PSN 11 0x1f MSN 3; simulated RC_ACK PSN 11 0x1f MSN 2 "
      "(other MSN)");
  const nlohmann::ordered_json j = sim::to_json(verdicts);
  EXPECT_EQ(j["good"], false);
  EXPECT_EQ(j["answers"]["match"], 1);
  EXPECT_EQ(j["answers"]["different"], 1);
  EXPECT_EQ(j["answers"]["examples"]["different"].size(), 1u);
  EXPECT_FALSE(j.contains("requests"));
}

TEST(VerdictText, NamesDepartures) {
  sim::VerdictOptions options;
  options.peer = sim::Peer::kRxe;
  const sim::Verdicts verdicts =
      script::run_answers("restart . 10 msn=0; ask send 10; ask send 11; C rnr 10; S rnr 10; C nak 10", options);
  EXPECT_TRUE(verdicts.good());
  EXPECT_EQ(sim::to_json(verdicts)["answers"]["departures"]["nak_after_rnr"]["row"], "D 16");
  EXPECT_EQ(sim::lines(verdicts)[1].rfind("  1 nak_after_rnr: ", 0), 0u);
}

sim::Sighting read_response(uint64_t index, uint32_t psn) {
  sim::Sighting s;
  s.packet.opcode = 0x10;
  s.packet.psn = psn;
  s.index = index;
  return s;
}

TEST(VerdictData, CountsBytesAndPackets) {
  sim::Verdicts verdicts;
  verdicts.add_data({100, 0, 0}, read_response(1, 10));
  verdicts.add_data({60, 40, 0}, read_response(2, 11));
  EXPECT_TRUE(verdicts.good());
  verdicts.add_data({99, 0, 1}, read_response(3, 12));
  EXPECT_FALSE(verdicts.good());
  EXPECT_EQ(script::summary(verdicts.data), "1 match, 1 different, 1 not comparable");
  EXPECT_EQ(verdicts.bytes.verified_bytes, 259u);
  EXPECT_EQ(verdicts.bytes.seeded_bytes, 40u);
  EXPECT_EQ(sim::to_json(verdicts)["data"]["different_bytes"], 1);
}

TEST(Quirks, RowsStandInTheirOrder) {
  for (size_t i = 0; i < sim::kQuirks; i++) EXPECT_EQ(sim::row_of(sim::Quirk(i)).quirk, sim::Quirk(i));
}

TEST(Verdicts, AreSmallWhileIdle) {
  EXPECT_LE(sizeof(sim::AnswerVerdict), 160u);
  EXPECT_LE(sizeof(sim::RequestVerdict), 80u);
}

}  // namespace
