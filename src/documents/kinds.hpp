// The parts that differ between kinds of document: finding the words, and writing them.
#pragma once

#include <string_view>
#include <vector>

#include "documents/passage.hpp"
#include "documents/writing.hpp"

namespace lapilli::documents {

// These take valid UTF-8, whose byte order mark ends at `begin`, and give passages in document order.
std::vector<Passage> find_text_passages(std::string_view bytes, size_t begin);
Result<std::vector<Passage>> find_html_passages(std::string_view bytes, size_t begin);
std::vector<Passage> find_srt_passages(std::string_view bytes, size_t begin);
std::vector<Passage> find_vtt_passages(std::string_view bytes, size_t begin);
Result<std::vector<Passage>> find_markdown_passages(std::string_view bytes, size_t begin);
bool have_markdown();

// HTML elements, in lower case, that end a sentence where they begin and where they end: br, p, li, ...
bool is_html_block(std::string_view name);

extern const Style kTextStyle, kHtmlStyle, kSrtStyle, kVttStyle, kMarkdownStyle;

// Some words of Markdown become markup only in certain places. Reads `out` again and gives the passages whose markup
// differs; the text begins at `begin` in both.
std::vector<size_t> changed_markup(std::string_view bytes, const std::vector<Passage>& passages, std::string_view out,
                                   size_t begin);

}  // namespace lapilli::documents
