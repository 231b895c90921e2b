// The I/O thread's queue of work, which any thread may fill. Included by http_server.cpp alone, as is all with Boost.
#pragma once

#define BOOST_ERROR_CODE_HEADER_ONLY
#include <boost/asio.hpp>
#include <mutex>
#include <utility>

namespace lapilli::server {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Problem = boost::system::error_code;

// Functions run in the order in which they are posted. An exchange may outlive the server, but not this.
class Loop {
 public:
  asio::io_context& io() { return io_; }

  // False once the loop is closed: what is posted then never runs.
  template <class Function>
  bool post(Function&& function) {
    const std::lock_guard lock(mutex_);
    if (!closed_) asio::post(io_, std::forward<Function>(function));
    return !closed_;
  }

  // Until there is nothing left to wait for.
  void run() {
    unharmed([this] { io_.run(); });
  }

  // Runs what was posted before, and takes nothing more.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    io_.restart();
    unharmed([this] { io_.poll(); });
  }

 private:
  // A connection that finds no memory breaks, the others go on.
  template <class Function>
  static void unharmed(Function function) {
    for (bool done = false; !done;) {
      try {
        function();
        done = true;
      } catch (const std::exception&) {
      }
    }
  }

  asio::io_context io_;
  std::mutex mutex_;
  bool closed_ = false;
};

}  // namespace lapilli::server
