// The language of a text, by libcld2, where the program was built with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lapilli::server {

struct DetectedLanguage {
  std::string language;  // a short code; "": unknown
  int confidence = 0;    // 0 to 100
};

// False: built without libcld2, and detect_language finds nothing.
bool detects_languages();

// Candidates, the likeliest first, held to `among` (short codes; none: any). At least one of `among` comes back, with
// a confidence of 0 if nothing speaks for it. `text` is UTF-8; any thread may call.
std::vector<DetectedLanguage> detect_language(std::string_view text, const std::vector<std::string>& among);

}  // namespace lapilli::server
