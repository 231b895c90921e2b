// The head of an answer, as it is sent.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

#include "server/http/message.hpp"

namespace lapilli::server {

// How the receiver finds the end of the body.
struct Framing {
  std::optional<uint64_t> length;  // Content-Length
  bool chunked = false;
  bool keep_alive = true;
  bool http10 = false;
};

// True if answers of this status have no body, whatever the application gives.
bool has_no_body(int status);
// Headers with line breaks, names that are none, and those that frame the message are left out: the last are ours.
std::string head_text(const Response& response, const Framing& framing, std::time_t now);
// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(std::time_t time);
// A chunk of the chunked coding; nothing for an empty piece, which would end the body.
std::string chunk_of(std::string_view piece);

}  // namespace lapilli::server
