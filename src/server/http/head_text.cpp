#include "server/http/head_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace lapilli::server {

namespace {

struct Reason {
  int status;
  const char* words;
};
constexpr Reason kReasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Payload Too Large"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Entity"},
    {424, "Failed Dependency"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

// Clients take the number alone; the words are for people.
const char* reason_of(int status) {
  const auto* const found =
      std::find_if(std::begin(kReasons), std::end(kReasons), [&](const Reason& r) { return r.status == status; });
  return found == std::end(kReasons) ? "" : found->words;
}

bool is_token(std::string_view name) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || kSigns.find(c) != kSigns.npos;
  });
}

bool is_value(std::string_view value) { return value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos; }

bool frames(std::string_view name) {
  std::string small(name);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::string_view kOurs[] = {"content-length", "transfer-encoding", "connection", "date", "content-type"};
  return std::find(std::begin(kOurs), std::end(kOurs), small) != std::end(kOurs);
}

void add(std::string& head, std::string_view name, std::string_view value) {
  head += name;
  head += ": ";
  head += value;
  head += "\r\n";
}

// HTTP/1.0 closes and HTTP/1.1 keeps, unless something is said.
void add_connection(std::string& head, const Framing& framing) {
  if (!framing.keep_alive) add(head, "Connection", "close");
  if (framing.keep_alive && framing.http10) add(head, "Connection", "keep-alive");
}

}  // namespace

bool has_no_body(int status) { return status == 204 || status == 304; }

std::string http_date(std::time_t time) {
  constexpr const char* kDays[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const int64_t seconds = static_cast<int64_t>(time) % 86400, days = static_cast<int64_t>(time) / 86400;
  // Years begin in March, so that a leap day ends them; 719,468 days lie between that of year 0 and 1970.
  const int64_t day = days + 719468, era = day / 146097, of_era = day % 146097;
  const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[days % 7],
                static_cast<int>(of_year - (153 * month + 2) / 5 + 1), kMonths[(month + 2) % 12],
                static_cast<int>(year + era * 400 + (month >= 10)), static_cast<int>(seconds / 3600),
                static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60));
  return text;
}

std::string head_text(const Response& response, const Framing& framing, std::time_t now) {
  std::string head = framing.http10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  head += std::to_string(response.status) + " " + reason_of(response.status) + "\r\n";
  add(head, "Date", http_date(now));
  add(head, "Server", "lapilli");
  if (!response.type.empty() && is_value(response.type)) add(head, "Content-Type", response.type);
  if (framing.length) add(head, "Content-Length", std::to_string(*framing.length));
  if (framing.chunked) add(head, "Transfer-Encoding", "chunked");
  add_connection(head, framing);
  for (const auto& [name, value] : response.headers)
    if (is_token(name) && is_value(value) && !frames(name)) add(head, name, value);
  return head + "\r\n";
}

std::string chunk_of(std::string_view piece) {
  if (piece.empty()) return "";
  char size[24];
  std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
  std::string chunk = size;
  chunk += piece;
  return chunk += "\r\n";
}

}  // namespace lapilli::server
