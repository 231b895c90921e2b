// One client of a protocol that is a stream of bytes. Included by http_server.cpp alone.
#pragma once

#include <utility>

#include "server/http/site.hpp"
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

class StreamConnection : public std::enable_shared_from_this<StreamConnection> {
 public:
  StreamConnection(Site& site, Tcp::socket socket) : site_(site), socket_(std::move(socket)), timer_(site.loop->io()) {
    ++site_.open;
    ++site_.accepted;
  }
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;
  ~StreamConnection() { --site_.open; }

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
    timer_.cancel();
    Problem ignored;  // it is closed in either case
    socket_.close(ignored);
    if (session_) safely([&] { session_->ended(); });
    session_.reset();
    site_.streams.erase(self);
    site_.on_closed();
  }

 private:
  // An exception of the application, or a lack of memory, ends this connection alone.
  template <class Function>
  void safely(Function function) {
    try {
      function();
    } catch (const std::exception&) {
      close();
    }
  }

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
    send_some();
  }
  void send_some() {
    socket_.async_write_some(asio::buffer(now_.data() + sent_, now_.size() - sent_),
                             [self = shared_from_this()](const Problem& problem, size_t count) {
                               if (!self->open_) return;
                               if (problem) return self->close();
                               self->safely([&] { self->sent_some(count); });
                             });
  }
  void sent_some(size_t count) {
    site_.bytes_out += count;
    moved_ += count;
    sent_ += count;
    *unsent_ -= count;
    if (sent_ < now_.size()) return send_some();
    sending_ = false;
    flush();
    end_if_through();
  }

  // The system sends what it has taken, since nothing that the client sent is unread for long: it speaks in turns.
  void end_if_through() {
    const bool ends = finishing_ || (site_.stopping && session_ && !session_->working());
    if (open_ && ends && !sending_ && next_.empty()) close();
  }

  Site& site_;
  Tcp::socket socket_;
  asio::steady_timer timer_;
  std::unique_ptr<StreamSession> session_;
  std::shared_ptr<std::atomic<uint64_t>> unsent_;
  std::string now_, next_;  // being sent, and behind that
  size_t sent_ = 0;
  uint64_t moved_ = 0;
  bool open_ = true, sending_ = false, finishing_ = false;
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
