// Text that is the same in every language: URLs, e-mail addresses, numbers, signs.
#pragma once

#include <string_view>
#include <vector>

#include "text/sentences/sentences.hpp"

namespace lapilli {

// URLs ("https://...", "www....") and e-mail addresses in `text`: in order, not overlapping, without the punctuation of
// the sentence that holds them. Like all here: in linear time (the last: times a logarithm), of any bytes.
std::vector<TextRange> find_addresses(std::string_view text);

// True if `text` is addresses, numbers (digits of any script) and signs (punctuation, symbols, emoji) and nothing else
// but white space: no letter stands in it. False of white space alone, and of what is not UTF-8.
bool is_neutral_text(std::string_view text);

// The first address or placeholder (base/placeholders.hpp) of `source` that `output` does not have; empty if it has
// them all.
std::string_view first_lost_address(std::string_view source, std::string_view output);

}  // namespace lapilli
