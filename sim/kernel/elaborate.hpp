// Builds the simulation of a NIC from its wiring: names and sizes its streams, registers its stages with their clock
// domain, and keeps the list of both for reports, checks and the "may wait for" graph.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "hw/bus/ports.hpp"
#include "hw/timing.hpp"
#include "sim/kernel/domain.hpp"
#include "sim/kernel/token_look.hpp"

namespace sim {

// Depths that replace those of hw/timing.hpp, by stage ("rx.bth"), for all outputs of the stage.
using StageDepths = std::map<std::string, unsigned>;

class Elaboration {
 public:
  // `path` names the NIC in the hierarchy ("nic0"); `width` selects the depths.
  Elaboration(std::string path, unsigned width, Domain& domain, StageDepths depths = {})
      : path_(std::move(path)), width_(width), domain_(domain), depths_(std::move(depths)) {}

  template <class T>
  void stream(hls::stream<T>& s, const char* name, unsigned capacity, hw::Kind kind) {
    s.configure(hw::StreamSpec{path_ + "." + name, capacity, kind});
    streams_.push_back(&s);
    lookers_.push_back(&look_at_newest<T>);
  }
  template <class T>
  void port(hls::stream<T>& s, const char* name, unsigned capacity, hw::Kind kind) {
    stream(s, name, capacity, kind);
  }
  template <class S, class... P>
  int stage(S& stage, const char* name, P... ports) {
    const int id = domain_.add(path_ + "." + name, stage, ports.s...);
    unsigned output = 0;
    (connect(ports, name, id, output), ...);
    return id;
  }
  template <class A, class B>
  void independent(hls::stream<A>& input, hls::stream<B>& output) {
    independent_.emplace_back(&input, &output);
  }

  const std::vector<hw::StreamBase*>& streams() const { return streams_; }
  // How to look at the newest token of each stream, in the order of streams().
  const std::vector<TokenLooker>& lookers() const { return lookers_; }
  const std::vector<std::pair<const hw::StreamBase*, const hw::StreamBase*>>& independences() const {
    return independent_;
  }

 private:
  template <class T>
  void connect(hw::In<T> in, const char*, int id, unsigned&) {
    in.s.connect_reader({&domain_.scheduler(), id});
    domain_.stages()[size_t(id)].inputs.push_back(&in.s);
  }
  template <class T>
  void connect(hw::Out<T> out, const char* name, int id, unsigned& output) {
    out.s.connect_writer({&domain_.scheduler(), id}, depth(name, output++));
    domain_.stages()[size_t(id)].outputs.push_back(&out.s);
  }

  unsigned depth(const char* stage, unsigned output) const {
    const auto replaced = depths_.find(stage);
    return replaced == depths_.end() ? hw::stage_depth(stage, width_, output) : replaced->second;
  }

  std::string path_;
  unsigned width_;
  Domain& domain_;
  StageDepths depths_;
  std::vector<hw::StreamBase*> streams_;
  std::vector<TokenLooker> lookers_;
  std::vector<std::pair<const hw::StreamBase*, const hw::StreamBase*>> independent_;
};

// Streams too small for one token a cycle: min(1, capacity / (depth + latency + 1)) (rule 2). One line each.
std::vector<std::string> throughput_warnings(const std::vector<hw::StreamBase*>& streams);

// A cycle of "may wait for" among the stages (rule 7), as the list of stream names on it; empty when there is none.
// An input of a stage waits for room in each of its outputs, except where the wiring calls the pair independent.
std::vector<std::string> wait_cycle(const Domain& domain, const Elaboration& elaboration);

// What the streams and stages still hold: one line each, empty when the run ended clean.
std::vector<std::string> leftovers(const Domain& domain, const std::vector<hw::StreamBase*>& streams);

// Which stage waits for which stream, for the watchdog: one line for each stage with input it does not take.
std::vector<std::string> waiting(const Domain& domain);

}  // namespace sim
