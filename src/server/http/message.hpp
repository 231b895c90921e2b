// A request of HTTP and its answer, as values. Nothing here knows the library that reads them from a connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/body.hpp"

namespace lapilli::server {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;   // as sent: "GET"
  std::string path;     // decoded, without the query
  std::string query;    // as sent, behind the question mark
  Fields headers;       // names in lower case, in the order in which they came
  Body body;            // as sent, transfer coding removed
  std::string address;  // of the client, without its port

  // The first header of this name, in lower case; "" if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return {};
  }
};

// The status of a request whose client left before its answer, nginx's number for it.
constexpr int kClientLeft = 499;

// `headers` are sent as they are: names and values hold no line breaks (the transport drops those that do).
struct Response {
  int status = 200;
  std::string body;
  std::string type = "application/json";  // Content-Type; "" sends none
  Fields headers;
};

}  // namespace lapilli::server
