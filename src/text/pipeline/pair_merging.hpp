// The core of byte pair encoding: merges neighbouring symbols pair by pair, lowest rank first.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace lapilli {

inline constexpr uint32_t kNoSymbol = UINT32_MAX;

// A part of a word being built, in a doubly linked list.
struct LinkedSymbol {
  int32_t id = 0;
  uint32_t begin = 0;  // bytes of the word
  uint32_t end = 0;
  uint32_t before = kNoSymbol;
  uint32_t after = kNoSymbol;
  uint32_t parts = 1;  // number of original symbols in it; 0: merged into another
};

struct MergeRule {
  uint32_t rank = 0;
  int32_t id = 0;  // of the merged symbol
};

inline void link_symbols(std::vector<LinkedSymbol>& symbols) {
  for (uint32_t i = 1; i < symbols.size(); ++i) {
    symbols[i].before = i - 1;
    symbols[i - 1].after = i;
  }
}

// `rule(left, right)` points to a MergeRule (or holds one, std::optional) if the two may be merged. Of equal ranks the
// leftmost goes first. Afterwards the list starting at symbols[0] has the remaining symbols.
template <class Rule>
void merge_pairs(std::vector<LinkedSymbol>& symbols, Rule rule) {
  struct Candidate {
    MergeRule rule;
    uint32_t left = 0;
    uint32_t right = 0;
    uint32_t parts = 0;  // of both together; tells whether they have changed since
    bool operator>(const Candidate& other) const {
      return rule.rank != other.rule.rank ? rule.rank > other.rule.rank : left > other.left;
    }
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto consider = [&](uint32_t left, uint32_t right) {
    if (left == kNoSymbol || right == kNoSymbol) return;
    if (const auto found = rule(symbols[left], symbols[right]))
      queue.push({*found, left, right, symbols[left].parts + symbols[right].parts});
  };
  for (uint32_t i = 1; i < symbols.size(); ++i) consider(i - 1, i);
  while (!queue.empty()) {
    const Candidate c = queue.top();
    queue.pop();
    LinkedSymbol& left = symbols[c.left];
    LinkedSymbol& right = symbols[c.right];
    if (left.parts == 0 || right.parts == 0 || left.parts + right.parts != c.parts) continue;
    left.id = c.rule.id;
    left.end = right.end;
    left.parts = c.parts;
    left.after = right.after;
    right.parts = 0;
    if (left.after != kNoSymbol) symbols[left.after].before = c.left;
    consider(left.before, c.left);
    consider(c.left, left.after);
  }
}

}  // namespace lapilli
