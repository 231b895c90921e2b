// The parts that connections of all protocols share: a socket, a timer, and the pace at which a client takes what is
// sent to it. Included by http_server.cpp alone.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "server/http/pace.hpp"
#include "server/http/site.hpp"

namespace lapilli::server {

// Kind: the connection. It has is_open(), close() and sent_some(bytes).
template <class Kind>
class Guest : public std::enable_shared_from_this<Kind> {
 public:
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

 protected:
  Guest(Site& site, Tcp::socket socket)
      : site_(site), socket_(std::move(socket)), timer_(site.loop->io()), pace_(site.options.least_bytes) {
    ++site_.open;
    ++site_.accepted;
  }
  ~Guest() { --site_.open; }

  // An exception of the application, or a lack of memory, ends this connection alone.
  template <class Function>
  void safely(Function function) {
    try {
      function();
    } catch (const std::exception&) {
      kind().close();
    }
  }

  void close_socket() {
    timer_.cancel();
    Problem ignored;  // it is closed in either case
    socket_.close(ignored);
  }

  // Hands the bytes behind the first `from` to the system, which may take some of them alone. They stay until then.
  void send_from(const std::string& bytes, size_t from) {
    socket_.async_write_some(asio::buffer(bytes.data() + from, bytes.size() - from),
                             [self = this->shared_from_this()](const Problem& problem, size_t count) {
                               if (!self->is_open()) return;
                               if (problem) return self->close();
                               self->took(count);
                             });
  }

  Site& site_;
  Tcp::socket socket_;
  asio::steady_timer timer_;
  Pace pace_;

 private:
  Kind& kind() { return static_cast<Kind&>(*this); }
  void took(size_t count) {
    site_.bytes_out += count;
    pace_.took(count);
    safely([&] { kind().sent_some(count); });
  }
};

}  // namespace lapilli::server
