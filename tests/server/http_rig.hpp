// A server in this test, and an application that does as the path says.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/http/forms.hpp"
#include "server/http/http_server.hpp"
#include "server/raw_client.hpp"

namespace lapilli::server::test {

// /echo        method, path, query and body
// /size        the number of bytes of the body
// /form        how many fields its form has, or why it is none
// /hold        nothing, until the test answers
// /drop        never answers
// /throw       throws
// /stream      three pieces
// /refused     refused by admit() with 403
// else         404
class TestHandler : public HttpHandler {
 public:
  uint64_t most_body_bytes = 1 << 20;

  Admission admit(const Request& head) override {
    if (head.path == "/admit-throws") throw std::runtime_error("of the application");
    Admission admission;
    admission.most_body_bytes = most_body_bytes;
    if (head.path == "/refused") admission.refusal = Response{403, "no", "text/plain", {}};
    return admission;
  }
  Response refuse(const Request& head, int status, const std::string& why) override {
    return {status, head.path + "|" + why, "text/plain", {}};
  }
  void handle(std::shared_ptr<Exchange> exchange) override {
    const Request& request = exchange->request();
    if (request.path == "/hold") return keep(std::move(exchange));
    if (request.path == "/drop") return;
    if (request.path == "/throw") throw std::runtime_error("of the application");
    if (request.path == "/stream") return stream(*exchange);
    exchange->answer(response_to(request));
  }

  // The next request to /hold.
  std::shared_ptr<Exchange> held() {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, std::chrono::milliseconds(kPatienceMs), [&] { return !held_.empty(); });
    if (!came) return ADD_FAILURE() << "no request came to /hold", nullptr;
    auto exchange = std::move(held_.front());
    held_.erase(held_.begin());
    return exchange;
  }

 private:
  static Response response_to(const Request& request) {
    Response response{200, "", "text/plain", {{"X-Mark", "1"}}};
    if (request.path == "/size")
      response.body = std::to_string(request.body.view().size());
    else if (request.path == "/echo")
      response.body =
          request.method + " " + request.path + " " + request.query + " " + std::string(request.body.view());
    else if (request.path == "/form")
      response.body = form_of(request);
    else
      response = {404, "nothing is at " + request.path, "text/plain", {}};
    return response;
  }
  static std::string form_of(const Request& request) {
    const std::string_view type = request.header("content-type");
    const Form form = type.starts_with("multipart/") ? parse_multipart(request.body.view(), type)
                                                     : parse_urlencoded(request.body.view());
    return form.error.empty() ? std::to_string(form.fields.size()) : form.error;
  }
  static void stream(Exchange& exchange) {
    exchange.begin({200, "one ", "text/event-stream", {}});
    exchange.write("");
    exchange.write("two ");
    exchange.write("three");
    exchange.end();
    exchange.write("behind the end");
  }
  void keep(std::shared_ptr<Exchange> exchange) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(exchange));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Exchange>> held_;
};

struct HttpRig {
  explicit HttpRig(HttpOptions options = {}) {
    EXPECT_EQ(server.open(options, handler), "");
    server.start();
  }
  RawClient client(bool small_window = false) { return RawClient(server.port(), small_window); }

  TestHandler handler;
  HttpServer server;  // stops before the handler goes
};

inline std::string get(const std::string& target, const std::string& more = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}
inline std::string post(const std::string& target, const std::string& body, const std::string& more = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         more + "\r\n" + body;
}

}  // namespace lapilli::server::test
