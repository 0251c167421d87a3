// The stream that foreign code sees: what a vendor's HLS stream offers a stage, over one token that waits between the
// code and the pipeline. A read of nothing, or a write where there is no room, holds the call up until a later cycle,
// as it stalls the pipeline in hardware.
//
// Code that spells it hls::stream is compiled as it is by including it in a namespace of its own:
//
//   namespace vendor {
//   namespace hls { using foreign::stream; }
//   #include "their_stage.cpp"
//   }
#pragma once
#include <utility>

#include "sim/foreign/call.hpp"

namespace foreign {

template <class T>
class stream {
 public:
  stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  bool empty() const { return !has_; }
  bool full() const { return has_; }

  T read() {
    while (!has_) call_->wait();
    has_ = false;
    call_->tag = tag_;
    return std::move(value_);
  }
  void read(T& x) { x = read(); }
  bool read_nb(T& x) {
    if (!has_) return false;
    x = read();
    return true;
  }
  void write(const T& x) {
    while (has_) call_->wait();
    put(x, call_->tag);
  }
  bool write_nb(const T& x) {
    if (has_) return false;
    write(x);
    return true;
  }
  stream& operator>>(T& x) {
    read(x);
    return *this;
  }
  stream& operator<<(const T& x) {
    write(x);
    return *this;
  }

  // The pipeline's side: whose code reads or writes this stream, and its token with its Tag, which goes from what the
  // code reads to what it writes next.
  void attach(Call& call) { call_ = &call; }
  void put(const T& x, const hw::Tag& tag) {
    value_ = x;
    tag_ = tag;
    has_ = true;
  }
  T get() {
    has_ = false;
    return std::move(value_);
  }
  const hw::Tag& tag() const { return tag_; }

 private:
  bool has_ = false;
  T value_{};
  hw::Tag tag_;
  Call* call_ = nullptr;
};

}  // namespace foreign
