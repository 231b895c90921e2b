// One HTTP request, by libcurl in builds that have it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lapilli::hub {

struct HttpRequest {
  std::string url;
  std::string token;  // bearer token; "": none
  uint64_t from = 0;  // bytes to skip
};

struct ContentRange {
  uint64_t first = 0;
  std::optional<uint64_t> total;
};

// Status and headers of a response.
struct HttpHead {
  int status = 0;  // 0: no response
  std::string location;
  std::optional<uint64_t> length;
  std::optional<ContentRange> range;
  uint64_t retry_after = 0;  // seconds
};

struct HttpAnswer {
  // cut: the connection ended too early. refused: by the receiver. failed: permanently, such as an invalid certificate.
  enum class End { complete, cut, unreachable, refused, stopped, failed };
  End end = End::failed;
  HttpHead head;
  std::string why;  // unless it is complete
};

// Receives the body piece by piece; false ends the transfer.
using Receive = std::function<bool(const HttpHead& head, std::string_view bytes)>;
// Called about once a second; true ends the transfer.
using Stopped = std::function<bool()>;

struct HttpLimits {
  long connect_seconds = 30;
  long stall_seconds = 60;  // without a byte
};

bool can_fetch();  // there is a libcurl

// Keeps connections alive for the next request. Not thread-safe. Uses the proxies of the usual variables.
class HttpClient {
 public:
  // Fails with "unsupported" without libcurl.
  static Result<HttpClient> make(const HttpLimits& limits = {});
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();
  // Returns redirects like any other response.
  HttpAnswer get(const HttpRequest& request, const Receive& receive, const Stopped& stopped);

 private:
  struct Handle;
  explicit HttpClient(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace lapilli::hub
