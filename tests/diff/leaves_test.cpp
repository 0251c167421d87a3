#include "sim/diff/leaves.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sim {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> paths_of(const Json& json) {
  std::vector<std::string> paths;
  for (const auto& leaf : leaves_of(json)) paths.push_back(leaf.first);
  return paths;
}

TEST(Leaves, PathsInTheOrderOfTheFile) {
  const Json json = Json::parse(R"({"z": 1, "a": {"rx.bth": 2, "list": [3, {"b": "text"}]}, "empty": [], "n": null})");
  EXPECT_EQ(paths_of(json), (std::vector<std::string>{"z", "a.rx.bth", "a.list.0", "a.list.1.b", "n"}));
}

TEST(Leaves, RowsGoByTheirNames) {
  const Json json = Json::parse(R"([{"row": "wire", "ps": 1}, {"name": "host", "ps": 2}, {"row": 3}])");
  EXPECT_EQ(paths_of(json), (std::vector<std::string>{"wire.row", "wire.ps", "host.name", "host.ps", "2.row"}));
}

TEST(Leaves, APathThatComesAgainIsCounted) {
  const Json json = Json::parse(R"([{"row": "x"}, {"row": "x"}, {"row": "x"}])");
  EXPECT_EQ(paths_of(json), (std::vector<std::string>{"x.row", "x.row#2", "x.row#3"}));
}

TEST(Changes, WhatDiffersAndWhatOnlyOneHas) {
  const Leaves a = {{"same", 1}, {"gone", true}, {"moved", 10}}, b = {{"new", "n"}, {"moved", 12.5}, {"same", 1.0}};
  const auto list = changes(a, b);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].path, "gone");
  EXPECT_TRUE(list[0].b.is_null());
  EXPECT_EQ(list[1].path, "moved");
  EXPECT_EQ(list[1].percent(), 25.0);
  EXPECT_EQ(list[2].path, "new");
  EXPECT_TRUE(list[2].a.is_null());
}

TEST(Changes, PercentIsOfTheMagnitudeOfA) {
  EXPECT_EQ((Change{"x", 200, 150}.percent()), -25.0);
  EXPECT_EQ((Change{"x", -200, -150}.percent()), 25.0);
  EXPECT_EQ((Change{"x", 4, 0}.percent()), -100.0);
  EXPECT_TRUE(std::isinf(Change{"x", 0, 1}.percent()));
  EXPECT_TRUE(std::isinf(Change{"x", "1", 2}.percent()));
  EXPECT_TRUE(std::isinf(Change{"x", 1, nullptr}.percent()));
}

TEST(Changes, GreatestFirst) {
  std::vector<Change> list = {{"p1", 100, 101}, {"m50", 100, 50}, {"inf", 0, 1}, {"p20", 10, 12}, {"m20", 10, 8}};
  sort_by_size(list);
  std::string order;
  for (const Change& change : list) order += change.path + " ";
  EXPECT_EQ(order, "inf m50 p20 m20 p1 ");
}

}  // namespace
}  // namespace sim
