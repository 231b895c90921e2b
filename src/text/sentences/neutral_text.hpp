// Text that is the same in every language: URLs, e-mail addresses, numbers, signs.
#pragma once

#include <string_view>
#include <vector>

#include "text/sentences/sentences.hpp"

namespace lapilli {

// URLs ("https://...", "www....") and e-mail addresses in `text`: in order, not overlapping, without the surrounding
// sentence's punctuation. Like all functions here takes linear time (the last one: times a logarithm) and any bytes.
std::vector<TextRange> find_addresses(std::string_view text);

// True if `text` consists only of addresses, numbers (digits of any script), signs (punctuation, symbols, emoji) and
// white space: no letters. False for white space alone, and for invalid UTF-8.
bool is_neutral_text(std::string_view text);

// The first address or placeholder (base/placeholders.hpp) of `source` that `output` lacks; empty if it has all.
std::string_view first_lost_address(std::string_view source, std::string_view output);

}  // namespace lapilli
