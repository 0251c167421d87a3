// The Vitis HLS body of the Rams: an array in block RAM with an output register, and for RamForward a bypass. A call
// of the stage is a cycle; `settle`, called first in every step by the generated top, moves the pipeline on.
#pragma once

namespace hw {

template <class T, int N, bool kForward>
class RamVendor {
 public:
  typedef Bits<clog2(N)> Address;

  void request(const Address& a) {
    requested_ = true;
    request_ = a;
  }
  T data() const { return held_row_; }
  void write(const Address& a, const T& x) {
    writing_ = true;
    write_ = a;
    value_ = x;
  }
  void settle() {
#pragma HLS BIND_STORAGE variable = rows_ type = ram_s2p impl = bram
#pragma HLS DEPENDENCE variable = rows_ inter false
    if (requested_) {
      held_ = request_;
      held_row_ = rows_[request_.v];
    }
    if (writing_) {
      rows_[write_.v] = value_;
      if (kForward && write_ == held_) held_row_ = value_;
    }
    requested_ = writing_ = false;
  }

 private:
  T rows_[N];
  T held_row_, value_;
  Address held_, request_, write_;
  bool requested_ = false, writing_ = false;
};

template <class T, int N>
class Ram : public RamVendor<T, N, false> {};
template <class T, int N>
class RamForward : public RamVendor<T, N, true> {};

}  // namespace hw
