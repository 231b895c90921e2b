// Integer helpers for sizes. Sizes are uint64_t bytes or elements throughout.
#pragma once

#include <cstdint>
#include <limits>

namespace lapilli {

template <class T>
constexpr T div_up(T a, T b) {
  return (a + b - 1) / b;
}
template <class T>
constexpr T round_up(T a, T b) {
  return div_up(a, b) * b;
}
template <class T>
constexpr T round_down(T a, T b) {
  return a / b * b;
}

// False on overflow; for sizes read from files.
constexpr bool checked_mul(uint64_t a, uint64_t b, uint64_t& out) {
  if (a != 0 && b > std::numeric_limits<uint64_t>::max() / a) return false;
  out = a * b;
  return true;
}
constexpr bool checked_add(uint64_t a, uint64_t b, uint64_t& out) {
  if (b > std::numeric_limits<uint64_t>::max() - a) return false;
  out = a + b;
  return true;
}

}  // namespace lapilli
