// Marks of Markdown's extensions, which CommonMark reads as words: alerts, containers, attributes, templates, formulas.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "documents/characters.hpp"

namespace lapilli::documents {

struct MarkdownMark {
  enum Kind {
    block,  // on lines of its own: ":::note", "$$" to "$$", "{% include x %}"; separates the words around it
    alert,  // "[!NOTE]", which a title may follow on its line
    words,  // replaces words, as code does: "$x$", "{{ name }}"
    point,  // stands beside words: "{#id}", "{% if x %}"
  } kind = block;
  Range bytes;
};

// Finds the marks from `begin` on, in order, not nested. None of them is in `code`, which is ascending.
std::vector<MarkdownMark> find_markdown_marks(std::string_view bytes, size_t begin, std::span<const Range> code);

// Replaces the content of marks by letters, so that no Markdown is in it; bytes and lines stay as many as they are.
std::string mask_marks(std::string_view bytes, std::span<const MarkdownMark> marks);

}  // namespace lapilli::documents
