#include "sim/replay/verdict/text.hpp"

#include <fmt/format.h>

#include "traces/opcode.hpp"

namespace sim {

namespace {

constexpr const char* kNames[kVerdicts] = {"match", "equivalent",     "different", "missing",
                                           "extra", "not comparable", "unseen"};

using traces::Header;

std::string fields_of(Header header, const TransportPacket& p) {
  switch (header) {
    case Header::kReth:
      return fmt::format(" VA 0x{:x} rkey 0x{:x} DMALen {}", p.virtual_address, p.remote_key, p.dma_length);
    case Header::kAeth:
      return fmt::format(" 0x{:02x} MSN {}", p.syndrome, p.msn);
    case Header::kImmDt:
      return fmt::format(" immediate 0x{:x}", p.immediate);
    default:
      return {};
  }
}

std::string describe(const std::optional<Sighting>& sighting) {
  if (!sighting) return "nothing";
  const TransportPacket& p = sighting->packet;
  std::string text = traces::opcode_name(p.opcode) + fmt::format(" PSN {}", p.psn);
  for (const Header header : traces::operation_of(p.opcode).headers) text += fields_of(header, p);
  if (p.payload_bytes > 0) text += fmt::format(" {} bytes", p.payload_bytes);
  return text;
}

nlohmann::ordered_json examples_of(const VerdictTally& tally) {
  nlohmann::ordered_json texts = nlohmann::ordered_json::array();
  for (const VerdictCase& example : tally.examples) texts.push_back(to_string(example));
  return texts;
}

}  // namespace

const char* name_of(Verdict verdict) {
  return kNames[size_t(verdict)];
}

std::string to_string(const VerdictCase& c) {
  std::string where = "packet ?";
  if (c.captured)
    where = fmt::format("packet {} at {}.{:09} s", c.captured->index, c.captured->time_ns / 1000000000,
                        c.captured->time_ns % 1000000000);
  else if (c.simulated)
    where = fmt::format("after packet {}", c.simulated->index);
  const std::string packets = c.packets > 1 ? fmt::format(", {} packets", c.packets) : "";
  return fmt::format("{}: captured {}; simulated {} ({}{})", where, describe(c.captured), describe(c.simulated),
                     c.reason, packets);
}

std::vector<std::string> lines(const char* what, const VerdictCounts& counts) {
  std::string head = fmt::format("{}:", what);
  for (size_t i = 0; i < kVerdicts; i++) {
    const bool is_failure_or_match = i <= size_t(Verdict::kExtra);
    const uint64_t count = counts.verdicts[i].count;
    if (is_failure_or_match || count > 0) head += fmt::format("{} {} {}", i == 0 ? "" : ",", count, kNames[i]);
  }
  std::vector<std::string> text = {head};
  for (size_t i = 0; i < kQuirks; i++)
    if (counts.departures[i].count > 0)
      text.push_back(
          fmt::format("  {} {}: {}", counts.departures[i].count, row_of(Quirk(i)).name, row_of(Quirk(i)).sentence));
  for (const Verdict verdict : {Verdict::kDifferent, Verdict::kMissing, Verdict::kExtra})
    for (const VerdictCase& example : counts.verdicts[size_t(verdict)].examples)
      text.push_back(fmt::format("  {}: {}", name_of(verdict), to_string(example)));
  return text;
}

std::vector<std::string> lines(const Verdicts& v) {
  std::vector<std::string> text;
  const auto append = [&text](const char* what, const VerdictCounts& counts) {
    if (counts.empty()) return;
    const std::vector<std::string> more = lines(what, counts);
    text.insert(text.end(), more.begin(), more.end());
  };
  append("answers", v.answers);
  append("ACKs one by one", v.exact_acks);
  append("requests", v.requests);
  append("READ data", v.data);
  return text;
}

nlohmann::ordered_json to_json(const VerdictCounts& counts) {
  nlohmann::ordered_json j;
  for (size_t i = 0; i < kVerdicts; i++) {
    std::string key = kNames[i];
    for (char& c : key) c = c == ' ' ? '_' : c;
    j[key] = counts.verdicts[i].count;
    if (i != size_t(Verdict::kMatch) && counts.verdicts[i].count > 0)
      j["examples"][key] = examples_of(counts.verdicts[i]);
  }
  for (size_t i = 0; i < kQuirks; i++) {
    const VerdictTally& tally = counts.departures[i];
    const QuirkRow& row = row_of(Quirk(i));
    if (tally.count == 0) continue;
    j["departures"][row.name] = {
        {"count", tally.count}, {"row", row.row}, {"sentence", row.sentence}, {"examples", examples_of(tally)}};
  }
  return j;
}

nlohmann::ordered_json to_json(const Verdicts& v) {
  nlohmann::ordered_json j;
  j["good"] = v.good();
  const auto append = [&j](const char* key, const VerdictCounts& counts) {
    if (!counts.empty()) j[key] = to_json(counts);
  };
  append("answers", v.answers);
  append("exact_acks", v.exact_acks);
  append("requests", v.requests);
  append("data", v.data);
  if (!v.data.empty()) {
    j["data"]["verified_bytes"] = v.bytes.verified_bytes;
    j["data"]["seeded_bytes"] = v.bytes.seeded_bytes;
    j["data"]["different_bytes"] = v.bytes.different_bytes;
  }
  return j;
}

}  // namespace sim
