// Inline markup of reStructuredText.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "documents/kinds.hpp"

namespace lapilli::documents {

// Names in lower case with single spaces, as references compare them.
std::string rst_name(std::string_view text);

// The names that `x`_ and x_ refer to, as numbers.
class RstReferences {
 public:
  explicit RstReferences(std::string_view bytes);
  [[nodiscard]] bool contains(std::string_view text) const;

 private:
  void backquoted(std::string_view bytes, size_t close);
  void word(std::string_view bytes, size_t underscore);
  std::unordered_set<size_t> names_;
};

// Reads running text into a builder; what is markup goes to `markup`.
void read_rst_inline(std::string_view bytes, Range range, const RstReferences& references, PartBuilder& builder,
                     std::vector<Markup>& markup);

void encode_rst(std::string& out, std::string_view text, Range range, bool begins_line, const Passage& passage);
void join_rst(std::string& out, std::string_view next, Side side);

}  // namespace lapilli::documents
