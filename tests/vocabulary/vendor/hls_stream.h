// A stand-in for the vendor's hls_stream.h: the calls that stages make. Like the vendor's simulation it has no bound:
// full() is never true.
#pragma once
#include <queue>

namespace hls {

template <class T>
class stream {
 public:
  bool empty() const { return queue_.empty(); }
  bool full() const { return false; }
  T read() {
    T x = queue_.front();
    queue_.pop();
    return x;
  }
  void write(const T& x) { queue_.push(x); }

 private:
  std::queue<T> queue_;
};

}  // namespace hls
