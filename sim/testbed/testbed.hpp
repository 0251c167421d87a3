// A testbed: nodes joined by links, run until there is nothing left to do, watched, and checked at the end. One a
// process (SystemC has one simulation context).
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/link.hpp"
#include "sim/report/progress.hpp"
#include "sim/testbed/node.hpp"
#include "sim/testbed/wire_capture.hpp"
#include "sim/trace/trace.hpp"

namespace sim {

// What keeps a testbed busy, as far as the watchdog must know it.
class Activity {
 public:
  virtual ~Activity() = default;
  virtual bool done() const = 0;
  virtual uint64_t progress() const = 0;         // grows with everything that is achieved
  virtual bool watched() const { return true; }  // false: long silence is in the nature of the work
  // True: what is left in the NIC at the end is in the nature of the work.
  virtual bool may_leave_work() const { return false; }
};

struct Outcome {
  hw::Picoseconds end = 0;            // the last cycle in which a token moved, or a CPU saw a completion
  std::vector<std::string> problems;  // empty: the work is done and nothing is left anywhere
  std::vector<std::string> left;      // in the NIC, by work that may leave some
  std::shared_ptr<Trace> trace;       // null: none was asked for
};

class Testbed {
 public:
  using NodeMaker = std::function<std::unique_ptr<Node>(unsigned number, const Config& config)>;

  Testbed(const Config& config, size_t nodes, const NodeMaker& make = make_node);

  Node& node(size_t i) { return *nodes_[i]; }
  size_t size() const { return nodes_.size(); }
  // Joins two nodes both ways.
  void join(size_t a, size_t b, models::FaultPlan a_to_b = {}, models::FaultPlan b_to_a = {});
  const std::vector<std::unique_ptr<models::Link>>& links() const { return links_; }
  // Every node writes what it sends and receives to `file_of(node name)`.
  void capture(const std::function<std::string(const std::string&)>& file_of);

  // Runs until nothing moves any more. A run that stops before `activity` is done, or in which nothing is achieved for
  // sim.watchdog_us, is a problem, and so is whatever is left in a stream or a stage at the end.
  Outcome run(const Activity& activity, bool show_progress);

 private:
  hw::Picoseconds run_ahead() const;
  Progress progress_now(double wall_s) const;
  std::vector<std::string> stuck(const std::string& why) const;

  void trace(Node& node);

  const Config& config_;
  std::shared_ptr<Trace> trace_;  // before the nodes, which tell it their steps
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<models::Link>> links_;
  std::vector<std::unique_ptr<WireCapture>> captures_;
};

}  // namespace sim
