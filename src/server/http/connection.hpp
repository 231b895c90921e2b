// One client: its requests, one behind the other, and their answers. Included by http_server.cpp alone.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/http/guest.hpp"
#include "server/http/head_text.hpp"
#include "server/http/request_parser.hpp"

namespace lapilli::server {

// The state of an answer, which an exchange and its connection share.
struct Link {
  std::atomic<bool> gone{false}, answered{false}, ended{false};
  std::atomic<uint64_t> unsent{0};
  std::function<void()> then;  // of the I/O thread
};

// The exchange of the application: it hands everything to the connection's thread.
class LiveExchange final : public Exchange {
 public:
  LiveExchange(std::shared_ptr<Loop> loop, std::weak_ptr<Connection> connection, std::shared_ptr<Link> link,
               Request request)
      : loop_(std::move(loop)),
        connection_(std::move(connection)),
        link_(std::move(link)),
        request_(std::move(request)) {}
  LiveExchange(const LiveExchange&) = delete;
  LiveExchange& operator=(const LiveExchange&) = delete;
  ~LiveExchange() override;

  [[nodiscard]] const Request& request() const override { return request_; }
  void answer(Response response) override;
  void begin(Response head) override;
  void write(std::string piece) override;
  void end() override;
  [[nodiscard]] uint64_t unsent() const override { return link_->unsent; }
  [[nodiscard]] bool gone() const override { return link_->gone; }
  void on_gone(std::function<void()> then) override;

 private:
  // The function gets the connection, if it is still there, and the link.
  template <class Function>
  bool post(Function function) {
    return loop_->post([connection = connection_, link = link_, function = std::move(function)]() mutable {
      function(connection.lock(), link);
    });
  }

  std::shared_ptr<Loop> loop_;
  std::weak_ptr<Connection> connection_;
  std::shared_ptr<Link> link_;
  Request request_;
};

class Connection : public Guest<Connection> {
 public:
  Connection(Site& site, Tcp::socket socket)
      : Guest(site, std::move(socket)), since_(std::chrono::steady_clock::now()) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (link_) link_->gone = true;
  }

  void start() {
    address_ = welcome_socket(socket_);
    within(site_.options.idle_s);
    watch();
  }

  // ---- for exchanges: each counts only while its request is being answered
  // -------------------------------------------

  void answer(const std::shared_ptr<Link>& link, Response response) {
    if (link == link_) safely([&] { send_whole(std::move(response)); });
  }
  void begin(const std::shared_ptr<Link>& link, Response head) {
    if (link == link_) safely([&] { send_head(std::move(head)); });
  }
  void piece(const std::shared_ptr<Link>& link, std::string bytes) {
    if (link == link_) safely([&] { send_piece(bytes); });
  }
  void end(const std::shared_ptr<Link>& link) {
    if (link == link_) safely([&] { send_end(); });
  }
  // The application let go of a request: before an answer, the client is told; within one, it sees that something
  // misses.
  void dropped(const std::shared_ptr<Link>& link, const Request& request) {
    if (link != link_) return;
    if (head_sent_) return close();
    safely([&] { send_whole(refusal(request, 500, "the request was dropped")); });
  }
  // The application is told, and the connection ends.
  void lose(const std::shared_ptr<Link>& link) {
    if (link == link_) close();
  }

  [[nodiscard]] bool is_answering(const std::shared_ptr<Link>& link) const { return link == link_; }

  // ---- for the server
  // ------------------------------------------------------------------------------------------------

  [[nodiscard]] bool is_open() const { return at_ != At::closed; }
  [[nodiscard]] bool is_idle() const { return at_ == At::waiting; }
  [[nodiscard]] Moment since() const { return since_; }

  // Requests that have begun to arrive are refused; those that are being answered go on.
  void stop_soon() {
    keep_ = false;
    if (at_ == At::waiting) safely([&] { readable(); });  // a request may be here that was not read yet
    if (at_ == At::waiting) return close();
    if (at_ == At::head) return refuse(refusal({}, 503, kStopping));
    if (at_ == At::body) return refuse(refusal(parser_->request, 503, kStopping));
  }
  // The time of those that are being answered is over.
  void give_up() {
    if (at_ != At::answering || head_sent_) return;
    tell_gone();
    if (link_->answered.exchange(true)) return;  // its answer is on its way to this thread
    link_->ended = true;
    safely([&] { send_whole(refusal({}, 503, kStopping)); });
  }

  void close() {
    if (at_ == At::closed) return;
    at_ = At::closed;
    const auto self = shared_from_this();
    close_socket();
    tell_gone();
    link_.reset();
    site_.connections.erase(self);
    site_.on_closed();
  }

 private:
  // waiting: for a request to begin. refused: the answer is sent, or being sent, while the rest of a body is thrown
  // away. closing: the same, until the client closes.
  enum class At { waiting, head, body, answering, refused, closing, closed };

  static constexpr const char* kStopping = "the server is stopping; try again later";
  static constexpr size_t kMostAhead = size_t{1} << 16;           // of requests behind the one that is answered
  static constexpr uint64_t kMostDiscarded = uint64_t{64} << 20;  // of a body that was refused
  // Seconds for a client to read an answer and close.
  static constexpr double kLinger = 5, kLingerAtStop = 1;

  struct Part {
    std::string bytes;
    uint64_t payload = 0;  // how many of them count as unsent
  };

  // Whatever the application throws is its error alone.
  template <class Function>
  Response ask(Function function) {
    try {
      return function();
    } catch (const std::exception&) {
      return {500, "", "", {}};
    }
  }
  Response refusal(const Request& head, int status, const std::string& why) {
    return ask([&] { return site_.handler->refuse(head, status, why); });
  }

  // ---- deadlines
  // -----------------------------------------------------------------------------------------------------

  // One timer waits; a deadline that moves on is looked at when it fires.
  void within(double seconds) {
    deadline_ = std::chrono::steady_clock::now() + seconds_of(seconds);
    if (armed_ && armed_until_ <= deadline_) return;
    arm();
  }
  void without_deadline() { deadline_ = Moment::max(); }
  void arm() {
    armed_ = true;
    armed_until_ = deadline_;
    timer_.expires_at(deadline_);
    timer_.async_wait([self = shared_from_this()](Problem problem) {
      if (problem || self->at_ == At::closed) return;  // moved nearer, or closed
      self->armed_ = false;
      self->safely([&] { self->fired(); });
    });
  }
  void fired() {
    if (deadline_ == Moment::max()) return;
    if (std::chrono::steady_clock::now() < deadline_) return arm();
    too_late();
  }
  void too_late() {
    if (at_ == At::head) return refuse(refusal({}, 408, "the headers of the request did not come in time"));
    if (at_ == At::body) return body_window();
    if (at_ == At::answering && pace_.ends_window()) return within(site_.options.body_s);
    close();
  }
  // A body must bring so many bytes in each window.
  void body_window() {
    const uint64_t now = parser_->body_bytes(), before = std::exchange(window_from_, now);
    if (now - before >= site_.options.least_bytes) return within(site_.options.body_s);
    refuse(refusal(parser_->request, 408, "the body of the request comes too slowly"));
  }

  // ---- reading
  // -------------------------------------------------------------------------------------------------------

  // Bytes are read when they are there; what is not read yet holds no memory of ours. While a request is answered this
  // is what sees the client leave.
  void watch() {
    const bool full = at_ == At::answering && input_.size() >= kMostAhead;
    if (watching_ || eof_ || full || at_ == At::closed) return;
    watching_ = true;
    socket_.async_wait(Tcp::socket::wait_read, [self = shared_from_this()](Problem problem) {
      self->watching_ = false;
      if (self->at_ == At::closed) return;
      if (problem) return self->close();
      self->safely([&] { self->readable(); });
    });
  }

  void readable() {
    Problem problem;
    const size_t count = socket_.read_some(asio::buffer(site_.scratch), problem);
    if (problem == asio::error::eof) return client_ended();
    if (problem && problem != asio::error::would_block && problem != asio::error::interrupted) return close();
    if (!problem) received({site_.scratch.data(), count});
    watch();
  }

  void received(std::string_view bytes) {
    site_.bytes_in += bytes.size();
    if (at_ == At::closing) return discarded(bytes.size());
    input_ += bytes;
    if (at_ != At::answering) parse();
  }

  void discarded(uint64_t bytes) {
    discarded_ += bytes;
    if (discarded_ > kMostDiscarded) return close();
    linger_on();
  }

  // The client sends no more. One that waits for an answer may have left.
  void client_ended() {
    eof_ = true;
    if (at_ == At::answering) return tell_gone();
    if (!sending_) return close();
    at_ = At::closing;  // as soon as the refusal is sent
    keep_ = false;
  }

  // ---- requests
  // ------------------------------------------------------------------------------------------------------

  [[nodiscard]] bool is_reading() const {
    return at_ == At::waiting || at_ == At::head || at_ == At::body || at_ == At::refused;
  }

  void parse() {
    if (parsing_) return;  // a refused request is through, and the loop below goes on with the next
    parsing_ = true;
    size_t used = 0;
    while (used < input_.size() && is_reading() && step(used)) {
    }
    parsing_ = false;
    // The rest of a body behind a refusal is thrown away.
    if (at_ == At::closing || at_ == At::closed) return input_.clear();
    input_.erase(0, used);
    if (eof_ && is_reading() && !sending_) close();
  }

  // Takes bytes of the input; false if more must come first.
  bool step(size_t& used) {
    if (at_ == At::waiting && !begin_request(used)) return true;
    if (parser_->is_done()) return false;  // refused, and its answer is still being sent
    Problem problem;
    used += parser_->put(asio::buffer(input_.data() + used, input_.size() - used), problem);
    const bool hungry = problem == boost::beast::http::error::need_more;
    if (problem && !hungry) return malformed(problem), false;
    if (at_ == At::head && parser_->is_header_done())
      head_came(used == input_.size());
    else if (at_ == At::body && parser_->is_done())
      hand_over();
    else if (at_ == At::refused && parser_->is_done())
      finish_refusal();
    else if (hungry)
      return enough_space(used), false;
    return true;
  }

  // Line breaks before a request are skipped (RFC 9112, 2.2). False if that is all there was.
  bool begin_request(size_t& used) {
    if (input_[used] == '\r' || input_[used] == '\n') return ++used, false;
    parser_ = std::make_unique<RequestParser>(site_.options.most_header_bytes);
    at_ = At::head;
    within(site_.options.header_s);
    return true;
  }

  // A line of the chunked coding may be without end.
  void enough_space(size_t used) {
    if (input_.size() - used <= size_t{site_.options.most_header_bytes} + 16) return;
    if (at_ == At::refused) return close();
    refuse(refusal(known_head(), 400, "a line of the request is too long"));
  }

  void malformed(const Problem& problem) {
    if (at_ == At::refused) return close();
    const auto [status, why] = fault_of(problem);
    refuse(refusal(known_head(), status, why));
  }
  std::pair<int, std::string> fault_of(const Problem& problem) {
    switch (parser_->wrong()) {
      case RequestParser::Wrong::header_too_large: break;
      case RequestParser::Wrong::coding:
        return {501, "the Transfer-Encoding of the request is not known; send it as it is, or chunked"};
      case RequestParser::Wrong::host: return {400, "the request needs one Host header"};
      case RequestParser::Wrong::body_too_large: return {413, too_large()};
      case RequestParser::Wrong::no_space: return {507, "the body of the request finds no space on the disk"};
      case RequestParser::Wrong::nothing:
        if (problem == boost::beast::http::error::bad_version)
          return {505, "the request speaks another HTTP than 1.0 and 1.1"};
        if (problem != boost::beast::http::error::header_limit)
          return {400, "the request is no HTTP: " + problem.message()};
    }
    return {431,
            "the headers of the request have more than " + std::to_string(site_.options.most_header_bytes) + " bytes"};
  }
  std::string too_large() {
    const auto length = parser_->content_length();
    return "the body of the request has " + (length ? std::to_string(*length) : "more") + " bytes" +
           (length ? ", more" : "") + " than the " + std::to_string(parser_->most_body_bytes) + " that are taken";
  }
  // The known part of a request whose head may not have come whole.
  const Request& known_head() {
    static const Request kNone;
    return parser_->is_header_done() ? parser_->request : kNone;
  }

  // `all_read`: nothing of the body has come yet.
  void head_came(bool all_read) {
    ++site_.requests;
    Request& head = parser_->request;
    head.address = address_;
    head_only_ = head.method == "HEAD";
    http10_ = parser_->http10();
    keep_ = parser_->keep_alive() && !site_.stopping;
    const std::string_view expected = parser_->http10() ? "" : head.header("expect");
    const bool expects = expected.size() == 12 && boost::beast::iequals({expected.data(), 12}, "100-continue");
    if (std::optional<Response> refused = refused_head(head, expected.empty() || expects)) {
      // A client that waits to be told to go on may send the body or not: nothing tells where the next request begins.
      if (expects && !parser_->is_done()) keep_ = false;
      return refuse(std::move(*refused));
    }
    if (parser_->is_done()) return hand_over();
    at_ = At::body;
    window_from_ = 0;
    within(site_.options.body_s);
    if (expects && all_read) tell_to_go_on();
  }

  std::optional<Response> refused_head(const Request& head, bool expects_known) {
    if (site_.stopping) return refusal(head, 503, kStopping);
    if (!expects_known) return refusal(head, 417, "the Expect header of the request asks for what is not known");
    std::optional<Response> refused;
    refused = ask([&]() -> Response {
      HttpHandler::Admission admission = site_.handler->admit(head);
      parser_->most_body_bytes = admission.most_body_bytes;
      admitted_ = !admission.refusal;
      return admitted_ ? Response() : std::move(*admission.refusal);
    });
    if (!std::exchange(admitted_, false)) return refused;
    const auto length = parser_->content_length();
    if (length && *length > parser_->most_body_bytes) return refusal(head, 413, too_large());
    return std::nullopt;
  }

  // Nothing else is on its way to the client now, so that these few bytes fit.
  void tell_to_go_on() {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    Problem problem;
    const size_t sent = socket_.write_some(asio::buffer(kContinue.data(), kContinue.size()), problem);
    site_.bytes_out += sent;
    if (problem || sent != kContinue.size()) close();
  }

  void hand_over() {
    if (site_.stopping) return refuse(refusal(parser_->request, 503, kStopping));
    at_ = At::answering;
    without_deadline();
    head_sent_ = all_queued_ = false;
    link_ = std::make_shared<Link>();
    link_->gone = eof_;
    auto exchange = std::make_shared<LiveExchange>(site_.loop, weak_from_this(), link_, std::move(parser_->request));
    try {
      site_.handler->handle(exchange);
    } catch (const std::exception&) {
      // Dropping the exchange answers.
    }
  }

  // ---- answers
  // -------------------------------------------------------------------------------------------------------

  // Answers a request that has not come whole, or is none.
  void refuse(Response response) {
    const bool known = parser_ && parser_->is_header_done() && parser_->wrong() == RequestParser::Wrong::nothing;
    const bool small_rest =
        known && (parser_->is_done() || parser_->content_length_remaining().value_or(UINT64_MAX) <= kMostAhead);
    if (!small_rest) keep_ = false;
    if (known) parser_->discards = true;
    at_ = keep_ ? At::refused : At::closing;
    discarded_ = 0;
    all_queued_ = false;
    queue_whole(std::move(response));
    lingers_until_ = std::chrono::steady_clock::now() + seconds_of(site_.options.body_s);
    keep_ ? within(site_.options.body_s) : linger_on();
    flush();
  }
  // Both the answer and the rest of the body must be through.
  void finish_refusal() {
    if (!sending_ && parser_->is_done()) next();
  }

  void send_whole(Response response) {
    queue_whole(std::move(response));
    flush();
  }
  void queue_whole(Response response) {
    if (response.status < 200 || response.status > 599) response = {500, "", "", {}};
    Framing framing;
    framing.keep_alive = keep_ && !site_.stopping;
    framing.http10 = http10_;
    if (!has_no_body(response.status)) framing.length = response.body.size();
    keep_ = framing.keep_alive;
    queue(head_text(response, framing, std::time(nullptr)), 0);
    if (framing.length && !head_only_) queue(std::move(response.body), 0);
    head_sent_ = all_queued_ = true;
  }

  void send_head(Response head) {
    if (head.status < 200 || head.status > 599) head.status = 500;
    Framing framing;
    bodiless_ = head_only_ || has_no_body(head.status);
    framing.chunked = !http10_ && !has_no_body(head.status);
    framing.http10 = http10_;
    // The end of the connection is the end of a body of HTTP/1.0.
    framing.keep_alive = keep_ = keep_ && !http10_ && !site_.stopping;
    queue(head_text(head, framing, std::time(nullptr)), 0);
    head_sent_ = true;
    send_piece(head.body);
  }
  void send_piece(const std::string& bytes) {
    if (!head_sent_) return;
    if (bodiless_)
      link_->unsent -= bytes.size();
    else
      queue(http10_ ? bytes : chunk_of(bytes), bytes.size());
    flush();
  }
  void send_end() {
    if (!head_sent_) return;
    if (!bodiless_ && !http10_) queue("0\r\n\r\n", 0);
    all_queued_ = true;
    flush();
    if (!sending_) sent_all();
  }

  // Small parts travel together.
  void queue(std::string bytes, uint64_t payload) {
    const bool joins = parts_.size() > (sending_ ? 1 : 0) && parts_.back().bytes.size() + bytes.size() <= kMostAhead;
    if (!joins) return parts_.push_back({std::move(bytes), payload});
    parts_.back().bytes += bytes;
    parts_.back().payload += payload;
  }

  void flush() {
    while (!parts_.empty() && parts_.front().bytes.empty()) parts_.pop_front();
    if (sending_ || parts_.empty() || at_ == At::closed) return;
    sending_ = true;
    sent_ = 0;
    if (at_ == At::answering && deadline_ == Moment::max()) within(site_.options.body_s);
    send_from(parts_.front().bytes, sent_);
  }

 public:
  // The client takes what waits for it in the pace of a body, or it is given up.
  void sent_some(size_t count) {
    sent_ += count;
    if (sent_ < parts_.front().bytes.size()) return send_from(parts_.front().bytes, sent_);
    if (link_) link_->unsent -= parts_.front().payload;
    parts_.pop_front();
    sending_ = false;
    flush();
    if (sending_) return;
    if (at_ == At::answering) without_deadline();
    if (all_queued_) sent_all();
  }

 private:
  void sent_all() {
    if (at_ == At::refused) return finish_refusal();
    if (link_) link_->then = nullptr;
    link_.reset();
    keep_ && !site_.stopping ? next() : linger();
  }

  void next() {
    parser_.reset();
    at_ = At::waiting;
    since_ = std::chrono::steady_clock::now();
    head_only_ = http10_ = bodiless_ = false;
    within(site_.options.idle_s);
    site_.on_idle();
    if (input_.empty()) input_ = std::string();  // idle connections hold no memory
    parse();
    if (eof_ && is_reading() && !sending_) return close();
    watch();
  }

  // To close while bytes of the client are unread would take the answer from it.
  void linger() {
    if (at_ != At::closing) lingers_until_ = std::chrono::steady_clock::now() + seconds_of(site_.options.body_s);
    at_ = At::closing;
    input_.clear();
    Problem problem;
    socket_.shutdown(Tcp::socket::shutdown_send, problem);
    if (problem || eof_) return close();
    linger_on();
    watch();
  }
  void linger_on() {
    const double linger = site_.stopping ? kLingerAtStop : kLinger;
    const double left = std::chrono::duration<double>(lingers_until_ - std::chrono::steady_clock::now()).count();
    within(std::min(linger, left));
  }

  void tell_gone() {
    if (!link_) return;
    link_->gone = true;
    const std::function<void()> then = std::exchange(link_->then, nullptr);
    if (!then) return;
    try {
      then();
    } catch (const std::exception&) {
      // It is the application's error, which it alone can tell.
    }
  }

  Moment since_, deadline_ = Moment::max(), armed_until_, lingers_until_;
  std::string address_, input_;
  std::unique_ptr<RequestParser> parser_;
  std::shared_ptr<Link> link_;
  std::deque<Part> parts_;  // the first is being sent
  size_t sent_ = 0;
  uint64_t window_from_ = 0, discarded_ = 0;
  At at_ = At::waiting;
  bool armed_ = false, watching_ = false, eof_ = false, sending_ = false, admitted_ = false, parsing_ = false;
  // These belong to the request and its answer.
  bool keep_ = false, head_only_ = false, http10_ = false, bodiless_ = false, head_sent_ = false, all_queued_ = false;
};

// ---- exchanges
// -------------------------------------------------------------------------------------------------------

inline LiveExchange::~LiveExchange() {
  if (link_->ended) return;
  try {
    auto request = std::make_shared<Request>(std::move(request_));
    post([request](const auto& connection, const auto& link) {
      if (connection) connection->dropped(link, *request);
    });
  } catch (const std::exception&) {
    // Without memory nothing can be posted; the client waits until it leaves.
  }
}

inline void LiveExchange::answer(Response response) {
  if (link_->answered.exchange(true)) return;
  link_->ended = true;
  post([response = std::move(response)](const auto& connection, const auto& link) mutable {
    if (connection) connection->answer(link, std::move(response));
  });
}

inline void LiveExchange::begin(Response head) {
  if (link_->answered.exchange(true)) return;
  link_->unsent += head.body.size();
  post([head = std::move(head)](const auto& connection, const auto& link) mutable {
    if (connection) connection->begin(link, std::move(head));
  });
}

inline void LiveExchange::write(std::string piece) {
  if (piece.empty() || !link_->answered || link_->ended) return;
  const bool lost = (link_->unsent += piece.size()) > kMostUnsent;
  if (lost) link_->gone = true, piece.clear();
  post([piece = std::move(piece), lost](const auto& connection, const auto& link) mutable {
    if (!connection) return;
    lost ? connection->lose(link) : connection->piece(link, std::move(piece));
  });
}

inline void LiveExchange::end() {
  if (!link_->answered || link_->ended.exchange(true)) return;
  post([](const auto& connection, const auto& link) {
    if (connection) connection->end(link);
  });
}

inline void LiveExchange::on_gone(std::function<void()> then) {
  if (link_->gone) return then();
  const bool posted = post([then](const auto& connection, const auto& link) {
    if (link->gone) return then();
    if (connection && connection->is_answering(link)) link->then = then;
  });
  if (!posted) then();
}

}  // namespace lapilli::server
