// The largest deviation of a comparison.
#pragma once

#include <cmath>
#include <limits>

namespace lapilli {

// The larger of the worst deviation so far and the next one. NaN counts as infinitely far off, so that nothing after it
// hides it (std::max and a plain comparison lose a NaN).
inline double worse(double worst, double next) {
  if (std::isnan(worst) || std::isnan(next)) return std::numeric_limits<double>::infinity();
  return worst < next ? next : worst;
}

}  // namespace lapilli
