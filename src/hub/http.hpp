// One request over HTTP, by libcurl where this build has it.
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
  std::string token;  // sent as bearer; "": none
  uint64_t from = 0;  // leaves out the bytes before
};

struct ContentRange {
  uint64_t first = 0;
  std::optional<uint64_t> total;
};

// What stands in front of the body.
struct HttpHead {
  int status = 0;  // 0: nothing was answered
  std::string location;
  std::optional<uint64_t> length;
  std::optional<ContentRange> range;
  uint64_t retry_after = 0;  // seconds
};

struct HttpAnswer {
  // cut: the connection ended too early. refused: by the receiver. failed: for good, such as a certificate that is
  // wrong.
  enum class End { complete, cut, unreachable, refused, stopped, failed };
  End end = End::failed;
  HttpHead head;
  std::string why;  // unless it is complete
};

// Gets the body piece by piece; false ends the transfer.
using Receive = std::function<bool(const HttpHead& head, std::string_view bytes)>;
// Asked about once a second: true ends what runs.
using Stopped = std::function<bool()>;

struct HttpLimits {
  long connect_seconds = 30;
  long stall_seconds = 60;  // without a byte
};

bool can_fetch();  // this build has libcurl

// Keeps connections for the next request. Of one thread at a time. Proxies are those of the usual variables.
class HttpClient {
 public:
  // "unsupported" without libcurl.
  static Result<HttpClient> make(const HttpLimits& limits = {});
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();
  // Redirects are answers as any other.
  HttpAnswer get(const HttpRequest& request, const Receive& receive, const Stopped& stopped);

 private:
  struct Handle;
  explicit HttpClient(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace lapilli::hub
