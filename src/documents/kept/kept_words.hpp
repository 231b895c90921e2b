// Words that stay in every translation: names that the user lists, placeholders, addresses.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "documents/passage.hpp"

namespace lapilli::documents {

// Names that stay where they stand as whole words, in exactly these letters.
class KeptNames {
 public:
  explicit KeptNames(const std::vector<std::string>& names);
  [[nodiscard]] bool empty() const { return by_beginning_.empty(); }
  // Makes them kept words of a passage, unless markup begins or ends within one.
  void keep_in(Passage& passage) const;

 private:
  [[nodiscard]] Range find(std::string_view text, size_t from) const;
  [[nodiscard]] size_t length_at(std::string_view text, size_t at) const;

  std::unordered_map<std::string, std::vector<std::string>> by_beginning_;  // by their first bytes; the longest first
};

// A translation with the placeholders of its source: one that was changed ({nom} for {name}) gets its letters back, and
// one too many goes. What is missing is inserted when the passage is written. Texts without placeholders stay as they
// are.
Translation with_own_placeholders(const Passage& passage, Translation translation);

}  // namespace lapilli::documents
