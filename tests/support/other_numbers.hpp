// Numbers to lower a variant with beside those that it begins with, as a tuner would try them. Lowering refuses those
// that the kernel or the device cannot do.
#pragma once

#include <vector>

#include "ops/core/op.hpp"

namespace lapilli::testing_support {

inline std::vector<Numbers> other_numbers(const Numbers& from) {
  std::vector<Numbers> all;
  if (from.local == 0) return all;
  const std::vector<uint32_t> locals{4, 16, 32, 96, 128}, eaches{1, 3, 20};
  for (size_t i = 0; i < locals.size(); ++i) {
    const Numbers n{locals[i], from.each == 0 ? 0 : eaches[i % eaches.size()]};
    if (n != from) all.push_back(n);
  }
  return all;
}

}  // namespace lapilli::testing_support
