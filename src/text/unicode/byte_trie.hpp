// A map from byte strings to numbers, for finding all prefixes of a text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace lapilli {

// Immutable after building; const members may be called from several threads.
class ByteTrie {
 public:
  ByteTrie() = default;
  // Empty strings are dropped; of equal ones the last counts. Values are not negative. The views are not kept.
  explicit ByteTrie(std::vector<std::pair<std::string_view, int32_t>> entries);

  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNone = UINT32_MAX;
  // The node reached from `node` by one byte, or kNone.
  [[nodiscard]] uint32_t step(uint32_t node, unsigned char byte) const {
    if (nodes_.empty()) return kNone;
    if (node == kRoot) return root_[byte];
    const Node& n = nodes_[node];
    for (uint32_t i = n.first_edge; i < n.first_edge + n.edges; ++i) {
      if (bytes_[i] == byte) return targets_[i];
      if (bytes_[i] > byte) break;
    }
    return kNone;
  }
  // -1 if no string ends at this node.
  [[nodiscard]] int32_t value(uint32_t node) const { return nodes_.empty() ? -1 : nodes_[node].value; }

  struct Match {
    size_t length = 0;
    int32_t value = -1;  // -1: none
  };
  [[nodiscard]] Match longest(std::string_view text, uint32_t from = kRoot) const;

 private:
  struct Node {
    uint32_t first_edge = 0;
    uint32_t edges = 0;
    int32_t value = -1;
  };
  std::vector<Node> nodes_;
  std::vector<unsigned char> bytes_;  // of all edges, sorted within a node
  std::vector<uint32_t> targets_;
  std::array<uint32_t, 256> root_{};
};

}  // namespace lapilli
