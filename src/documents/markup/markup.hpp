// The common parts of the readers of written markup: LaTeX, reStructuredText and AsciiDoc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "documents/kinds.hpp"

namespace lapilli::documents {

// The same number for the same bytes.
size_t number_of(std::string_view bytes);

// Constructs that a reader leaves alone, by name, and the sentence about them.
class LeftAlone {
 public:
  void count(std::string_view what);
  // "4 commands stay as they are: \foo (3), \bar (1)": appends a note if anything was counted.
  void tell(std::vector<std::string>& notes, std::string_view one, std::string_view several) const;

 private:
  std::map<std::string, size_t, std::less<>> counts_;
  size_t others_ = 0;
};

// Collects the parts of running text; what divides a sentence but moves nowhere lies between its parts.
class TextFlow {
 public:
  explicit TextFlow(Found& found) : found_(found) {}

  PartBuilder& builder() { return builder_; }
  // Ends a part: what follows in the document stays where it is, and the sentence goes on behind it.
  void divide();
  // Ends the passage.
  void finish();
  // The passage that is being collected, for what is written around it.
  Passage& passage() { return passage_; }

 private:
  static constexpr size_t kMostParts = 16;
  Found& found_;
  PartBuilder builder_;
  Passage passage_;
};

// Puts passages and markup in order, and leaves those between a comment with l10n:off and one with l10n:on, and those
// on the line behind a comment with i18n-ignore.
class Switches {
 public:
  // Takes comments in the order of the document.
  void comment(std::string_view bytes, Range range);
  void apply(Found& found);

 private:
  std::vector<Range> off_;
  bool is_off_ = false;
};

Result<Found> find_tex(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_rst(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_asciidoc(std::string_view bytes, size_t begin, const Options& options);

extern const Style kTexStyle, kRstStyle, kAsciidocStyle;

}  // namespace lapilli::documents
