// Reads one request out of the bytes of a connection. Included by http_server.cpp alone.
#pragma once

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>

#include "server/http/loop.hpp"
#include "server/http/message.hpp"
#include "server/http/target.hpp"

namespace lapilli::server {

// Beast knows the grammar; limits and places are ours.
class RequestParser : public boost::beast::http::basic_parser<true> {
  using View = boost::beast::string_view;
  using Beast = boost::beast::http::error;

 public:
  enum class Wrong { nothing, header_too_large, coding, host, body_too_large, no_space };

  explicit RequestParser(uint32_t most_header_bytes) : most_header_bytes_(most_header_bytes) {
    header_limit(most_header_bytes);
    body_limit(std::numeric_limits<uint64_t>::max());
  }

  Request request;
  uint64_t most_body_bytes = 0;
  bool discards = false;  // the rest of a body whose request is answered already
  // More than that the request is no HTTP, which the parser's own error says.
  [[nodiscard]] Wrong wrong() const { return wrong_; }
  [[nodiscard]] bool http10() const { return version_ == 10; }
  [[nodiscard]] uint64_t body_bytes() const { return body_bytes_; }

 private:
  void on_request_impl(boost::beast::http::verb, View method, View target, int version, Problem&) override {
    version_ = version;
    request.method.assign(method.data(), method.size());
    target_ = split_target({target.data(), target.size()});
    request.path = target_.path;
    request.query = target_.query;
  }

  void on_field_impl(boost::beast::http::field, View name, View value, Problem& problem) override {
    // Fields behind a chunked body could not change what was decided by those in front.
    if (is_header_done()) return;
    header_bytes_ += name.size() + value.size() + 4;
    if (header_bytes_ > most_header_bytes_) return fail(Wrong::header_too_large, problem);
    std::string small(name.data(), name.size());
    for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    request.headers.emplace_back(std::move(small), std::string(value.data(), value.size()));
  }

  void on_header_impl(Problem& problem) override {
    if (!codings_are_known()) return fail(Wrong::coding, problem);
    if (!host_is_clear()) return fail(Wrong::host, problem);
  }

  void on_body_init_impl(const boost::optional<uint64_t>&, Problem&) override {}
  size_t on_body_impl(View body, Problem& problem) override { return take(body, problem); }
  void on_chunk_header_impl(uint64_t, View, Problem&) override {}
  size_t on_chunk_body_impl(uint64_t, View body, Problem& problem) override { return take(body, problem); }
  void on_finish_impl(Problem&) override {}
  void on_response_impl(int, View, int, Problem&) override {}

  // A coding that is not undone would hide where the next request begins; HTTP/1.0 knows none.
  [[nodiscard]] bool codings_are_known() const {
    size_t codings = 0;
    for (const auto& [name, value] : request.headers) codings += name == "transfer-encoding";
    return codings == 0 || (codings == 1 && chunked() && !http10() && request.header("transfer-encoding").size() == 7);
  }

  // RFC 9112, 3.2: one Host, in HTTP/1.1; that of an absolute target counts more.
  bool host_is_clear() {
    size_t hosts = 0;
    for (const auto& [name, value] : request.headers) hosts += name == "host";
    if (hosts > 1 || (hosts == 0 && !http10())) return false;
    if (target_.authority.empty()) return true;
    auto host = std::find_if(request.headers.begin(), request.headers.end(), [](auto& f) { return f.first == "host"; });
    if (host == request.headers.end()) host = request.headers.insert(host, {"host", ""});
    host->second = target_.authority;
    return true;
  }

  size_t take(View body, Problem& problem) {
    body_bytes_ += body.size();
    if (discards) return body.size();
    if (body_bytes_ > most_body_bytes) return fail(Wrong::body_too_large, problem), body.size();
    if (!request.body.append({body.data(), body.size()})) fail(Wrong::no_space, problem);
    return body.size();
  }

  void fail(Wrong why, Problem& problem) {
    wrong_ = why;
    problem = Beast::bad_field;
  }

  const uint32_t most_header_bytes_;
  uint64_t header_bytes_ = 0, body_bytes_ = 0;
  int version_ = 11;
  Target target_;
  Wrong wrong_ = Wrong::nothing;
};

}  // namespace lapilli::server
