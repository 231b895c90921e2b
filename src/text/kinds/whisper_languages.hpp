// The languages of Whisper: codes, and the English names that stand for them.
#pragma once

#include <string>
#include <string_view>

namespace lapilli {

// The code of a language: a code as it is, the code of a name ("french", in any case), "" for anything else.
std::string whisper_language_code(std::string_view language);

}  // namespace lapilli
