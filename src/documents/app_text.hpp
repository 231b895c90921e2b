// Texts of apps: what is written with escapes in a file, and holds placeholders and tags of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "documents/passage.hpp"

namespace lapilli::documents {

// The meaning of a file's escapes, with the place of each byte in the document.
class MappedText {
 public:
  // Adds bytes of the document; what is written differently there (an escape) in one call of its own.
  void add(Range source, std::string_view decoded);
  [[nodiscard]] const std::string& text() const { return text_; }
  // Bytes of the document for a range of the text that is not empty.
  [[nodiscard]] Range source_of(Range range) const { return {from_[range.begin], to_[range.end - 1]}; }
  // Adds the words of a range of the text.
  void add_words(PartBuilder& builder, Range range) const;

 private:
  std::string text_;
  std::vector<uint32_t> from_, to_;  // of each byte
};

struct AppMarkup {
  bool dollars = false;      // $NAME$ is a placeholder (Chrome)
  bool percent = false;      // %% is a percent sign, and stays
  size_t* number = nullptr;  // if set, "%s" becomes "%1$s" by this number, which grows, so that it may change its place
};

// Adds a range of the text: pairs of tags (<b>...</b>, <0>...</0>) as pairs, others (<br>, <0/>) as points, $t(...) and
// placeholders as kept words.
void add_app_text(PartBuilder& builder, const MappedText& text, Range range, const AppMarkup& markup = {});

// Number of placeholders that take the next argument: "%s", not "%1$s" or "%(name)s".
size_t count_next_arguments(std::string_view text);

}  // namespace lapilli::documents
