#include "sim/kernel/elaborate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sim {

using hw::StreamBase;

std::vector<std::string> throughput_warnings(const std::vector<StreamBase*>& streams) {
  std::vector<std::string> lines;
  for (const StreamBase* s : streams) {
    const unsigned need = s->depth() + hw::latency_of(s->spec().kind) + 1;
    if (s->spec().capacity < need)
      lines.push_back(fmt::format("{}: capacity {} allows {:.2f} tokens a cycle, {} would allow 1", s->spec().name,
                                  s->spec().capacity, double(s->spec().capacity) / need, need));
  }
  return lines;
}

namespace {

// Depth-first search for a cycle over the streams: an edge leads from an input to each output it may wait for.
class WaitGraph {
 public:
  WaitGraph(const Domain& domain, const Elaboration& elaboration) {
    const auto& independent = elaboration.independences();
    for (const StageRecord& stage : domain.stages())
      for (const StreamBase* in : stage.inputs)
        for (const StreamBase* out : stage.outputs)
          if (std::find(independent.begin(), independent.end(), std::make_pair(in, out)) == independent.end())
            edges_[in].push_back(out);
  }
  std::vector<std::string> cycle() {
    for (const auto& edge : edges_)
      if (visit(edge.first)) return names_;
    return {};
  }

 private:
  bool visit(const StreamBase* s) {
    if (state_[s] == kDone) return false;
    if (state_[s] == kOnPath) {
      const auto first = std::find(path_.begin(), path_.end(), s);
      for (auto it = first; it != path_.end(); ++it) names_.push_back((*it)->spec().name);
      return true;
    }
    state_[s] = kOnPath;
    path_.push_back(s);
    for (const StreamBase* next : edges_[s])
      if (visit(next)) return true;
    path_.pop_back();
    state_[s] = kDone;
    return false;
  }

  enum State { kNew, kOnPath, kDone };
  std::map<const StreamBase*, std::vector<const StreamBase*>> edges_;
  std::map<const StreamBase*, State> state_;
  std::vector<const StreamBase*> path_;
  std::vector<std::string> names_;
};

std::string fill_of(const StreamBase& s) {
  return fmt::format("{} ({} of {})", s.spec().name, s.fill(), s.spec().capacity);
}

}  // namespace

std::vector<std::string> wait_cycle(const Domain& domain, const Elaboration& elaboration) {
  return WaitGraph(domain, elaboration).cycle();
}

std::vector<std::string> leftovers(const Domain& domain, const std::vector<StreamBase*>& streams) {
  std::vector<std::string> lines;
  for (const StreamBase* s : streams)
    if (s->fill() != 0) lines.push_back("stream " + fill_of(*s) + " is not empty");
  for (const StageRecord& stage : domain.stages())
    if (stage.held && stage.held(stage.binding.get()) != 0)
      lines.push_back(fmt::format("stage {} still holds {}", stage.name, stage.held(stage.binding.get())));
  return lines;
}

std::vector<std::string> waiting(const Domain& domain) {
  std::vector<std::string> lines;
  for (const StageRecord& stage : domain.stages())
    for (const StreamBase* in : stage.inputs) {
      if (in->fill() == 0) continue;
      std::string why;
      for (const StreamBase* out : stage.outputs)
        if (out->fill() == out->spec().capacity) why += (why.empty() ? "" : ", ") + fill_of(*out);
      lines.push_back(fmt::format("{} does not take {}; it waits for {}", stage.name, fill_of(*in),
                                  why.empty() ? "its other inputs or its own state" : "room in " + why));
    }
  return lines;
}

}  // namespace sim
