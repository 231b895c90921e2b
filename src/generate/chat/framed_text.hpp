// Ids of a text within a prompt.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "generate/chat/translators.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// Ids of frame.before, `text` without the white space around it, and frame.behind. Offsets are those in `text`, and
// empty for the frame. Control tokens that the text spells out are not recognized as such.
Result<Encoding> encode_framed(const Tokenizer& tokenizer, const TextFrame& frame, std::string_view text);

}  // namespace lapilli
