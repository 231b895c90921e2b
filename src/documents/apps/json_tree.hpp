// JSON as a tree with the bytes of each value; comments and a comma before a closing bracket are allowed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "documents/characters.hpp"
#include "documents/written_text.hpp"

namespace lapilli::documents {

struct JsonNode {
  static constexpr uint32_t kNone = UINT32_MAX;
  enum Type : uint8_t { object, array, string, other } type = other;
  bool ignored = false;  // a comment says that it stays
  Range key;             // without quotes; empty in an array
  Range value;           // of a string without quotes; otherwise all of it
  uint32_t parent = kNone, first_child = kNone, next = kNone, last_child = kNone;
};

struct JsonTree {
  std::string_view bytes;
  std::vector<JsonNode> nodes;  // the root first, parents before their children; empty without a value
  [[nodiscard]] const JsonNode* first(const JsonNode& node) const { return at(node.first_child); }
  [[nodiscard]] const JsonNode* next(const JsonNode& node) const { return at(node.next); }
  [[nodiscard]] const JsonNode* parent(const JsonNode& node) const { return at(node.parent); }
  [[nodiscard]] std::string_view key(const JsonNode& node) const { return node.key.of(bytes); }
  // The member of an object; null if there is none.
  [[nodiscard]] const JsonNode* member(const JsonNode& object, std::string_view key) const;

 private:
  [[nodiscard]] const JsonNode* at(uint32_t i) const { return i == JsonNode::kNone ? nullptr : &nodes[i]; }
};

// invalid_data with a line for what is no JSON.
Result<JsonTree> read_json_tree(std::string_view bytes, size_t begin);

// The text of a string.
// Appends the meaning of \uXXXX, or of two such for one character, at `at`; gives its length, or 0.
size_t decode_u_escape(std::string_view text, size_t at, std::string& means);

WrittenText json_text(std::string_view bytes, Range string);
void append_json_escapes(std::string& out, std::string_view words);

}  // namespace lapilli::documents
