// A server for HTTP on this machine that answers as a test wants it to, wrongly too.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lapilli::test {

struct ServerRequest {
  std::string target;                          // "/path?query"
  std::map<std::string, std::string> headers;  // names in lower case
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct ServerReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::optional<uint64_t> stated_length;  // instead of the body's
  std::optional<size_t> cut_after;        // bytes of the body, before the connection ends
  bool no_length = false;                 // the end of the connection ends the body
  bool silent = false;                    // the connection ends without a word
};

class HttpServer {
 public:
  // Each request is answered by `answer`, one at a time.
  using Answer = std::function<ServerReply(const ServerRequest&)>;
  explicit HttpServer(Answer answer);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  [[nodiscard]] std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] int port() const { return port_; }
  // The requests so far.
  std::vector<ServerRequest> requests();

 private:
  void accept_all();
  void serve(int connection);

  Answer answer_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> ends_{false};
  std::mutex mutex_;
  std::vector<ServerRequest> requests_;
  std::vector<std::thread> connections_;
  std::thread accepting_;
};

// A port of this machine that nobody listens at.
int closed_port();

}  // namespace lapilli::test
