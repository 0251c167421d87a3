// The simulation body of a stream: a bounded ring of tokens, each with the cycle in which it becomes readable.
// empty() and full() describe the start of the running cycle, whatever the stages called before did in it, so the
// order in which stages are called inside a cycle changes nothing.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "clock.hpp"
#include "world.hpp"

// Left to itself the compiler calls these few instructions millions of times a simulated millisecond.
#define HW_HOT inline __attribute__((always_inline))

namespace hw {

// Storage kinds of rule 2: extra cycles between a write and its first possible read.
enum class Kind : uint8_t { reg, lutram, bram, bram_fast, uram };
constexpr unsigned latency_of(Kind k) {
  return k == Kind::bram_fast ? 1 : k == Kind::bram ? 2 : k == Kind::uram ? 3 : 0;
}

struct StreamSpec {
  std::string name;
  unsigned capacity = 2;
  Kind kind = Kind::reg;
};

// Everything about a stream that does not depend on its token type. Every beat passes here many times: what a read or
// write touches stands together at the front, and the crossing of clock domains is kept out of line.
class StreamBase {
 public:
  struct End {
    Scheduler* scheduler = nullptr;  // null: nobody to wake, as in unit tests
    int stage = -1;
  };

  const StreamSpec& spec() const { return spec_; }
  unsigned depth() const { return depth_; }
  uint64_t written() const { return written_; }
  uint64_t was_read() const { return read_; }
  uint64_t fill() const { return written_ - read_; }
  unsigned max_fill() const { return unsigned(max_fill_); }
  const End& reader() const { return reader_; }
  const End& writer() const { return writer_; }
  // Cycle of the last read and write, for comparison with hardware cycle by cycle; kForever when there was none.
  Cycles last_read() const { return read_cycle_; }
  Cycles last_write() const { return write_cycle_; }

  HW_HOT bool full() const {
    if (__builtin_expect(crossing_ != nullptr, 0)) return crossing_full();
    const Cycles now = world().now;
    return written_ - (write_cycle_ == now) - read_ + (read_cycle_ == now) == capacity_;
  }

  void connect_reader(const End& end) { reader_ = end; }
  void connect_writer(const End& end, unsigned depth) {
    writer_ = end;
    depth_ = depth;
    delay_ = depth_ + latency_of(spec_.kind);
  }
  // Puts the two ends into different clock domains: two edges of the receiving clock each way, credits included.
  void cross(const Clock& writer_clock, const Clock& reader_clock) {
    crossing_.reset(new Crossing{writer_clock, reader_clock, std::vector<Cycles>(spec_.capacity), 0});
  }

 protected:
  void set_spec(const StreamSpec& spec) {
    spec_ = spec;
    capacity_ = spec.capacity;
    delay_ = depth_ + latency_of(spec.kind);
  }

  HW_HOT void check_reader(bool is_empty) const {
    const World& w = world();
    if (__builtin_expect(read_cycle_ == w.now, 0)) violation("second read in a step", spec_.name.c_str());
    if (__builtin_expect(is_empty, 0)) violation("read while empty", spec_.name.c_str());
    if (__builtin_expect(w.stage >= 0 && w.stage != reader_.stage, 0))
      violation("read by a stranger", spec_.name.c_str());
  }
  HW_HOT void check_writer() const {
    const World& w = world();
    if (__builtin_expect(write_cycle_ == w.now, 0)) violation("second write in a step", spec_.name.c_str());
    if (__builtin_expect(full(), 0)) violation("write while full", spec_.name.c_str());
    if (__builtin_expect(w.stage >= 0 && w.stage != writer_.stage, 0))
      violation("write by a stranger", spec_.name.c_str());
  }
  HW_HOT Cycles note_write() {
    World& w = world();
    write_cycle_ = w.now;
    w.acted = true;
    written_++;
    if (fill() > max_fill_) max_fill_ = fill();
    const Cycles ready = w.now + delay_;
    if (__builtin_expect(crossing_ != nullptr, 0)) return note_crossing(ready);
    if (reader_.scheduler && fill() == 1) reader_.scheduler->wake(reader_.stage, ready);
    return ready;
  }
  // A write wakes the reader of an empty stream; a read asks for the step in which the token behind it is readable. So
  // however far ahead tokens lie, each has its wake-up, and one that follows closely costs none.
  HW_HOT void await(Cycles ready) {
    if (ready > world().now + 1 && reader_.scheduler) reader_.scheduler->wake(reader_.stage, ready);
  }
  HW_HOT void note_read() {
    World& w = world();
    w.acted = true;
    if (__builtin_expect(crossing_ != nullptr, 0)) return return_credit();
    const bool was_full = written_ - (write_cycle_ == w.now) - read_ == capacity_;
    read_cycle_ = w.now;
    read_++;
    if (was_full && writer_.scheduler) writer_.scheduler->wake(writer_.stage, w.now + 1);
  }

  uint64_t written_ = 0, read_ = 0;
  Cycles write_cycle_ = kForever, read_cycle_ = kForever;

 private:
  struct Crossing {
    Clock writer, reader;
    std::vector<Cycles> credit_ready;  // by read number modulo capacity: writer cycle in which the slot is free
    uint64_t seen;
  };
  bool crossing_full() const {
    Crossing& x = *crossing_;
    while (x.seen < read_ && x.credit_ready[x.seen % x.credit_ready.size()] <= world().now) x.seen++;
    if (written_ - (write_cycle_ == world().now) - x.seen != capacity_) return false;
    if (x.seen < read_ && writer_.scheduler)
      writer_.scheduler->wake(writer_.stage, x.credit_ready[x.seen % x.credit_ready.size()]);
    return true;
  }
  void return_credit() {
    Crossing& x = *crossing_;
    read_cycle_ = world().now;
    const Cycles free = x.writer.edge_after(x.reader.edge(world().now + 1)) + 1;
    x.credit_ready[read_++ % x.credit_ready.size()] = free;
    if (writer_.scheduler) writer_.scheduler->wake_from_outside(writer_.stage, free);
  }
  Cycles note_crossing(Cycles ready_at_writer) {
    const Cycles ready = crossing_->reader.edge_after(crossing_->writer.edge(ready_at_writer)) + 1;
    if (reader_.scheduler && fill() == 1) reader_.scheduler->wake_from_outside(reader_.stage, ready);
    return ready;
  }

  uint64_t capacity_ = 2, delay_ = 1, max_fill_ = 0;
  End reader_, writer_;
  std::unique_ptr<Crossing> crossing_;
  unsigned depth_ = 1;
  StreamSpec spec_;
};

}  // namespace hw

namespace hls {

template <class T>
class stream : public hw::StreamBase {
 public:
  stream() { configure(hw::StreamSpec()); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  void configure(const hw::StreamSpec& spec) {
    set_spec(spec);
    uint64_t slots = 1;
    while (slots < spec.capacity) slots *= 2;
    ring_.resize(slots);
    mask_ = slots - 1;
  }

  HW_HOT bool empty() const {
    if (read_cycle_ == hw::world().now) return false;
    return read_ == written_ || ring_[read_ & mask_].ready > hw::world().now;
  }

  // The reference stays good until the end of the step.
  HW_HOT const T& read() {
    check_reader(empty());
    const T& token = ring_[read_ & mask_].token;
    note_read();
    if (read_ != written_) await(ring_[read_ & mask_].ready);
    return token;
  }

  HW_HOT void write(const T& token) {
    check_writer();
    Slot& slot = ring_[written_ & mask_];
    slot.token = token;
    slot.ready = note_write();
  }

  // Observers may look at what was written last; stages may not (there is no peek).
  const T& newest() const { return ring_[(written_ - 1) & mask_].token; }
  // To stamp its tag: the identity of a packet is given by who traces the run.
  T& newest() { return ring_[(written_ - 1) & mask_].token; }

 private:
  struct Slot {
    hw::Cycles ready;
    T token;
  };
  std::vector<Slot> ring_;
  uint64_t mask_ = 0;
};

}  // namespace hls

#undef HW_HOT
