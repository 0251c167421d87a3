// The ring of those who wait for their turn, as many as there are QPs at most. Part of the stage that owns it.
//
// Who joins in a step can be fetched in the next, be known in the one after it, and have the turn then: so a ring of
// one gives it every third cycle when it joins again with its turn's second, a longer ring every second cycle.
#pragma once
#include "../bus/ram.hpp"
#include "../limits.hpp"

namespace hw {
namespace tables {

template <class Entry>
class Turns {
 public:
  // First in every step, once: whether the head is known. When it is not, it is fetched for the next step.
  bool fetch() {
    const bool known = bool(known_);
    if (!known && !empty()) {
      ring_.request(slot(head_));
      known_ = Bits<1>(1);
    }
    return known;
  }
  // The head, from the step in which it is known to the one after it left.
  Entry head() { return ring_.data(); }
  // Only a head that is known may leave.
  void leave() {
    head_ = head_ + Index(1);
    known_ = Bits<1>(0);
  }
  void join(const Entry& entry) {
    ring_.write(slot(tail_), entry);
    tail_ = tail_ + Index(1);
  }

  bool empty() const { return head_ == tail_; }
  uint64_t size() const { return (tail_ - head_).u64(); }

 private:
  typedef Bits<clog2(kMaxQps) + 1> Index;  // one bit more than a slot, to tell full from empty

  Ram<Entry, kMaxQps> ring_;
  Index head_, tail_;
  Bits<1> known_;

  static QpRow slot(const Index& i) { return i.template get<0, clog2(kMaxQps)>(); }
};

}  // namespace tables
}  // namespace hw
