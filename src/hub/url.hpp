// The origin of a URL, which identifies the server.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::hub {

// "https://host:8080" in lower case; "" if it is no http or https URL, or contains a name and password.
std::string origin_of(std::string_view url);
bool is_encrypted(std::string_view origin);
// True for this machine.
bool is_loopback(std::string_view origin);
// For a path segment: a slash in it becomes no separator.
std::string escape_slashes(std::string_view part);

}  // namespace lapilli::hub
