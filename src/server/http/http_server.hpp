// HTTP/1.1 on one thread: connections with deadlines, bodies with limits, and a pending read that sees a client leave.
// By Boost.Beast, which http_server.cpp alone includes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/http/exchange.hpp"
#include "server/http/stream.hpp"

namespace lapilli::server {

struct HttpOptions {
  std::string host = "127.0.0.1";  // an address, or a name that is resolved
  uint16_t port = 0;               // 0: a free one
  // Seconds: for the headers of a request, of an idle connection between requests, and of a window in which a body must
  // bring `least_bytes`, and a client that reads an answer must take as many.
  double header_s = 15, idle_s = 75, body_s = 30;
  uint64_t least_bytes = 30 * 1024;
  uint32_t most_header_bytes = 16 * 1024;
  uint32_t most_connections = 4096;  // and one more for each further address
};

// The application, called on the I/O thread: quick, and without waiting.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  struct Admission {
    std::optional<Response> refusal;      // sent instead of reading the body
    uint64_t most_body_bytes = 16 << 20;  // a larger one is answered by `too_large`
  };
  // The head of a request, before its body is read.
  virtual Admission admit(const Request& head) = 0;
  // Answers for bodies beyond the limit (413), for those that come too slowly (408), and for what is no HTTP (400), in
  // the words of the protocol to which the request belongs. `head` is empty where none could be read.
  virtual Response refuse(const Request& head, int status, const std::string& why) = 0;
  virtual void handle(std::shared_ptr<Exchange> exchange) = 0;
};

class HttpServer {
 public:
  HttpServer();
  ~HttpServer();  // stops
  // False in a build without Boost, whose open() says so.
  static bool can_serve();
  // Binds and listens; "" or why it cannot. `handler` outlives this object.
  std::string open(const HttpOptions& options, HttpHandler& handler);
  [[nodiscard]] uint16_t port() const;
  // Listens for another protocol as well, behind open() and before start(); "" or why it cannot. Limits of open() hold.
  std::string open_streams(const std::string& host, uint16_t port, StreamHandler& handler);
  [[nodiscard]] uint16_t stream_port() const;
  // Serves on a thread of its own until stop().
  void start();
  // Takes no new connections and no new requests, lets those that are answered be sent within `seconds`, then closes
  // all. Connections without a request are closed at once.
  void stop(double seconds);

  struct Counts {
    uint64_t connections = 0, requests = 0, bytes_in = 0, bytes_out = 0;
    uint64_t open = 0;  // connections now
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli::server
