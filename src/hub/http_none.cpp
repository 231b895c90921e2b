// Replaces http_curl.cpp in builds without libcurl.
#include "hub/http.hpp"

namespace lapilli::hub {

struct HttpClient::Handle {};

HttpClient::HttpClient(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

bool can_fetch() { return false; }

Result<HttpClient> HttpClient::make(const HttpLimits&) {
  return fail(ErrorCode::unsupported, "this lapilli was built without libcurl and fetches nothing");
}

HttpAnswer HttpClient::get(const HttpRequest&, const Receive&, const Stopped&) { return {}; }

}  // namespace lapilli::hub
