// One client of a protocol that is a stream of bytes. Included by http_server.cpp alone.
#pragma once

#include <utility>

#include "server/http/guest.hpp"
#include "server/http/stream.hpp"

namespace lapilli::server {

class LiveStreamLink final : public StreamLink {
 public:
  LiveStreamLink(std::shared_ptr<Loop> loop, std::weak_ptr<StreamConnection> connection, std::string address)
      : loop_(std::move(loop)), connection_(std::move(connection)), address_(std::move(address)) {}

  [[nodiscard]] const std::string& address() const override { return address_; }
  void send(std::string bytes) override;
  void finish() override;
  [[nodiscard]] uint64_t unsent() const override { return *unsent_; }
  [[nodiscard]] const std::shared_ptr<std::atomic<uint64_t>>& unsent_count() const { return unsent_; }

 private:
  template <class Function>
  void post(Function function) {
    (void)loop_->post([connection = connection_, function = std::move(function)]() mutable {
      if (const auto open = connection.lock()) function(*open);
    });
  }

  std::shared_ptr<Loop> loop_;
  std::weak_ptr<StreamConnection> connection_;
  std::string address_;
  std::shared_ptr<std::atomic<uint64_t>> unsent_ = std::make_shared<std::atomic<uint64_t>>(0);
};

class StreamConnection : public Guest<StreamConnection> {
 public:
  StreamConnection(Site& site, Tcp::socket socket) : Guest(site, std::move(socket)), window_(site.loop->io()) {}

  [[nodiscard]] bool is_open() const { return open_; }
  void start() {
    const auto link = std::make_shared<LiveStreamLink>(site_.loop, weak_from_this(), welcome_socket(socket_));
    unsent_ = link->unsent_count();
    safely([&] { session_ = site_.streams_handler->connected(link); });
    if (!session_) return close();
    look_for_movement();
    watch();
  }

  void send(std::string bytes) {
    safely([&] {
      next_ += bytes;
      flush();
    });
  }
  void finish() {
    finishing_ = true;
    end_if_through();
  }
  void stop_soon() { end_if_through(); }

  void close() {
    if (!std::exchange(open_, false)) return;
    const auto self = shared_from_this();
    window_.cancel();
    close_socket();
    if (session_) safely([&] { session_->ended(); });
    session_.reset();
    site_.streams.erase(self);
    site_.on_closed();
  }

 private:
  // A client that neither sends nor takes anything for so long, while nothing is made for it, has its connection
  // closed.
  void look_for_movement() {
    timer_.expires_after(seconds_of(site_.options.idle_s));
    timer_.async_wait([self = shared_from_this(), before = moved_](const Problem& problem) {
      if (problem || !self->open_) return;
      const bool stands_still = self->moved_ == before && (self->sending_ || !self->session_->working());
      stands_still ? self->close() : self->look_for_movement();
    });
  }

  void watch() {
    if (!open_) return;
    socket_.async_wait(Tcp::socket::wait_read, [self = shared_from_this()](const Problem& problem) {
      if (!self->open_) return;
      if (problem) return self->close();
      self->safely([&] { self->readable(); });
    });
  }
  void readable() {
    Problem problem;
    const size_t count = socket_.read_some(asio::buffer(site_.scratch), problem);
    if (problem == asio::error::would_block || problem == asio::error::interrupted) return watch();
    if (problem) return close();
    site_.bytes_in += count;
    moved_ += count;
    if (session_->received({site_.scratch.data(), count})) return watch();
    // Behind what the session has just sent.
    (void)site_.loop->post([self = shared_from_this()] { self->finish(); });
  }

  void flush() {
    if (sending_ || next_.empty() || !open_) return;
    sending_ = true;
    now_ = std::exchange(next_, "");
    sent_ = 0;
    if (!std::exchange(in_window_, true)) begin_window();
    send_from(now_, sent_);
  }

  // While bytes wait for the client, it takes them in the pace of a body of HTTP.
  void begin_window() {
    window_.expires_after(seconds_of(site_.options.body_s));
    window_.async_wait([self = shared_from_this()](const Problem& problem) {
      const bool moved_on = !self->in_window_ || self->window_.expiry() > std::chrono::steady_clock::now();
      if (problem || !self->open_ || moved_on) return;
      self->pace_.ends_window() ? self->begin_window() : self->close();
    });
  }

 public:
  void sent_some(size_t count) {
    moved_ += count;
    sent_ += count;
    *unsent_ -= count;
    if (sent_ < now_.size()) return send_from(now_, sent_);
    sending_ = false;
    flush();
    if (!sending_ && std::exchange(in_window_, false)) window_.cancel();
    end_if_through();
  }

 private:
  // The system sends what it has taken, since nothing that the client sent is unread for long: it speaks in turns.
  void end_if_through() {
    const bool ends = finishing_ || (site_.stopping && session_ && !session_->working());
    if (open_ && ends && !sending_ && next_.empty()) close();
  }

  asio::steady_timer window_;
  std::unique_ptr<StreamSession> session_;
  std::shared_ptr<std::atomic<uint64_t>> unsent_;
  std::string now_, next_;  // being sent, and behind that
  size_t sent_ = 0;
  uint64_t moved_ = 0;
  bool open_ = true, sending_ = false, finishing_ = false, in_window_ = false;
};

inline void LiveStreamLink::send(std::string bytes) {
  const bool lost = (*unsent_ += bytes.size()) > kMostUnsent;
  if (lost) bytes.clear();
  post([bytes = std::move(bytes), lost](StreamConnection& connection) mutable {
    lost ? connection.close() : connection.send(std::move(bytes));
  });
}

inline void LiveStreamLink::finish() {
  post([](StreamConnection& connection) { connection.finish(); });
}

}  // namespace lapilli::server
