#include "text/sentencepiece_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "text/protobuf_reader.hpp"
#include "text/utf8.hpp"

namespace lapilli {
namespace {

constexpr size_t kMaxPieceBytes = 1024;       // the library recurses over the characters of unused pieces
constexpr size_t kMaxReplacementBytes = 128;  // of one character map entry; Unicode's longest has 33
constexpr uint32_t kMaxRulesPerPath = 32;     // the library's table for the rules that match at one place
constexpr size_t kMaxNestedSymbols = 64;      // and for user-defined symbols

// ---- character map: a double-array trie from character sequences to replacements ----

// One unit of the array. A node's children are the units at (node ^ offset ^ byte) whose label is that byte; if the
// node ends a rule, the unit at (node ^ offset) holds the place of its replacement.
struct TrieUnit {
  uint32_t bits;
  [[nodiscard]] bool ends_rule() const { return (bits >> 8 & 1) != 0; }
  [[nodiscard]] uint32_t label() const { return bits & 0x800000FFu; }
  [[nodiscard]] uint32_t offset() const { return bits >> 10 << ((bits & 0x200u) >> 6); }
  [[nodiscard]] uint32_t value() const { return bits & 0x7FFFFFFFu; }
};

// Walks every edge of the trie once.
class TrieChecker {
 public:
  TrieChecker(std::vector<TrieUnit> units, size_t replacements)
      : units_(std::move(units)),
        replacements_(replacements),
        state_(units_.size(), kNew),
        rules_(units_.size(), 0),
        first_child_(units_.size(), kNone),
        next_sibling_(units_.size(), kNone) {
    // A unit's label tells whose child it can be, so that nobody needs to try 256 labels per node.
    for (uint32_t unit = 0; unit < units_.size(); ++unit) {
      if (units_[unit].label() > 0xFF) continue;
      const uint32_t base = unit ^ units_[unit].label();
      if (base >= units_.size()) continue;
      next_sibling_[unit] = first_child_[base];
      first_child_[base] = unit;
    }
  }

  // nullptr, or what is wrong.
  const char* run() {
    std::vector<Visit> path;
    if (const char* problem = enter(0, path)) return problem;
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.child == kNone) {
        leave(path);
        continue;
      }
      const uint32_t child = std::exchange(top.child, next_sibling_[top.child]);
      if (state_[child] == kOpen) return "the character map loops";
      if (state_[child] == kDone) {
        top.most_below = std::max(top.most_below, rules_[child]);
      } else if (const char* problem = enter(child, path)) {
        return problem;
      }
    }
    return rules_[0] > kMaxRulesPerPath ? "too many rules of the character map match at one place" : nullptr;
  }

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;
  enum State : uint8_t { kNew, kOpen, kDone };
  struct Visit {
    uint32_t node;
    uint32_t child;       // the next one to look at
    uint32_t most_below;  // rules on the path below, at most
  };

  const char* enter(uint32_t node, std::vector<Visit>& path) {
    const uint32_t base = node ^ units_[node].offset();
    if ((base | 0xFFu) >= units_.size()) return "the character map points outside itself";
    if (ends_rule(node) && units_[base].value() >= replacements_)
      return "a rule of the character map points outside the replacements";
    state_[node] = kOpen;
    path.push_back({node, first_child_[base], 0});
    return nullptr;
  }
  void leave(std::vector<Visit>& path) {
    const Visit done = path.back();
    path.pop_back();
    rules_[done.node] = done.most_below + (ends_rule(done.node) ? 1 : 0);
    state_[done.node] = kDone;
    if (!path.empty()) path.back().most_below = std::max(path.back().most_below, rules_[done.node]);
  }
  // The library does not look for a rule at the root.
  [[nodiscard]] bool ends_rule(uint32_t node) const { return node != 0 && units_[node].ends_rule(); }

  std::vector<TrieUnit> units_;
  size_t replacements_;
  std::vector<State> state_;
  std::vector<uint32_t> rules_;         // most rules on one path from here downwards, once done
  std::vector<uint32_t> first_child_;   // of a base
  std::vector<uint32_t> next_sibling_;  // of a unit, among the children of one base
};

// Little-endian size of the trie, the trie, then replacements that end in zero bytes.
const char* check_character_map(std::string_view map) {
  if (map.empty()) return nullptr;
  const auto word = [&](size_t at) {
    uint32_t w = 0;
    for (size_t i = 0; i < 4; ++i) w |= uint32_t{static_cast<unsigned char>(map[at + i])} << (8 * i);
    return w;
  };
  if (map.size() < 4 || word(0) > map.size() - 4 || word(0) % 4 != 0 || word(0) == 0)
    return "the character map is cut off";
  std::vector<TrieUnit> units(word(0) / 4);
  for (size_t i = 0; i < units.size(); ++i) units[i].bits = word(4 + 4 * i);
  const std::string_view replacements = map.substr(4 + 4 * units.size());
  size_t length = 0;
  for (const char c : replacements) {
    length = c == '\0' ? 0 : length + 1;
    if (length > kMaxReplacementBytes) return "a replacement of the character map is too long";
  }
  return TrieChecker(std::move(units), replacements.size()).run();
}

// ---- the model ----

constexpr uint64_t kUserDefined = 4;

struct PieceInfo {
  std::string_view text;
  uint64_t type = 1;
  float score = 0;
};

const char* read_piece(std::string_view message, PieceInfo& piece) {
  WireReader reader(message);
  WireField f;
  while (reader.next(f)) {
    if (f.number == 1 && f.wire_type == 2) piece.text = f.bytes;
    if (f.number == 2 && f.wire_type == 5) piece.score = std::bit_cast<float>(static_cast<uint32_t>(f.value));
    if (f.number == 3 && f.wire_type == 0) piece.type = f.value;
  }
  if (reader.failed()) return "a piece is damaged";
  if (piece.text.empty()) return "a piece is empty";
  if (piece.text.size() > kMaxPieceBytes) return "a piece is too long";
  if (piece.text.find('\0') != std::string_view::npos) return "a piece holds a zero byte";
  if (find_invalid_utf8(piece.text) != std::string_view::npos) return "a piece is not valid UTF-8";
  if (!std::isfinite(piece.score)) return "a score is not finite";
  return nullptr;
}

const char* check_normalizer(std::string_view message) {
  WireReader reader(message);
  WireField f;
  while (reader.next(f)) {
    if (f.number == 2 && f.wire_type == 2) {
      if (const char* problem = check_character_map(f.bytes)) return problem;
    }
  }
  return reader.failed() ? "the normalizer is damaged" : nullptr;
}

// True if more than kMaxNestedSymbols symbols are prefixes of one another.
bool nested_too_deeply(std::vector<std::string_view> symbols) {
  std::sort(symbols.begin(), symbols.end());
  std::vector<std::string_view> prefixes;  // of the current symbol, shortest first
  for (const std::string_view s : symbols) {
    while (!prefixes.empty() && !s.starts_with(prefixes.back())) prefixes.pop_back();
    prefixes.push_back(s);
    if (prefixes.size() > kMaxNestedSymbols) return true;
  }
  return false;
}

}  // namespace

Status check_sentencepiece_model(std::string_view file, const std::string& path) {
  const auto damaged = [&](const char* problem) {
    return fail(ErrorCode::invalid_data, "%s is not a usable SentencePiece model: %s", path.c_str(), problem);
  };
  if (file.empty()) return damaged("the file is empty");
  WireReader reader(file);
  WireField f;
  size_t pieces = 0;
  std::vector<std::string_view> user_defined;
  while (reader.next(f)) {
    // 1: pieces, 3 and 5: normalizer and denormalizer; the rest is plain settings.
    if ((f.number == 1 || f.number == 3 || f.number == 5) && f.wire_type != 2)
      return damaged("a field has a wrong type");
    if (f.number == 1) {
      PieceInfo piece;
      if (const char* problem = read_piece(f.bytes, piece))
        return damaged(format("%s (piece %zu)", problem, pieces).c_str());
      if (piece.type == kUserDefined) user_defined.push_back(piece.text);
      ++pieces;
    } else if (f.number == 3 || f.number == 5) {
      if (const char* problem = check_normalizer(f.bytes)) return damaged(problem);
    }
  }
  if (reader.failed()) return damaged("the file is damaged or cut off");
  if (pieces == 0) return damaged("there are no pieces in it");
  if (nested_too_deeply(std::move(user_defined))) return damaged("too many user-defined symbols begin with each other");
  return {};
}

}  // namespace lapilli
