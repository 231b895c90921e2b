#include <curl/curl.h>

#include <array>
#include <charconv>

#include "base/path.hpp"
#include "hub/curl_at_run_time.hpp"
#include "hub/http.hpp"

namespace lapilli::hub {

struct HttpClient::Handle {
  CURL* curl = nullptr;
  HttpLimits limits;
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (curl) curl_easy_cleanup(curl);
  }
};

HttpClient::HttpClient(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

#if LAPILLI_CURL_AT_RUN_TIME
bool can_fetch() { return is_curl_there(); }
#else
bool can_fetch() { return true; }
#endif

namespace {

// State that the callbacks of one transfer share.
struct Transfer {
  CURL* curl;
  const Receive& receive;
  const Stopped& stopped;
  HttpHead head;
  bool refused = false;
};

bool read_number(std::string_view& text, uint64_t& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return true;
}

// Parses "bytes 100-199/200", "bytes 100-199/*".
std::optional<ContentRange> parse_range(std::string_view text) {
  ContentRange range;
  uint64_t last = 0, total = 0;
  if (!text.starts_with("bytes ")) return {};
  text.remove_prefix(6);
  if (!read_number(text, range.first) || !text.starts_with('-')) return {};
  text.remove_prefix(1);
  if (!read_number(text, last) || !text.starts_with('/')) return {};
  text.remove_prefix(1);
  if (read_number(text, total)) range.total = total;
  return range;
}

void read_header(HttpHead& head, std::string_view line) {
  if (line.starts_with("HTTP/")) head = {};  // another response follows an interim one
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name(line.substr(0, colon));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::string_view value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  uint64_t number = 0;
  if (name == "content-range") head.range = parse_range(value);
  if (name == "content-length" && read_number(value, number)) head.length = number;
}

size_t on_header(char* data, size_t, size_t bytes, void* user) {
  read_header(static_cast<Transfer*>(user)->head, {data, bytes});
  return bytes;
}

size_t on_body(char* data, size_t, size_t bytes, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  long status = 0;
  curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
  transfer.head.status = static_cast<int>(status);
  transfer.refused = !transfer.receive(transfer.head, {data, bytes});
  return transfer.refused ? 0 : bytes;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& transfer = *static_cast<Transfer*>(user);
  return transfer.stopped && transfer.stopped() ? 1 : 0;
}

HttpAnswer::End end_of(CURLcode code, bool refused) {
  using End = HttpAnswer::End;
  if (refused) return End::refused;
  switch (code) {
    case CURLE_OK: return End::complete;
    case CURLE_ABORTED_BY_CALLBACK: return End::stopped;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT: return End::unreachable;
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return End::cut;
    default: return End::failed;
  }
}

// The variables that people set for the certificates of their own proxies.
std::string certificates() {
  const std::string named = environment("SSL_CERT_FILE");
  return named.empty() ? environment("CURL_CA_BUNDLE") : named;
}

void allow_protocols(CURL* curl) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

void set_request(CURL* curl, const HttpRequest& request, const HttpLimits& limits) {
  allow_protocols(curl);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "lapilli/" LAPILLI_VERSION);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, limits.connect_seconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, limits.stall_seconds);
  if (const std::string file = certificates(); !file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, file.c_str());
  if (request.from > 0) curl_easy_setopt(curl, CURLOPT_RANGE, (std::to_string(request.from) + "-").c_str());
}

void set_callbacks(CURL* curl, Transfer& transfer) {
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
}

// Adds curl's own knowledge of the response.
void complete_head(CURL* curl, HttpHead& head) {
  long status = 0;
  curl_off_t wait = 0;
  const char* location = nullptr;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
  curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &location);
  head.status = static_cast<int>(status);
  head.retry_after = wait > 0 ? static_cast<uint64_t>(wait) : 0;
  if (location) head.location = location;
}

}  // namespace

Result<HttpClient> HttpClient::make(const HttpLimits& limits) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  auto handle = std::make_unique<Handle>();
  handle->curl = ready == CURLE_OK ? curl_easy_init() : nullptr;
  handle->limits = limits;
  if (!handle->curl) return fail(ErrorCode::internal, "libcurl could not be started");
  return HttpClient(std::move(handle));
}

HttpAnswer HttpClient::get(const HttpRequest& request, const Receive& receive, const Stopped& stopped) {
  CURL* curl = handle_->curl;
  curl_easy_reset(curl);  // keeps connections
  std::array<char, CURL_ERROR_SIZE> reason{};
  Transfer transfer{curl, receive, stopped, {}, false};
  set_request(curl, request, handle_->limits);
  set_callbacks(curl, transfer);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason.data());
  curl_slist* headers = nullptr;
  if (!request.token.empty()) headers = curl_slist_append(nullptr, ("Authorization: Bearer " + request.token).c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  const CURLcode code = curl_easy_perform(curl);
  complete_head(curl, transfer.head);
  curl_slist_free_all(headers);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  return {end_of(code, transfer.refused), transfer.head, reason[0] ? reason.data() : curl_easy_strerror(code)};
}

}  // namespace lapilli::hub
