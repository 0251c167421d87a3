// Runs a stage that serves packets, a control plane and, where there are any, events of another stage against a plain
// model, which is asked in the order in which the stage takes: Model::packet(token), control(token) and event(token).
#pragma once
#include "bench.hpp"
#include "token_text.hpp"

namespace test {

struct NoEvent {};

template <class Packet, class Control, class Event = NoEvent>
class TableBench {
 public:
  // Percentages: how often packets, control requests and events are offered, and how often the sinks of a test take.
  struct Pace {
    unsigned packets = 100, control = 100, sink = 100, events = 50;
  };

  TableBench(uint64_t seed, const Pace& pace, std::vector<Packet> packets, std::vector<Control> controls,
             std::vector<Event> events = {})
      : bench(seed), packets_(std::move(packets)), controls_(std::move(controls)), events_(std::move(events)) {
    configure(in, "in", 4);
    configure(control, "control", 2);
    configure(event, "event", 2);
    packet_source = std::make_unique<Source<Packet>>(bench, in, packets_, pace.packets);
    control_source = std::make_unique<Source<Control>>(bench, control, controls_, pace.control);
    event_source = std::make_unique<Source<Event>>(bench, event, events_, pace.events);
  }

  // One cycle. `control_wait` is how many packets were taken while the oldest control request waited.
  template <class Model>
  void tick(Model& model, const std::function<void()>& step) {
    bench.tick([&] {
      const bool control_waits = !control.empty();
      step();
      if (in.last_read() == bench.now()) {
        model.packet(packets_[packets_taken_++]);
        if (control_waits) control_wait_++;
      }
      if (control.last_read() == bench.now()) {
        model.control(controls_[controls_taken_++]);
        control_wait_ = 0;
      }
      if constexpr (!std::is_same_v<Event, NoEvent>) {
        if (event.last_read() == bench.now()) model.event(events_[events_taken_++]);
      }
      longest_control_wait = std::max(longest_control_wait, control_wait_);
    });
  }
  // Until everything offered is taken and has had time to leave.
  template <class Model>
  void run(Model& model, const std::function<void()>& step, hw::Cycles limit = 2000000) {
    const size_t all = packets_.size() + controls_.size() + events_.size();
    while (packets_taken_ + controls_taken_ + events_taken_ < all && bench.now() < limit) tick(model, step);
    ASSERT_LT(bench.now(), limit) << "the stage has stopped taking";
    for (int i = 0; i < 200; i++) tick(model, step);
  }

  Bench bench;
  hls::stream<Packet> in;
  hls::stream<Control> control;
  hls::stream<Event> event;
  std::unique_ptr<Source<Packet>> packet_source;
  std::unique_ptr<Source<Control>> control_source;
  std::unique_ptr<Source<Event>> event_source;
  unsigned longest_control_wait = 0;

 private:
  std::vector<Packet> packets_;
  std::vector<Control> controls_;
  std::vector<Event> events_;
  size_t packets_taken_ = 0, controls_taken_ = 0, events_taken_ = 0;
  unsigned control_wait_ = 0;
};

template <class Token>
void expect_equal(const std::vector<Token>& got, const std::vector<Token>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); i++) ASSERT_EQ(text(got[i]), text(want[i])) << "token " << i;
}

// The paces under which every table is compared: undisturbed, each side slow, all of them.
template <class B>
std::vector<typename B::Pace> paces() {
  return {{100, 100, 100}, {100, 5, 100}, {30, 10, 100}, {100, 10, 30}, {60, 60, 60}};
}

}  // namespace test
