#include "traces/pairing.hpp"

#include <gtest/gtest.h>

namespace traces {
namespace {

using Requests = std::vector<SentRequest>;
using Responses = std::vector<SentResponse>;

// `count` requests of consecutive PSNs, two packet numbers apart from `index` on.
Requests requests(uint64_t index, uint32_t psn, size_t count) {
  Requests track;
  for (size_t i = 0; i < count; ++i, index += 2, psn = (psn + 1) & 0xffffff) track.push_back({index, psn, psn});
  return track;
}

Responses responses(uint64_t index, uint32_t psn, size_t count) {
  Responses track;
  for (size_t i = 0; i < count; ++i, index += 2, psn = (psn + 1) & 0xffffff) track.push_back({index, psn});
  return track;
}

constexpr auto kNone = std::optional<size_t>();

TEST(Pairing, PairsByPsnAlone) {
  const auto pairings =
      pair_responses({requests(1, 100, 5), requests(21, 900, 5)}, {responses(22, 900, 5), responses(2, 100, 5)});
  EXPECT_EQ(pairings.at(0).response_track, 1u);
  EXPECT_EQ(pairings.at(1).response_track, 0u);
}

TEST(Pairing, PairsAcrossTheWrap) {
  const auto pairings = pair_responses({requests(1, 0xfffffe, 5), requests(1, 100, 5)}, {responses(2, 0xfffffe, 5)});
  EXPECT_EQ(pairings.at(0).response_track, 0u);
  EXPECT_EQ(pairings.at(1).response_track, kNone);
  EXPECT_TRUE(pairings.at(1).candidates.empty());
}

TEST(Pairing, NeverGuessesBetweenEqualPsns) {
  const auto pairings =
      pair_responses({requests(1, 0, 5), requests(1, 0, 5)}, {responses(2, 0, 5), responses(2, 0, 5)});
  for (const Pairing& pairing : pairings) {
    EXPECT_EQ(pairing.response_track, kNone);
    EXPECT_EQ(pairing.candidates, (std::vector<size_t>{0, 1}));
  }
}

TEST(Pairing, TwoTracksThatFitOneOwnerAreNotPaired) {
  const auto pairings = pair_responses({requests(1, 0, 5)}, {responses(2, 0, 5), responses(4, 1, 3)});
  EXPECT_EQ(pairings.at(0).response_track, kNone);
  EXPECT_EQ(pairings.at(0).candidates, (std::vector<size_t>{0, 1}));
}

TEST(Pairing, OneTrackThatFitsTwoOwnersIsNotPaired) {
  const auto pairings = pair_responses({requests(1, 0, 5), requests(1, 0, 5)}, {responses(2, 0, 5)});
  EXPECT_EQ(pairings.at(0).response_track, kNone);
  EXPECT_EQ(pairings.at(1).response_track, kNone);
}

// Track 1 answers PSNs 0 to 9, which only owner 0 sent. Track 0 fits both, until owner 0 is taken.
TEST(Pairing, DeducesWhatIsLeft) {
  const auto pairings =
      pair_responses({requests(1, 0, 10), requests(1, 0, 4)}, {responses(2, 0, 4), responses(2, 0, 10)});
  EXPECT_EQ(pairings.at(0).response_track, 1u);
  EXPECT_EQ(pairings.at(1).response_track, 0u);
}

TEST(Pairing, AResponseNeedsARequestBeforeIt) {
  const auto pairings = pair_responses({requests(101, 0, 5)}, {responses(2, 0, 5)});
  EXPECT_EQ(pairings.at(0).response_track, kNone);
  EXPECT_TRUE(pairings.at(0).candidates.empty());
}

TEST(Pairing, ForgivesRequestsThatTheCaptureLost) {
  Requests lossy = requests(1, 0, 10);
  lossy.erase(lossy.begin() + 4);
  EXPECT_EQ(pair_responses({lossy}, {responses(2, 0, 10)}).at(0).response_track, 0u);
}

TEST(Pairing, AReadCoversThePsnsOfItsResponses) {
  EXPECT_EQ(pair_responses({{{1, 0, 7}}}, {responses(2, 0, 8)}).at(0).response_track, 0u);
  EXPECT_EQ(pair_responses({{{1, 0, 0}}}, {responses(2, 0, 8)}).at(0).response_track, kNone);
}

}  // namespace
}  // namespace traces
