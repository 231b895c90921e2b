#include "server/http/origin.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace lapilli::server {

namespace {

std::string in_lower_case(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

// Where the port of "host:port" begins, behind the colon; npos if there is none.
size_t port_in(std::string_view host) {
  const size_t colon = host.rfind(':');
  return colon == host.npos || host.find(']', colon) != host.npos ? host.npos : colon + 1;
}

bool is_port(std::string_view digits) {
  return digits.size() <= 5 && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Names, numbers and addresses in brackets; nothing that ends a header or begins a path.
bool is_host(std::string_view host) {
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string_view inner = brackets ? host.substr(1, host.size() - 2) : host;
  return !inner.empty() && std::all_of(inner.begin(), inner.end(), [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    return letter || c == '.' || c == '-' || c == '_' || (brackets && c == ':');
  });
}

// 127.0.0.0/8 in the one form that browsers send: four decimal numbers.
bool is_loopback_number(std::string_view host) {
  int numbers = 0;
  bool loopback = false;
  while (!host.empty() && numbers < 5) {
    const std::string_view part = host.substr(0, host.find('.'));
    int value = -1;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), value);
    if (read.ec != std::errc() || read.ptr != part.data() + part.size() || value < 0 || value > 255) return false;
    if (numbers++ == 0) loopback = value == 127;
    host.remove_prefix(std::min(part.size() + 1, host.size()));
  }
  return loopback && numbers == 4;
}

// "host:port" as the browser compares it: the port is said, also that of the scheme.
std::optional<std::string> authority_of(std::string_view host, std::string_view usual_port) {
  const std::string name = host_of(host);
  if (name.empty()) return std::nullopt;
  const size_t port = port_in(host);
  const std::string_view digits = port == host.npos ? std::string_view() : host.substr(port);
  return name + ":" + std::string(digits.empty() ? usual_port : digits);
}

bool is_own(std::string_view origin, std::string_view host_header) {
  // A proxy in front may speak TLS: then the page's scheme is https, and the Host header names no port.
  for (const auto& [scheme, port] :
       {std::pair<std::string_view, std::string_view>{"http://", "80"}, {"https://", "443"}})
    if (origin.starts_with(scheme)) {
      const auto page = authority_of(origin.substr(scheme.size()), port), own = authority_of(host_header, port);
      return page && own && *page == *own;
    }
  return false;
}

bool lists(const std::vector<std::string>& cors, std::string_view origin) {
  return std::any_of(cors.begin(), cors.end(), [&](const std::string& listed) {
    std::string_view name = listed;
    if (name.ends_with('/')) name.remove_suffix(1);  // as copied out of a browser's line
    return name == "*" || in_lower_case(name) == in_lower_case(origin);
  });
}

}  // namespace

std::string host_of(std::string_view host_header) {
  const size_t port = port_in(host_header);
  if (port != host_header.npos && !is_port(host_header.substr(port))) return "";
  std::string host = in_lower_case(port == host_header.npos ? host_header : host_header.substr(0, port - 1));
  return is_host(host) ? host : "";
}

bool host_is_loopback(std::string_view host_header) {
  std::string host = host_of(host_header);
  if (host.ends_with('.')) host.pop_back();
  return host == "localhost" || host.ends_with(".localhost") || host == "[::1]" || is_loopback_number(host);
}

bool origin_allowed(std::string_view origin, std::string_view host_header, const std::vector<std::string>& cors) {
  return origin.empty() || is_own(in_lower_case(origin), host_header) || lists(cors, origin);
}

Fields cors_headers(std::string_view origin, const std::vector<std::string>& cors) {
  if (origin.empty() || !lists(cors, origin)) return {};
  const bool all = std::find(cors.begin(), cors.end(), "*") != cors.end();
  // Where answers differ by origin, a cache must not give one's to another.
  if (all) return {{"Access-Control-Allow-Origin", "*"}};
  return {{"Access-Control-Allow-Origin", std::string(origin)}, {"Vary", "Origin"}};
}

bool is_preflight(const Request& request) {
  return request.method == "OPTIONS" && !request.header("origin").empty() &&
         !request.header("access-control-request-method").empty();
}

Response preflight_response(const Request& request, const std::vector<std::string>& cors) {
  Response response{204, "", "", cors_headers(request.header("origin"), cors)};
  if (response.headers.empty()) return response;
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE, OPTIONS");
  // Browsers take "*" for every header but Authorization, so that what they ask for is said again.
  const std::string_view asked = request.header("access-control-request-headers");
  response.headers.emplace_back("Access-Control-Allow-Headers", asked.empty() ? "Authorization, Content-Type" : asked);
  response.headers.emplace_back("Access-Control-Max-Age", "600");
  return response;
}

bool keys_equal(std::string_view given, std::string_view key) {
  volatile unsigned char different = given.size() == key.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const unsigned char other = key.empty() ? 0 : static_cast<unsigned char>(key[i % key.size()]);
    different = static_cast<unsigned char>(different | (static_cast<unsigned char>(given[i]) ^ other));
  }
  return different == 0;
}

}  // namespace lapilli::server
