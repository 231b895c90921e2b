// How elementwise ops cover a tensor: as lines, each cut into groups. A line is a row where the grid follows the live
// rows, else all elements of a dispatch.
#pragma once

#include <vector>

#include "ops/lower_util.hpp"

namespace lapilli::elementwise {

struct Slice {
  uint64_t begin = 0, end = 0;  // elements of the output
  uint64_t line = 0;            // elements
  uint64_t per_line = 1, groups = 1;
  bool live = false;  // the grid may follow the live rows: lines are rows

  void follow(Dispatch& d) const {
    if (live) follow_live_rows(d, static_cast<uint32_t>(per_line), 1);
  }
};

// `block`: elements a group, a multiple of 4. Slices begin at multiples of it and fit the bindings.
Result<std::vector<Slice>> slices(const LowerContext& context, const graph::Node& node, const graph::Tensor& tensor,
                                  uint64_t block);

}  // namespace lapilli::elementwise
