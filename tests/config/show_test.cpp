#include "sim/config/show.hpp"

#include <gtest/gtest.h>

#include "sim/config/resolve.hpp"
#include "temporary_folder.hpp"

namespace sim {
namespace {

struct Sample {
  uint32_t count = 3;
  double rate = 0.5;
  std::string mode = "fast";
};

void declare_sample(Schema& schema, Sample& sample) {
  schema.integer("a.count", sample.count, whole(1, 9), "QPs", "How many.");
  schema.real("a.rate", sample.rate, reals(0, 1), "", "How fast.");
  schema.text_of("b.mode", sample.mode, {"fast", "slow"}, "Which way.");
}

TEST(Show, TomlTableAndJsonOfASchema) {
  Sample sample;
  Schema schema;
  declare_sample(schema, sample);
  sample.count = 4;
  EXPECT_EQ(to_toml(schema),
            "[a]\n"
            "count = 4                       # [QPs] How many.\n"
            "rate = 0.5                      # How fast.\n"
            "\n"
            "[b]\n"
            "mode = \"fast\"                   # Which way.\n");
  EXPECT_EQ(schema_table(schema),
            "KEY      DEFAULT  ALLOWED                     UNIT  MEANING\n"
            "a.count  3        a whole number from 1 to 9  QPs   How many.\n"
            "a.rate   0.5      a number from 0.0 to 1.0          How fast.\n"
            "b.mode   \"fast\"   one of \"fast\", \"slow\"             Which way.\n");
  EXPECT_EQ(schema_json(schema).dump(),
            R"([{"key":"a.count","type":"integer","default":3,"min":1,"max":9,"unit":"QPs","sentence":"How many."},)"
            R"({"key":"a.rate","type":"real","default":0.5,"min":0.0,"max":1.0,"sentence":"How fast."},)"
            R"({"key":"b.mode","type":"text","default":"fast","choices":["fast","slow"],"sentence":"Which way."}])");
}

// Every parameter is moved off its default, so that one that is not printed or not read back shows.
TEST(Show, WhatIsShownLoadsBackTheSame) {
  Config config;
  Schema schema;
  declare(schema, config);
  for (const Parameter& p : schema.parameters()) {
    Value other = p.default_value;
    if (const auto* flag = std::get_if<bool>(&p.default_value)) other = !*flag;
    for (const auto& bound : p.range ? std::vector<Value>{p.range->min, p.range->max} : p.choices) {
      if (bound != p.default_value) other = bound;
    }
    ASSERT_NE(other, p.default_value) << p.key;
    p.store(other);
  }
  const std::string shown = to_toml(config);
  const test::TemporaryFolder folder;
  EXPECT_EQ(to_toml(resolve({"", folder.file("shown.toml", shown), {}, {}})), shown);
  EXPECT_NE(shown, to_toml(Config()));
}

TEST(Show, EveryParameterHasASentence) {
  Config config;
  Schema schema;
  declare(schema, config);
  for (const Parameter& p : schema.parameters()) {
    ASSERT_FALSE(p.sentence.empty()) << p.key;
    EXPECT_EQ(p.sentence.back(), '.') << p.key;
  }
}

}  // namespace
}  // namespace sim
