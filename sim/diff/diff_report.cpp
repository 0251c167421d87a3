#include "sim/diff/diff_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace sim {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_number_float()) return fmt::format("{:.9g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string percent_text(const Change& change) {
  return std::isfinite(change.percent()) ? fmt::format("{:>12}", fmt::format("{:+.2f} %", change.percent())) : "";
}

std::string change_rows(const std::string& heading, const std::vector<Change>& list) {
  if (list.empty()) return "";
  size_t width = 50;
  for (const Change& c : list) width = std::max(width, c.path.size());
  std::string text = fmt::format(" {:<{}}{:>16}{:>16}{:>12}\n", heading, width + 2, "A", "B", "change");
  for (const Change& c : list)
    text += fmt::format("   {:<{}}{:>16}{:>16}{}\n", c.path, width, value_text(c.a), value_text(c.b), percent_text(c));
  return text;
}

// The averages of the account alone, under the names of their rows.
std::string account_rows(const std::vector<Change>& all) {
  constexpr std::string_view kEnd = ".average";
  std::vector<Change> averages;
  for (const Change& c : all) {
    const size_t end = c.path.rfind(kEnd);
    if (end != std::string::npos && end + kEnd.size() == c.path.size())
      averages.push_back({c.path.substr(0, end), c.a, c.b});
  }
  std::string text = change_rows("account, averages", averages);
  if (averages.size() < all.size())
    text += fmt::format(" account: {} more values differ; --json has them\n", all.size() - averages.size());
  return text;
}

std::string packet_text(const char* run, const std::optional<PacketAt>& packet) {
  if (!packet) return fmt::format("     {}  no such packet\n", run);
  return fmt::format("     {}  frame {}, {} ps, NIC cycle {}: {}\n", run, packet->frame, packet->time_ps, packet->cycle,
                     packet->line);
}

std::string what_differs(const PacketDifference& d) {
  if (d.byte) return fmt::format("bytes, from byte {} of the frame", *d.byte);
  return d.a && d.b ? "only the time" : "one run ends before";
}

std::string difference_text(const char* title, const SenderDiff& s, const PacketDifference& d) {
  return fmt::format("   {}: packet {} of {} in {}: {}\n{}{}", title, d.packet, s.sender, s.capture, what_differs(d),
                     packet_text("A", d.a), packet_text("B", d.b));
}

const SenderDiff* earliest_bytes(const std::vector<SenderDiff>& senders) {
  const SenderDiff* first = nullptr;
  for (const SenderDiff& s : senders)
    if (s.first_bytes && (!first || s.first_bytes->time_ps() < first->first_bytes->time_ps())) first = &s;
  return first;
}

std::string first_text(const std::optional<PacketDifference>& d) {
  return d ? fmt::format("{} ({} ps)", d->packet, d->time_ps()) : "-";
}

std::string packets_text(const RunDiff& diff) {
  if (!earliest(diff.senders)) return "";
  std::string text = fmt::format(" {:<12}{:<19}{:>9}{:>9}{:>13}   {:<26}{}\n", "packets in", "of", "A", "B",
                                 "other times", "first that differs", "first with other bytes");
  for (const SenderDiff& s : diff.senders)
    text += fmt::format("   {:<10}{:<19}{:>9}{:>9}{:>13}   {:<26}{}\n", s.capture, s.sender, s.packets_a, s.packets_b,
                        s.other_times, first_text(s.first), first_text(s.first_bytes));
  const SenderDiff* any = earliest(diff.senders);
  const SenderDiff* bytes = earliest_bytes(diff.senders);
  text += difference_text("first difference", *any, *any->first);
  const bool told = bytes == any && any->first->packet == any->first_bytes->packet;
  if (bytes && !told) text += difference_text("first other bytes", *bytes, *bytes->first_bytes);
  return text;
}

std::string workload_text(const WorkloadDiff& workload, bool name_it) {
  std::string text;
  for (size_t i = 0; i < kTopics; i++)
    text += Topic(i) == Topic::account ? account_rows(workload.changes[i])
                                       : change_rows(name_of(Topic(i)), workload.changes[i]);
  return name_it && !text.empty() ? fmt::format(" {}\n{}", workload.workload, text) : text;
}

Json change_json(const std::vector<Change>& list) {
  Json array = Json::array();
  for (const Change& c : list)
    array.push_back({{"path", c.path},
                     {"a", c.a},
                     {"b", c.b},
                     {"percent", std::isfinite(c.percent()) ? Json(c.percent()) : Json()}});
  return array;
}

Json packet_json(const std::optional<PacketAt>& packet) {
  if (!packet) return nullptr;
  return {{"frame", packet->frame}, {"time_ps", packet->time_ps}, {"cycle", packet->cycle}, {"line", packet->line}};
}

Json difference_json(const std::optional<PacketDifference>& d) {
  if (!d) return nullptr;
  return {{"packet", d->packet},
          {"what", d->byte        ? "bytes"
                   : d->a && d->b ? "time"
                                  : "absent"},
          {"byte", d->byte ? Json(*d->byte) : Json()},
          {"a", packet_json(d->a)},
          {"b", packet_json(d->b)}};
}

Json sender_json(const SenderDiff& s) {
  return {{"capture", s.capture},
          {"sender", s.sender},
          {"packets_a", s.packets_a},
          {"packets_b", s.packets_b},
          {"other_times", s.other_times},
          {"first", difference_json(s.first)},
          {"first_bytes", difference_json(s.first_bytes)}};
}

// A name as a member of JSON.
std::string member(const char* name) {
  std::string text = name;
  for (char& c : text)
    if (c == ' ') c = '_';
  return text;
}

}  // namespace

std::string diff_text(const RunDiff& diff) {
  std::string text = fmt::format(" A: {}\n B: {}\n", diff.folder_a, diff.folder_b);
  text += change_rows("parameters", diff.parameters);
  text += packets_text(diff);
  for (const WorkloadDiff& workload : diff.workloads) text += workload_text(workload, diff.workloads.size() > 1);
  text += change_rows("area", diff.area);
  for (const FileDiff& file : diff.files) text += fmt::format(" {}: {}\n", file.file, file.what);
  for (const std::string& note : diff.notes) text += fmt::format(" {}\n", note);
  return text + (diff.differ() ? " the runs differ\n" : " the runs are the same\n");
}

Json diff_json(const RunDiff& diff) {
  Json j;
  j["a"] = diff.folder_a;
  j["b"] = diff.folder_b;
  j["differ"] = diff.differ();
  const SenderDiff* first = earliest(diff.senders);
  j["first"] = first ? sender_json(*first) : Json();
  j["packets"] = Json::array();
  for (const SenderDiff& s : diff.senders) j["packets"].push_back(sender_json(s));
  j["parameters"] = change_json(diff.parameters);
  j["workloads"] = Json::array();
  for (const WorkloadDiff& w : diff.workloads) {
    Json workload = {{"workload", w.workload}};
    for (size_t i = 0; i < kTopics; i++) workload[member(name_of(Topic(i)))] = change_json(w.changes[i]);
    j["workloads"].push_back(workload);
  }
  j["area"] = change_json(diff.area);
  j["files"] = Json::array();
  for (const FileDiff& file : diff.files) j["files"].push_back({{"file", file.file}, {"what", file.what}});
  j["notes"] = diff.notes;
  return j;
}

}  // namespace sim
