#include <gtest/gtest.h>

#include "sim/extract/extract.hpp"

namespace sim {
namespace {

Observed observed() {
  Observed o;
  o.hosts = {*traces::parse_ip("10.1.1.1"), *traces::parse_ip("10.1.1.2")};
  o.connections.resize(1);
  ObservedConnection& c = o.connections[0];
  c.qpn = {0x11, 0x22};
  c.first_psn = {0x100, std::nullopt};
  return o;
}

ObservedMessage message(MessageKind kind, uint32_t bytes) {
  ObservedMessage m;
  m.kind = kind;
  m.bytes = bytes;
  return m;
}

std::string text_of(const Observed& o) {
  const std::string text = scenario_text(o);
  return text.substr(text.find("[[connection]]"));
}

TEST(ScenarioText, WorkThatIsAlikeIsOneLine) {
  Observed o = observed();
  auto& own = o.connections[0].messages[0];
  own.assign(3, message(MessageKind::kWrite, 64));
  own.push_back(message(MessageKind::kSend, 8));
  own.back().immediate = 5;
  o.connections[0].messages[1].push_back(message(MessageKind::kRead, 4096));
  EXPECT_EQ(text_of(o), R"([[connection]]
name = "0"  # QPN 0x11 and 0x22
psn = [256, 0]
pmtu = 1024
work = [
  {op = "write", size = 64, count = 3},
  {op = "send", size = 8, imm = 5},
  {from = "nic1", op = "read", size = 4096},
]
)");
}

TEST(ScenarioText, WhatTheConnectionManagerSaid) {
  Observed o = observed();
  o.connections[0].timeout = 14;
  o.connections[0].retry_count = 3;
  EXPECT_NE(text_of(o).find("pmtu = 1024\ntimeout = 14\nretry_count = 3\n"), std::string::npos);
}

TEST(ScenarioText, LossesAreOnTheLinkTheyWereLostOn) {
  Observed o = observed();
  o.connections[0].losses = {{LostKind::kRequest, 0, 7, false, 1},
                             {LostKind::kResponse, 0, 8, true, 1},
                             {LostKind::kRequest, 1, 9, false, 2},
                             {LostKind::kAck, 1, 10, false, 1}};
  const std::string text = text_of(o);
  EXPECT_EQ(text.substr(text.find("[[fault]]")), R"([[fault]]
link = "nic0-nic1"
type = "drop"
connection = "0"
kind = "request"
psn = 7
turn = "due"

[[fault]]
link = "nic1-nic0"
type = "drop"
connection = "0"
kind = "response"
psn = 8
turn = "ahead"

[[fault]]
link = "nic1-nic0"
type = "drop"
connection = "0"
kind = "request"
psn = 9
turn = "due"
copy = 2

[[fault]]
link = "nic0-nic1"
type = "drop"
connection = "0"
kind = "ack"
psn = 10
)");
}

TEST(ScenarioText, NotesAreComments) {
  Observed o = observed();
  o.notes = {"3 packets are left out"};
  EXPECT_NE(scenario_text(o).find("nic0 is 10.1.1.1, nic1 is 10.1.1.2.\n# 3 packets are left out\n"),
            std::string::npos);
}

}  // namespace
}  // namespace sim
