#include "cli/arguments/seconds.hpp"

#include <cstdint>

namespace lapilli::cli {

namespace {

constexpr double kLongest = 366.0 * 24 * 3600;

// Digits, and in the last part optionally a fraction, in any locale.
std::optional<double> part_in(std::string_view text, bool may_have_fraction) {
  double value = 0, place = 1;
  bool fraction = false, digits = false;
  for (const char c : text) {
    if (c == '.' && may_have_fraction && !fraction && digits) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') return {};
    digits = true;
    if (fraction) place /= 10;
    value = fraction ? value + place * (c - '0') : value * 10 + (c - '0');
    if (value > kLongest) return {};
  }
  if (!digits || text.back() == '.') return {};
  return value;
}

}  // namespace

std::optional<double> seconds_in(std::string_view text) {
  constexpr size_t kMostParts = 3;
  double all = 0;
  for (size_t part = 1;; ++part) {
    const size_t colon = text.find(':');
    const bool last = colon == std::string_view::npos;
    const auto value = part_in(text.substr(0, colon), last);
    if (!value || part > kMostParts || (part > 1 && *value >= 60)) return {};
    all = all * 60 + *value;
    if (all > kLongest) return {};
    if (last) return all;
    text.remove_prefix(colon + 1);
  }
}

}  // namespace lapilli::cli
