// The one constant of a type that is a table by itself: Constant<T>::value, built by T's constexpr constructor.
#pragma once

namespace hw {

template <class T>
struct Constant {
  static constexpr T value{};
};
template <class T>
constexpr T Constant<T>::value;

}  // namespace hw
