// Maps and their windows (Liu et al. 2021), for what has two dimensions: pictures.
#pragma once

#include <cstdint>

#include "base/math.hpp"
#include "graph/graph.hpp"

namespace lapilli {

// A map is a grid of places, each a row of a tensor, one line of places after another; several maps of one size follow
// each other. Its windows are squares of `side` places a side; they follow each other like words of a page, the places
// of one column by column. Before, the map grows to whole windows at the right and at the bottom and is turned by
// `shift` places up and to the left, where what leaves one side comes in at the other.
struct MapWindows {
  uint32_t height = 0, width = 0;         // places of a map
  uint32_t side = 0, shift = 0;           // side 0: no windows; shift < side
  static constexpr uint32_t kNone = ~0u;  // no row
  static constexpr double kApart = -100;  // what the score gets of a key that is `apart` from the query

  [[nodiscard]] uint32_t rows() const { return div_up(height, side); }  // of windows
  [[nodiscard]] uint32_t columns() const { return div_up(width, side); }
  [[nodiscard]] uint64_t count() const { return uint64_t{rows()} * columns(); }  // windows of a map
  [[nodiscard]] uint64_t area() const { return uint64_t{side} * side; }
  [[nodiscard]] uint64_t places() const { return uint64_t{height} * width; }
  [[nodiscard]] bool makes_sense() const {
    constexpr uint32_t kMost = 1u << 14;
    return height > 0 && width > 0 && side > 0 && shift < side && height <= kMost && width <= kMost && side <= kMost;
  }
  // Row n of all windows' rows is this row of the maps, or kNone.
  [[nodiscard]] uint64_t place_of(uint64_t n) const;
  // Row n of the maps is this row of all windows'.
  [[nodiscard]] uint64_t row_of(uint64_t n) const;
  // Of places in a window: which of (2 * side - 1)^2 distances the key has from the query.
  [[nodiscard]] uint64_t distance(uint64_t key, uint64_t query) const;
  // They lie in parts of the map that only its turning made neighbours.
  [[nodiscard]] bool apart(uint64_t window, uint64_t key, uint64_t query) const;
};

// "windows": rows of maps in the order of their windows, zeros where these reach beyond the map; with `beside` the
// places of a window side by side, as columns of one row. `back`: the rows of windows as maps again.
// inputs: x. outputs: y.
struct WindowsAttributes {
  MapWindows map;
  uint32_t back = 0, beside = 0;
};

namespace ops {
graph::TensorId windows(graph::Graph& g, const std::string& label, graph::TensorId x,
                        const WindowsAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
