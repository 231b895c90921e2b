// Maps and their windows (Liu et al. 2021), for two-dimensional input: pictures.
#pragma once

#include <cstdint>

#include "base/math.hpp"
#include "graph/graph.hpp"

namespace lapilli {

// A map is a grid of places, each a row of a tensor, one line of places after another; several maps of one size follow
// each other. Its windows are squares with `side` places per side, in reading order; within a window, places run column
// by column. Before it is cut, the map is padded to whole windows at the right and at the bottom and shifted cyclically
// by `shift` places up and to the left.
struct SwinWindows {
  uint32_t height = 0, width = 0;         // places per map
  uint32_t side = 0, shift = 0;           // side 0: no windows; shift < side
  static constexpr uint32_t kNone = ~0u;  // no row
  static constexpr double kApart = -100;  // added to the score of a key that is `apart` from the query

  [[nodiscard]] uint32_t rows() const { return div_up(height, side); }  // rows of windows
  [[nodiscard]] uint32_t columns() const { return div_up(width, side); }
  [[nodiscard]] uint64_t count() const { return uint64_t{rows()} * columns(); }  // windows per map
  [[nodiscard]] uint64_t area() const { return uint64_t{side} * side; }
  [[nodiscard]] uint64_t places() const { return uint64_t{height} * width; }
  [[nodiscard]] bool makes_sense() const {
    constexpr uint32_t kMost = 1u << 14;
    return height > 0 && width > 0 && side > 0 && shift < side && height <= kMost && width <= kMost && side <= kMost;
  }
  // The row of the maps that is row n of all windows, or kNone.
  [[nodiscard]] uint64_t place_of(uint64_t n) const;
  // The row of all windows that is row n of the maps.
  [[nodiscard]] uint64_t row_of(uint64_t n) const;
  // The index of the key's distance from the query among (2 * side - 1)^2, both places in a window.
  [[nodiscard]] uint64_t distance(uint64_t key, uint64_t query) const;
  // True if only the cyclic shift made the two places' parts of the map neighbours.
  [[nodiscard]] bool apart(uint64_t window, uint64_t key, uint64_t query) const;
};

// "windows": reorders rows of maps by windows, with zeros where these reach beyond the map; `beside` puts the places of
// a window side by side, as columns of one row. `back`: turns rows of windows into maps again.
// inputs: x. outputs: y.
struct SwinWindowsAttributes {
  SwinWindows map;
  uint32_t back = 0, beside = 0;
};

namespace ops {
graph::TensorId windows(graph::Graph& g, const std::string& label, graph::TensorId x,
                        const SwinWindowsAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
