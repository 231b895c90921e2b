// XML in which each text lies in a run that says how it looks: Office Open XML. Runs of one look are one text, and a
// run of another look is a tag pair among its words. A table of names says what the elements are.
#pragma once

#include <span>
#include <string_view>

#include "documents/kinds.hpp"

namespace lapilli::documents {

struct RunRules {
  std::span<const std::string_view> paragraphs;
  std::string_view run, look, text;
  std::string_view text_tag;                   // the start tag of a text that keeps its white space
  std::span<const std::string_view> wrappers;  // around runs: links, insertions
  std::span<const std::string_view> dividers;  // in a paragraph or a run: they end a segment
  std::span<const std::string_view> fields;    // around runs: their words stay
  std::span<const std::string_view> dropped;   // traces of a spelling checker: they go where runs are written anew
  std::span<const std::string_view> breaks;    // in a text: line ends of cells
  std::span<const std::string_view> cells;     // those of the paragraphs that stay if they show a formula
};

// `kept`: texts that stay, sorted.
Result<Found> find_run_passages(std::string_view bytes, size_t begin, const RunRules& rules,
                                std::span<const std::string> kept);

// For w:, a: and no prefix: an empty run is taken out.
extern const Style kWordStyle, kSlideStyle, kSheetStyle;

}  // namespace lapilli::documents
