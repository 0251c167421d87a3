#include <fmt/format.h>

#include "sim/config/version.hpp"
#include "sim/extract/extract.hpp"

namespace sim {
namespace {

const char* name_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kSend:
      return "send";
    case MessageKind::kRead:
      return "read";
    case MessageKind::kWrite:
      break;
  }
  return "write";
}

const char* name_of(LostKind kind) {
  switch (kind) {
    case LostKind::kResponse:
      return "response";
    case LostKind::kAck:
      return "ack";
    case LostKind::kRequest:
      break;
  }
  return "request";
}

// One line of work, without its count.
std::string work_line(unsigned host, const ObservedMessage& m, const Trigger& t) {
  std::string line = host == 0 ? "" : "from = \"nic1\", ";
  line += fmt::format("op = \"{}\", size = {}", name_of(m.kind), m.bytes);
  if (m.immediate) line += fmt::format(", imm = {}", *m.immediate);
  if (t.depth != 0) line += fmt::format(", depth = {}", t.depth);
  if (t.received != 0) line += fmt::format(", received = {}", t.received);
  if (t.think_ns != 0) line += fmt::format(", think_ns = {}", t.think_ns);
  return line;
}

// Lines that are alike become one with a count.
void add_work(std::string& out, const ObservedConnection& c, unsigned host, int64_t start_ns) {
  const std::vector<Trigger> triggers = triggers_of(c, host, start_ns);
  std::string line;
  uint64_t count = 0;
  const auto put = [&] {
    if (count == 1) out += fmt::format("  {{{}}},\n", line);
    if (count > 1) out += fmt::format("  {{{}, count = {}}},\n", line, count);
  };
  for (size_t i = 0; i < triggers.size(); i++) {
    std::string next = work_line(host, c.messages[host][i], triggers[i]);
    if (next == line && triggers[i].received == 0) {
      count++;
      continue;
    }
    put();
    line = std::move(next);
    count = 1;
  }
  put();
}

void add_connection(std::string& out, const ObservedConnection& c, size_t number, int64_t start_ns) {
  out += fmt::format("\n[[connection]]\nname = \"{}\"  # QPN {:#x} and {:#x}\n", number, c.qpn[0], c.qpn[1]);
  out += fmt::format("psn = [{}, {}]\npmtu = {}\n", c.first_psn[0].value_or(0), c.first_psn[1].value_or(0), c.path_mtu);
  if (c.timeout) out += fmt::format("timeout = {}\n", *c.timeout);
  if (c.retry_count) out += fmt::format("retry_count = {}\n", *c.retry_count);
  out += "work = [\n";
  for (unsigned host : {0u, 1u}) add_work(out, c, host, start_ns);
  out += "]\n";
}

void add_loss(std::string& out, const ObservedLoss& loss, size_t connection) {
  const bool towards_1 = (loss.kind == LostKind::kRequest) == (loss.requester == 0);
  out += fmt::format("\n[[fault]]\nlink = \"{}\"\ntype = \"drop\"\nconnection = \"{}\"\nkind = \"{}\"\npsn = {}\n",
                     towards_1 ? "nic0-nic1" : "nic1-nic0", connection, name_of(loss.kind), loss.psn);
  if (loss.kind != LostKind::kAck) out += fmt::format("turn = \"{}\"\n", loss.ahead ? "ahead" : "due");
  if (loss.copy != 1) out += fmt::format("copy = {}\n", loss.copy);
}

}  // namespace

std::string scenario_text(const Observed& o) {
  std::string out = fmt::format("# Made by balboa {} extract. nic0 is {}, nic1 is {}.\n", version(),
                                traces::to_string(o.hosts[0]), traces::to_string(o.hosts[1]));
  for (const std::string& note : o.notes) out += "# " + note + "\n";
  for (size_t i = 0; i < o.connections.size(); i++) add_connection(out, o.connections[i], i, o.first_ns);
  for (size_t i = 0; i < o.connections.size(); i++)
    for (const ObservedLoss& loss : o.connections[i].losses) add_loss(out, loss, i);
  return out;
}

}  // namespace sim
