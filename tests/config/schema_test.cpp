#include "sim/config/schema.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sim {
namespace {

struct Sample {
  uint8_t count = 3;
  double rate = 0.1;
  bool on = true;
  std::string mode = "fast";
  uint64_t delay_ps = 7000;
};

TEST(Schema, DefaultIsTheVariableAtDeclaration) {
  Sample sample;
  Schema schema;
  schema.integer("a.count", sample.count, whole(1, 9), "", "");
  sample.count = 5;
  EXPECT_EQ(schema.find("a.count")->default_value, Value(int64_t(3)));
  EXPECT_EQ(schema.find("a.count")->load(), Value(int64_t(5)));
}

TEST(Schema, StoresIntoTheVariable) {
  Sample sample;
  Schema schema;
  schema.integer("a.count", sample.count, whole(1, 9), "", "");
  schema.real("a.rate", sample.rate, reals(0, 1), "", "");
  schema.boolean("a.on", sample.on, "");
  schema.text_of("a.mode", sample.mode, {"fast", "slow"}, "");
  schema.nanoseconds("a.delay_ns", sample.delay_ps, 100, "");
  schema.find("a.count")->store(int64_t(9));
  schema.find("a.rate")->store(0.5);
  schema.find("a.on")->store(false);
  schema.find("a.mode")->store(std::string("slow"));
  schema.find("a.delay_ns")->store(int64_t(12));
  EXPECT_EQ(sample.count, 9);
  EXPECT_EQ(sample.rate, 0.5);
  EXPECT_FALSE(sample.on);
  EXPECT_EQ(sample.mode, "slow");
  EXPECT_EQ(sample.delay_ps, 12000u);
}

TEST(Schema, AcceptsTheRangeAndNothingBeyond) {
  Sample sample;
  Schema schema;
  schema.integer("a.count", sample.count, whole(1, 9), "", "");
  schema.real("a.rate", sample.rate, reals(0, 1), "", "");
  const Parameter& count = *schema.find("a.count");
  const Parameter& rate = *schema.find("a.rate");
  for (const int64_t good : {1, 5, 9}) EXPECT_EQ(count.accept(good), Value(good));
  for (const int64_t bad : {-1, 0, 10}) EXPECT_FALSE(count.accept(bad));
  EXPECT_FALSE(count.accept(3.0)) << "a real is no whole number";
  EXPECT_FALSE(count.accept(std::string("3")));
  EXPECT_EQ(rate.accept(int64_t(1)), Value(1.0)) << "a whole number serves as a real";
  EXPECT_FALSE(rate.accept(std::nextafter(1.0, 2.0)));
  EXPECT_FALSE(rate.accept(std::numeric_limits<double>::quiet_NaN()));
}

TEST(Schema, AcceptsTheChoicesOnly) {
  Sample sample;
  Schema schema;
  schema.integer_of("a.count", sample.count, {1, 3, 200}, "", "");
  const Parameter& count = *schema.find("a.count");
  EXPECT_TRUE(count.accept(int64_t(200)));
  EXPECT_FALSE(count.accept(int64_t(2)));
  EXPECT_EQ(count.allowed(), "one of 1, 3, 200");
}

TEST(Schema, RefusesADeclarationThatContradictsItself) {
  Sample sample;
  Schema schema;
  schema.integer("a.count", sample.count, whole(1, 9), "", "");
  EXPECT_THROW(schema.boolean("a.count", sample.on, ""), std::logic_error) << "key used twice";
  EXPECT_THROW(schema.integer("b", sample.count, whole(4, 9), "", ""), std::logic_error) << "default out of range";
  EXPECT_THROW(schema.integer("c", sample.count, whole(0, 256), "", ""), std::logic_error) << "variable too narrow";
  EXPECT_THROW(schema.integer("d", sample.count, whole(-1, 9), "", ""), std::logic_error) << "variable unsigned";
  sample.delay_ps = 1500;
  EXPECT_THROW(schema.nanoseconds("e", sample.delay_ps, 9, ""), std::logic_error) << "half a nanosecond";
}

TEST(Schema, NamesTheNearestKey) {
  Sample sample;
  Schema schema;
  schema.integer("nic.qp_count", sample.count, whole(1, 9), "", "");
  schema.real("link.gbps", sample.rate, reals(0, 1), "", "");
  EXPECT_EQ(schema.nearest_key("nic.qp_cuont"), "nic.qp_count");
  EXPECT_EQ(schema.nearest_key("qp_count"), "nic.qp_count");
  EXPECT_EQ(schema.nearest_key("link.gbs"), "link.gbps");
  EXPECT_EQ(schema.nearest_key("workload"), std::nullopt) << "nothing is near";
  EXPECT_EQ(schema.nearest_group("nics"), "nic");
  EXPECT_EQ(schema.nearest_group("workload"), std::nullopt);
}

TEST(Schema, LiteralsReadBackTheSame) {
  EXPECT_EQ(to_toml_literal(100.0), "100.0");
  EXPECT_EQ(to_toml_literal(0.1), "0.1");
  EXPECT_EQ(to_toml_literal(1e300), "1e+300");
  EXPECT_EQ(to_toml_literal(int64_t(-3)), "-3");
  EXPECT_EQ(to_toml_literal(true), "true");
  EXPECT_EQ(to_toml_literal(std::string("a\"\\\n")), "\"a\\\"\\\\\\u000A\"");
}

}  // namespace
}  // namespace sim
