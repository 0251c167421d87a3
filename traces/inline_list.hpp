#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace traces {

/// A list of at most `Capacity` elements that lives inside its owner, so that decoding a packet never allocates.
template <typename Element, size_t Capacity>
class InlineList {
 public:
  /// Appends, or does nothing when the list is full.
  void push_back(const Element& element) {
    if (size_ < Capacity) elements_[size_++] = element;
  }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Element* begin() const { return elements_.data(); }
  const Element* end() const { return elements_.data() + size_; }
  const Element& operator[](size_t index) const { return elements_[index]; }
  const Element& front() const { return elements_[0]; }
  const Element& back() const { return elements_[size_ - 1]; }

 private:
  std::array<Element, Capacity> elements_{};
  uint8_t size_ = 0;
};

}  // namespace traces
