// A protocol: its routes, and its way to say errors. One file each, one line each in protocols.inc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/exchange.hpp"
#include "server/work/desk.hpp"

namespace lapilli::server {

struct Route {
  const char* method;  // "GET", "POST"
  const char* path;    // whole, or with a * at its end for the rest
  // On a thread of the pool, with the body whole. Answers the exchange now or later.
  void (*handle)(Desk& desk, const std::shared_ptr<Exchange>& exchange);
  uint64_t most_body_bytes = 16 << 20;
  bool needs_key = true;
  bool works = false;    // a GET that costs as much as a POST
  bool is_long = false;  // its handler may take seconds: it decodes files
};

struct Protocol {
  const char* name;
  std::vector<Route> routes;
  // An error in the protocol's own words: 400, 401 or 403 (keys), 404, 408, 413, 429, 500, 503, 504. `parameter` names
  // the member of the request that is wrong; "" if none.
  Response (*error)(int status, const std::string& message, const std::string& parameter);
  // The key that a request brings, "" if none. Where it is in the body (LibreTranslate's api_key), the body is whole.
  std::string (*key)(const Request& request);
  int wrong_key_status = 401, missing_key_status = 401;

  // True if a request of this route counts as work.
  static bool is_work(const Route& route) { return route.works || std::string_view(route.method) == "POST"; }
};

// Each protocol, by a function of this form in its file.
using MakeProtocol = Protocol();

}  // namespace lapilli::server
