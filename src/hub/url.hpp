// What of an address decides who is asked.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::hub {

// "https://host:8080" in lower case; "" if it is no http or https address, or has a name and password in it.
std::string origin_of(std::string_view url);
bool is_encrypted(std::string_view origin);
// This machine itself.
bool is_loopback(std::string_view origin);
// For a part of a path: a slash in it does not part it.
std::string escape_slashes(std::string_view part);

}  // namespace lapilli::hub
