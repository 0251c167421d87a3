// A queue that takes no memory while empty and is searched like a vector.
#pragma once
#include <cstddef>
#include <vector>

namespace sim {

template <class T>
class Fifo {
 public:
  using Iterator = typename std::vector<T>::iterator;

  bool empty() const { return head_ == items_.size(); }
  size_t size() const { return items_.size() - head_; }
  Iterator begin() { return items_.begin() + std::ptrdiff_t(head_); }
  Iterator end() { return items_.end(); }
  T& front() { return items_[head_]; }
  T& back() { return items_.back(); }

  void push_back(const T& item) { items_.push_back(item); }
  void insert(Iterator before, const T& item) { items_.insert(before, item); }
  // What was dropped is freed when it is half of all, so that each item moves once at most on average.
  void drop_front(size_t count) {
    head_ += count;
    if (empty()) return clear();
    if (head_ < kFewItems || 2 * head_ < items_.size()) return;
    items_.erase(items_.begin(), begin());
    head_ = 0;
  }
  void drop_back(size_t count) { items_.erase(items_.end() - std::ptrdiff_t(count), items_.end()); }
  void clear() {
    items_.clear();
    if (items_.capacity() > kFewItems) items_ = {};
    head_ = 0;
  }

 private:
  static constexpr size_t kFewItems = 8;
  std::vector<T> items_;
  size_t head_ = 0;  // the items before it are gone
};

}  // namespace sim
