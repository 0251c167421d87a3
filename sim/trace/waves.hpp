// waves.vcd (IEEE 1364, value change dump) of the streams and stages of a traced run: of a stream `valid` (a token can
// be read), `ready` (there is room) and `fill`, of a stage `active` (the step moved a token). Values are those at the
// start of a cycle, as the stages see them.
#pragma once
#include <iosfwd>
#include <map>
#include <vector>

#include "sim/trace/recorder.hpp"
#include "sim/trace/window.hpp"

namespace sim {

class Waves : public TraceListener {
 public:
  static constexpr size_t kMostChanges = 4000000;

  Waves(const Recorder& recorder, const TraceWindow& window) : recorder_(recorder), window_(window) {}

  void step(unsigned stage, uint32_t tag, Picoseconds time) override;
  void moved(unsigned node, const StreamTrack& stream, hw::Cycles cycle) override;

  // For after the run.
  void write(std::ostream& out);
  bool empty() const { return changes_.empty(); }
  Picoseconds full_at() const { return full_at_; }  // as in Timeline

 private:
  enum : uint32_t { kReady = 1, kFill = 2 };  // of a stream, behind its `valid`
  struct Signal {
    std::string name;  // "nic0.rx.bth_in.valid"
    unsigned bits;
    uint32_t initial;
  };
  struct Change {
    Picoseconds time;
    uint32_t signal, value;
  };

  void sort_signals();
  void change(Picoseconds time, uint32_t signal, uint32_t value);
  // The first of the signals of a stream or stage; kNone when it is not wanted.
  uint32_t signals_of(const hw::StreamBase& stream);
  uint32_t signal_of(unsigned stage);
  static constexpr uint32_t kNone = ~uint32_t(0);

  const Recorder& recorder_;
  TraceWindow window_;
  std::vector<Signal> signals_;
  std::map<const void*, uint32_t> known_;  // by stream or stage
  std::vector<Change> changes_;
  Picoseconds full_at_ = 0;
};

}  // namespace sim
