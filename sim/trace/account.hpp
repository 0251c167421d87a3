// Where the time of a message goes: the walk back from its end over the events that released each other, to its post.
// Each step of the walk is a span of time in one row, so the rows of a message sum to its total exactly.
//
// A row is a stage, or something between the stages: the CPU (`host`), PCIe, the line (`mac`: serialisation; `wire`:
// propagation), or the wait for the next edge of the NIC's clock (`clock`). It parts into service, which the message
// spends on itself, and queueing, which it spends on other messages or on room behind the row.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/trace/recorder.hpp"

namespace sim {

struct RowTime {
  uint16_t row = 0;
  Picoseconds service = 0, queueing = 0;
  Picoseconds total() const { return service + queueing; }
};

struct MessageAccount {
  uint16_t node = 0;
  uint32_t qpn = 0, index = 0;
  uint64_t bytes = 0;
  Picoseconds begun = 0;  // the CPU begins the post
  Picoseconds completed = 0;
  Picoseconds visible = 0, received = 0;  // 0 for a message without bytes, without receive completion
  std::vector<RowTime> to_completion, to_visible, to_received;  // in the order in which the walk back met them
};

class Account {
 public:
  explicit Account(Recorder& recorder);
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // In the order of completion.
  const std::vector<MessageAccount>& messages() const { return messages_; }
  // "nic0.rx.bth", "nic0.pcie", "wire".
  std::string row_name(uint16_t row) const;

  // A message a line; the columns are documented in docs/where-the-time-goes.md.
  std::string latency_csv() const;
  // What `--account` prints, and the same for result.json. For after the run.
  std::string table();
  nlohmann::ordered_json json();

 private:
  struct Row;
  std::vector<RowTime> walk(const TracedMessage& message, EventId end) const;
  void charge(std::vector<RowTime>& rows, uint32_t message, EventId posted, EventId event, Picoseconds from,
              Picoseconds to) const;
  uint16_t part_row(unsigned stage, hw::Part part) const;

  Recorder& recorder_;
  std::vector<MessageAccount> messages_;
};

}  // namespace sim
