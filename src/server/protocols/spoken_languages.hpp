// Names of spoken languages, as OpenAI's transcripts have them.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::server {

// "german" for "de"; the code itself if it has no name here.
std::string spoken_language(std::string_view code);

}  // namespace lapilli::server
