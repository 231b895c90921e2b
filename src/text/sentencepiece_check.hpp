// Checks a SentencePiece model before the library sees it. The library trusts its files: it follows offsets in the
// character map without bounds, writes fixed tables on the stack, and ends the process on some contradictions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lapilli {

// `file` is the whole content of an .spm file, `path` its name for messages. Success means that no content of the file
// can make the library read outside its memory, recurse without bound or stop the process.
Status check_sentencepiece_model(std::string_view file, const std::string& path);

}  // namespace lapilli
