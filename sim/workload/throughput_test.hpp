// Initiators at one node or at both, each with the receiver that it needs at the other, and what they achieved.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/receiver.hpp"
#include "sim/testbed/testbed.hpp"
#include "sim/workload/workload.hpp"

namespace sim {

template <class Initiator>
class ThroughputTest : public Activity {
 public:
  explicit ThroughputTest(models::Sides sides) : sides_(std::move(sides)) {}

  bool done() const override {
    const auto done = [](const auto& w) { return w->done(); };
    return std::all_of(directions_.begin(), directions_.end(), done) &&
           (errors() != 0 || std::all_of(receivers_.begin(), receivers_.end(), done));
  }
  uint64_t progress() const override {
    uint64_t sum = 0;
    for (const auto& w : directions_) sum += w->completions().size();
    return sum;
  }
  uint64_t errors() const {
    uint64_t sum = 0;
    for (const auto& w : directions_) sum += w->errors();
    for (const auto& w : receivers_) sum += w->errors();
    return sum;
  }

  void report(WorkloadResult& r) {
    r.errors = errors();
    r.memory_equal = true;
    for (size_t i = 0; i < directions_.size(); i++) {
      const auto& w = directions_[i];
      r.directions.push_back(rates_of(w->posts(), w->completions()));
      r.directions.back().from = from_[i];
      r.outcome.end = std::max(r.outcome.end, r.directions.back().last_completion);
      r.messages += w->completions().size();
      if (w->errors() != 0 && r.first_error.empty()) r.first_error = models::name_of(w->first_error());
      r.memory_equal = w->verify() && r.memory_equal;
      for (const models::DoneMessage& m : w->completions()) r.samples.push_back(m.completion - m.post);
    }
    if (r.errors != 0 && r.first_error.empty()) r.first_error = "a receive that is not what was sent";
    std::sort(r.samples.begin(), r.samples.end());
  }

 protected:
  const models::Sides& sides() const { return sides_; }
  const models::Side& side(size_t node) const { return node == 0 ? sides_.a : sides_.b; }
  // The initiator of node `from`, as a stage of that name. Its receiver keeps `rx_depth` receives posted.
  void add(Testbed& bed, size_t from, const std::string& name, std::unique_ptr<Initiator> initiator, unsigned rx_depth,
           const models::CpuParams& receive_cpu) {
    directions_.push_back(std::move(initiator));
    from_.push_back(from);
    Initiator& workload = *directions_.back();
    workload.waker = bed.node(from).attach(name, workload);
    if (!workload.needs_receiver()) return;
    receivers_.push_back(
        std::make_unique<models::Receiver>(workload.receiver_params(rx_depth, receive_cpu), side(1 - from)));
    receivers_.back()->waker = bed.node(1 - from).attach("host.receiver", *receivers_.back());
  }

 private:
  models::Sides sides_;
  std::vector<std::unique_ptr<Initiator>> directions_;
  std::vector<size_t> from_;  // the node of each
  std::vector<std::unique_ptr<models::Receiver>> receivers_;
};

}  // namespace sim
