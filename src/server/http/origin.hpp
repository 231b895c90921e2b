// The right to ask: names of the machine itself, origins of pages, keys. Pure functions of headers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.hpp"

namespace lapilli::server {

// The host of a Host header, in lower case and without its port; "" if the header is none. "[::1]" keeps its brackets.
std::string host_of(std::string_view host_header);

// True for localhost (and names below it), 127.0.0.0/8 and [::1], at any port. A page whose own name leads to this
// machine (DNS rebinding) sends that name.
bool host_is_loopback(std::string_view host_header);

// True if a page of this origin may ask: there is none (no browser asks), it is the server's own page (its host and
// port are those of Host), or --cors lists it. "*" lists all of them, "null" as well.
bool origin_allowed(std::string_view origin, std::string_view host_header, const std::vector<std::string>& cors);

// The headers that let a page read the answer: none without an Origin, without --cors, or if it does not list the
// origin.
Fields cors_headers(std::string_view origin, const std::vector<std::string>& cors);

// True for the question that a browser sends in front of a request (OPTIONS with Access-Control-Request-Method).
bool is_preflight(const Request& request);
// Its answer for an origin that may ask.
Response preflight_response(const Request& request, const std::vector<std::string>& cors);

// Takes as long for any wrong key of a length, so that no key is found letter by letter.
bool keys_equal(std::string_view given, std::string_view key);

}  // namespace lapilli::server
