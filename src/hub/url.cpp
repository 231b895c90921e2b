#include "hub/url.hpp"

#include <algorithm>

namespace lapilli::hub {

std::string origin_of(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "";
  const size_t end = std::min(url.find_first_of("/?#\\", scheme + 3), url.size());
  std::string origin(url.substr(0, end));
  for (char& c : origin) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const bool known = origin.starts_with("http://") || origin.starts_with("https://");
  const bool plain = std::all_of(origin.begin(), origin.end(), [](char c) { return c > ' ' && c < 127 && c != '@'; });
  return known && plain && end > scheme + 3 ? origin : "";
}

bool is_encrypted(std::string_view origin) { return origin.starts_with("https://"); }

bool is_loopback(std::string_view origin) {
  std::string_view host = origin.substr(std::min(origin.find("://") + 3, origin.size()));
  const size_t port = host.rfind(':');
  if (port != std::string_view::npos && host.find(']', port) == std::string_view::npos) host = host.substr(0, port);
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

std::string escape_slashes(std::string_view part) {
  std::string escaped;
  for (const char c : part) c == '/' ? escaped += "%2F" : escaped += c;
  return escaped;
}

}  // namespace lapilli::hub
