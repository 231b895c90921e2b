// ICU's messages in XLIFF, as Angular writes them: "{VAR_PLURAL, plural, one {<x/> file} other {<x/> files}}".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/passage.hpp"

namespace lapilli::documents {

struct XliffMessage {
  std::vector<Passage> passages;   // of what stands around and within its cases, without places
  std::vector<std::string> notes;  // if the message is broken, it has no passages
};

// `inside`: the content of a source element.
bool is_xliff_message(std::string_view bytes, Range inside);
XliffMessage read_xliff_message(std::string_view bytes, Range inside, std::string_view target_language);

}  // namespace lapilli::documents
