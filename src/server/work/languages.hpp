// Codes and names of languages as the protocols write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lapilli::server {

// The usual short code of a model's language: "fr" for "fra_Latn" and "fr_XX", "zh-Hant" for "zho_Hant". A code that
// is not known stays.
std::string short_language(std::string_view code);
// "French" for any code of it; the code itself if it has no name here.
std::string language_name(std::string_view code);
// True if two codes, in any case, with - or _, may mean one language.
bool same_language(std::string_view a, std::string_view b);
// The one among these that a request means; "" if none is it.
std::string find_language(const std::vector<std::string>& among, std::string_view asked);

}  // namespace lapilli::server
