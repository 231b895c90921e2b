#include "text/unicode/byte_trie.hpp"

#include <algorithm>

namespace lapilli {

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, int32_t>> entries) {
  root_.fill(kNone);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  // Keeps the last of equal strings.
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].first.empty() || (i + 1 < entries.size() && entries[i + 1].first == entries[i].first)) continue;
    entries[kept++] = entries[i];
  }
  entries.resize(kept);
  if (entries.empty()) return;

  // Breadth first: each node is a range of sorted entries that share their first `depth` bytes.
  struct Range {
    size_t begin, end, depth;
  };
  std::vector<Range> ranges{{0, entries.size(), 0}};
  nodes_.emplace_back();
  for (size_t node = 0; node < ranges.size(); ++node) {
    Range r = ranges[node];
    if (r.begin < r.end && entries[r.begin].first.size() == r.depth) nodes_[node].value = entries[r.begin++].second;
    nodes_[node].first_edge = static_cast<uint32_t>(bytes_.size());
    while (r.begin < r.end) {
      const auto byte = static_cast<unsigned char>(entries[r.begin].first[r.depth]);
      size_t end = r.begin;
      while (end < r.end && static_cast<unsigned char>(entries[end].first[r.depth]) == byte) ++end;
      const auto target = static_cast<uint32_t>(nodes_.size());
      bytes_.push_back(byte);
      targets_.push_back(target);
      ++nodes_[node].edges;
      if (node == kRoot) root_[byte] = target;
      nodes_.emplace_back();
      ranges.push_back({r.begin, end, r.depth + 1});
      r.begin = end;
    }
  }
}

ByteTrie::Match ByteTrie::longest(std::string_view text, uint32_t from) const {
  Match match;
  uint32_t node = from;
  for (size_t i = 0; i < text.size(); ++i) {
    node = step(node, static_cast<unsigned char>(text[i]));
    if (node == kNone) break;
    if (const int32_t v = value(node); v >= 0) match = {i + 1, v};
  }
  return match;
}

}  // namespace lapilli
