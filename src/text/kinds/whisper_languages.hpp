// Whisper's languages: codes and English names.
#pragma once

#include <string>
#include <string_view>

namespace lapilli {

// The code of a language: codes map to themselves, names to their code ("french", in any case), anything else to "".
std::string whisper_language_code(std::string_view language);

}  // namespace lapilli
