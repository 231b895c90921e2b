// What each kind of document adds: how its words are found and written.
#pragma once

#include <string_view>
#include <vector>

#include "documents/passage.hpp"
#include "documents/writing.hpp"

namespace lapilli::documents {

// Of valid UTF-8, without a byte order mark in its `begin` bytes. In the order of the document.
std::vector<Passage> find_text_passages(std::string_view bytes, size_t begin);
Result<std::vector<Passage>> find_html_passages(std::string_view bytes, size_t begin);
std::vector<Passage> find_srt_passages(std::string_view bytes, size_t begin);
std::vector<Passage> find_vtt_passages(std::string_view bytes, size_t begin);
Result<std::vector<Passage>> find_markdown_passages(std::string_view bytes, size_t begin);
bool have_markdown();

// Elements of HTML, in lower case, that end a sentence wherever they begin or end: br, p, li, ...
bool is_html_block(std::string_view name);

extern const Style kTextStyle, kHtmlStyle, kSrtStyle, kVttStyle, kMarkdownStyle;

// Markdown has words that make markup only where they stand. The passages whose markup is another one in `out`, by
// reading it again; it begins at `begin` in both.
std::vector<size_t> changed_markup(std::string_view bytes, const std::vector<Passage>& passages, std::string_view out,
                                   size_t begin);

}  // namespace lapilli::documents
