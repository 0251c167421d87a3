// The simulation body of the Rams. Rows are allocated zero and untouched, so a table of 16384 QPs costs memory only
// for the QPs that are used.
#pragma once
#include <stdlib.h>

#include <memory>

#include "world.hpp"

namespace hw {

template <class T, int N, bool kForward>
class RamModel {
 public:
  typedef Bits<clog2(N)> Address;

  void request(const Address& a) {
    settle();
    if (request_cycle_ == world().now) violation("second request in a step", "Ram");
    next_ = index(a);
    __builtin_prefetch(&rows_[next_]);
    request_cycle_ = world().now;
    pending_ = true;
  }

  T data() {
    settle();
    if (!any_) violation("data before any request", "Ram");
    return kForward ? as_of_start(held_) : held_row_;
  }

  void write(const Address& a, const T& x) {
    settle();
    if (write_cycle_ == world().now) violation("second write in a step", "Ram");
    written_ = index(a);
    overwritten_ = rows_[written_];
    rows_[written_] = x;
    write_cycle_ = world().now;
  }

  // For a stage's skip() only: as if row `a` had been requested in an earlier cycle.
  void seek(const Address& a) {
    held_ = index(a);
    if (!kForward) held_row_ = rows_[held_];
    pending_ = false;
    any_ = true;
  }

  // For observers, end-of-run checks and quiet(), never for step().
  const T& peek(uint64_t row) const { return rows_[row]; }

 private:
  struct Free {
    void operator()(T* p) const { free(p); }
  };
  static T* zeroed() {
    T* p = static_cast<T*>(calloc(N, sizeof(T)));
    if (!p) abort();
    return p;
  }
  static uint64_t index(const Address& a) {
    if (a.w[0] >= N) violation("address outside the rows", "Ram");
    return a.w[0];
  }
  const T& as_of_start(uint64_t row) const {
    return write_cycle_ == world().now && written_ == row ? overwritten_ : rows_[row];
  }
  // The row is taken a step after its request, when it has come from memory, as it was then: nothing is written before.
  void settle() {
    if (!pending_ || request_cycle_ == world().now) return;
    held_ = next_;
    if (!kForward) held_row_ = write_cycle_ == request_cycle_ && written_ == next_ ? overwritten_ : rows_[next_];
    pending_ = false;
    any_ = true;
  }

  std::unique_ptr<T[], Free> rows_{zeroed()};
  uint64_t next_ = 0, held_ = 0, written_ = 0;
  Cycles request_cycle_ = kForever, write_cycle_ = kForever;
  bool pending_ = false, any_ = false;
  T held_row_, overwritten_;
};

template <class T, int N>
class Ram : public RamModel<T, N, false> {};
template <class T, int N>
class RamForward : public RamModel<T, N, true> {};

}  // namespace hw
