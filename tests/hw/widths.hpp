// The widths at which every stage on the bus is tested: TYPED_TEST_SUITE(Suite, test::Widths, test::WidthNames).
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace test {

template <unsigned W>
using Width = std::integral_constant<unsigned, W>;  // bits
#ifdef __SANITIZE_ADDRESS__  // where every width costs minutes of compiling, and is the same source
using Widths = ::testing::Types<Width<64>, Width<512>>;
#else
using Widths = ::testing::Types<Width<64>, Width<128>, Width<256>, Width<512>, Width<1024>>;
#endif

struct WidthNames {
  template <class T>
  static std::string GetName(int) {
    return std::to_string(T::value);
  }
};

// The beats of a frame of so many bytes.
template <unsigned W>
constexpr size_t beats_of(size_t bytes) {
  return (bytes + W / 8 - 1) / (W / 8);
}

}  // namespace test
