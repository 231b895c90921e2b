// The target of a request line, taken apart.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::server {

struct Target {
  std::string path;   // decoded; "*" and what CONNECT asks for as they are
  std::string query;  // as sent, behind the question mark
  std::string
      authority;  // of an absolute target ("http://host:1/path"), which proxies send; it takes the place of Host
};

Target split_target(std::string_view target);

}  // namespace lapilli::server
