// The random mix between two NICs of known timing.
#include "models/mix.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/ideal_nic.hpp"

using models::Mix;
using models::MixParams;
using models::Receiver;
using models::Sides;
using test::Pair;

namespace {

struct MixRun {
  Pair pair;
  Sides sides;
  Mix mix;
  Receiver receiver;

  MixRun(const test::Calling& calling, const MixParams& params)
      : pair(calling, 50),
        sides(pair.sides(5, 64)),
        mix(params, sides.a, sides.b),
        receiver(mix.receiver_params(64, {}), sides.b) {
    pair.add(mix);
    pair.add(receiver);
  }
};

MixParams params(uint64_t seed) {
  MixParams p;
  p.largest = 5000;
  p.iterations = 60;
  p.tx_depth = 4;
  p.start = 1000;
  p.seed = seed;
  return p;
}

TEST(Mix, EverythingArrivesAndNothingElseIsTouched) {
  for (const test::Calling& calling : test::kCallings)
    for (uint64_t seed = 1; seed <= 5; seed++) {
      MixRun run(calling, params(seed));
      run.pair.run(20000);
      EXPECT_TRUE(run.mix.verify());
      EXPECT_TRUE(run.receiver.done());
      EXPECT_EQ(run.receiver.errors(), 0u);
      EXPECT_EQ(run.mix.completions().size(), 300u);
      const auto empty = [](const models::DoneMessage& m) { return m.bytes == 0; };
      EXPECT_TRUE(std::any_of(run.mix.completions().begin(), run.mix.completions().end(), empty));
    }
}

TEST(Mix, AWrongByteAndAWrongPlaceAreFound) {
  for (bool corrupt : {true, false}) {
    MixRun run({false, false}, params(1));
    run.pair.nic_a.corrupt = corrupt;
    if (!corrupt) run.pair.nic_a.misplaced = 20;
    run.pair.run(20000);
    EXPECT_TRUE(run.mix.done());
    EXPECT_FALSE(run.mix.verify());
  }
}

TEST(Mix, AByteBetweenTheMessagesIsFound) {
  MixRun run({false, false}, params(1));
  run.pair.run(20000);
  ASSERT_TRUE(run.mix.verify());
  const uint8_t other = uint8_t(~run.pair.memory_b.read_byte(uint64_t(1) << 40));
  run.pair.memory_b.write(uint64_t(1) << 40, &other, 1);
  EXPECT_FALSE(run.mix.verify());
}

}  // namespace
