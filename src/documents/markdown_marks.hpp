// Marks of Markdown's extensions, which CommonMark takes for words: alerts, containers, attributes, templates,
// formulas.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "documents/characters.hpp"

namespace lapilli::documents {

struct MarkdownMark {
  enum Kind {
    block,  // has its lines for itself: ":::note", "$$" to "$$", "{% include x %}"; words in front and behind are apart
    alert,  // "[!NOTE]", behind which its line may have a title
    words,  // stands for words, as code does: "$x$", "{{ name }}"
    point,  // stands beside words: "{#id}", "{% if x %}"
  } kind = block;
  Range bytes;
};

// Those from `begin` on, in order, none in another. None of them is in `code`, which is ascending.
std::vector<MarkdownMark> find_markdown_marks(std::string_view bytes, size_t begin, std::span<const Range> code);

// The same number of bytes in the same lines, with letters for what the marks hold: no Markdown is in it then.
std::string mask_marks(std::string_view bytes, std::span<const MarkdownMark> marks);

}  // namespace lapilli::documents
