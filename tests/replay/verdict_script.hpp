// Short scripts of what two sides send, and a summary of the verdicts.
#pragma once
#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include "sim/replay/verdict/answers.hpp"
#include "sim/replay/verdict/counts.hpp"
#include "sim/replay/verdict/requests.hpp"
#include "sim/replay/verdict/text.hpp"

namespace script {

// "2 match, 1 missing, 1 nak_after_rnr": what was given at least once.
inline std::string summary(const sim::VerdictCounts& counts) {
  std::string text;
  const auto add = [&text](uint64_t count, const std::string& name) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  };
  for (size_t i = 0; i < sim::kVerdicts; i++) add(counts.verdicts[i].count, sim::name_of(sim::Verdict(i)));
  for (size_t i = 0; i < sim::kQuirks; i++) add(counts.departures[i].count, sim::row_of(sim::Quirk(i)).name);
  return text;
}

inline const std::map<std::string, uint8_t>& opcodes() {
  static const std::map<std::string, uint8_t> table = {
      {"send", 0x04},       {"send_inv", 0x17},  {"write_first", 0x06}, {"write_middle", 0x07}, {"write_last", 0x08},
      {"write", 0x0a},      {"write_imm", 0x0b}, {"read", 0x0c},        {"first", 0x0d},        {"middle", 0x0e},
      {"last", 0x0f},       {"only", 0x10},      {"ack", 0x11},         {"rnr", 0x11},          {"nak", 0x11},
      {"atomic_ack", 0x12}, {"atomic", 0x14}};
  return table;
}

// A packet by words: its name, PSN, then "key=value".
struct Words {
  std::string who, name;
  uint32_t psn = 0;
  std::map<std::string, uint64_t> values;

  explicit Words(const std::string& command) {
    std::istringstream in(command);
    in >> who >> name >> psn;
    std::string word;
    while (in >> word)
      values[word.substr(0, word.find('='))] = std::stoull(word.substr(word.find('=') + 1), nullptr, 0);
  }
  uint64_t value(const std::string& key, uint64_t otherwise) const {
    const auto found = values.find(key);
    return found == values.end() ? otherwise : found->second;
  }
  sim::TransportPacket packet() const {
    sim::TransportPacket p;
    p.opcode = opcodes().at(name);
    p.psn = psn;
    p.ack_request = value("ackreq", 0) != 0;
    p.solicited = value("solicited", 0) != 0;
    p.virtual_address = value("va", 0);
    p.remote_key = uint32_t(value("rkey", 0));
    p.dma_length = uint32_t(value("len", 0));
    p.immediate = uint32_t(value("imm", 0));
    const bool is_data = name == "first" || name == "middle" || name == "last" || name == "only";
    p.payload_bytes = uint32_t(value("bytes", is_data ? 1024 : 0));
    p.msn = uint32_t(value("msn", 0));
    p.syndrome = uint8_t(value("syndrome", name == "ack" ? 0x1f : name == "rnr" ? 0x2c : name == "nak" ? 0x60 : 0));
    return p;
  }
};

// Commands, a ';' between them. "restart . PSN msn=M", "hole . PSN n=N", "ask REQUEST PSN n=PSNS ackreq=1",
// "again REQUEST PSN", "C ANSWER PSN msn=M", "S ANSWER PSN msn=M".
inline sim::Verdicts run_answers(const std::string& text, const sim::VerdictOptions& options = {},
                                 bool answers_captured = true) {
  sim::Verdicts verdicts;
  sim::AnswerVerdict judge(options, verdicts);
  std::istringstream in(text);
  std::string command;
  for (uint64_t index = 1; std::getline(in, command, ';'); index++) {
    const Words w(command);
    const auto psns = uint32_t(w.value("n", 1));
    if (w.who == "restart")
      judge.restart(w.psn, uint32_t(w.value("msn", 0)));
    else if (w.who == "hole")
      judge.not_fed(w.psn, psns);
    else if (w.who == "C")
      judge.captured(w.packet(), index, int64_t(index) * 1000);
    else if (w.who == "S")
      judge.simulated(w.packet());
    else
      judge.request(w.psn, psns, w.packet().opcode, w.value("ackreq", 0) != 0, w.who == "again", index);
  }
  judge.finish(answers_captured);
  return verdicts;
}

// "C REQUEST PSN n=PSNS", "again REQUEST PSN" (captured, not for the first time), "S REQUEST PSN", "fed ANSWER PSN",
// "hole . PSN n=N", "restart . PSN".
inline sim::Verdicts run_requests(const std::string& text, const sim::VerdictOptions& options = {}) {
  sim::Verdicts verdicts;
  sim::RequestVerdict judge(options, verdicts);
  std::istringstream in(text);
  std::string command;
  for (uint64_t index = 1; std::getline(in, command, ';'); index++) {
    const Words w(command);
    const auto psns = uint32_t(w.value("n", 1));
    if (w.who == "restart")
      judge.restart(w.psn);
    else if (w.who == "hole")
      judge.not_fed(w.psn, psns);
    else if (w.who == "fed")
      judge.answered(w.packet());
    else if (w.who == "S")
      judge.simulated(w.packet(), psns);
    else
      judge.captured(w.packet(), psns, w.who == "C", index, int64_t(index) * 1000);
  }
  judge.finish();
  return verdicts;
}

}  // namespace script
