// The state that the connections of a server share. Included by http_server.cpp alone.
#pragma once

#if !defined(_WIN32)
#include <fcntl.h>
#endif

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include "server/http/http_server.hpp"
#include "server/http/loop.hpp"

namespace lapilli::server {

class Connection;
class StreamConnection;
using Moment = std::chrono::steady_clock::time_point;

inline std::chrono::steady_clock::duration seconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

// Programs that this one starts would keep a connection open that is closed here.
inline void keep_from_children([[maybe_unused]] Tcp::socket::native_handle_type socket) {
#if !defined(_WIN32)
  (void)::fcntl(socket, F_SETFD, FD_CLOEXEC);  // fails on no socket that is open
#endif
}

// All but the counts belongs to the I/O thread.
struct Site {
  std::shared_ptr<Loop> loop;
  HttpOptions options;
  HttpHandler* handler = nullptr;
  StreamHandler* streams_handler = nullptr;
  std::unordered_set<std::shared_ptr<Connection>> connections;
  std::unordered_set<std::shared_ptr<StreamConnection>> streams;
  std::array<char, size_t{1} << 16> scratch;  // what is read passes through it, so that idle connections hold none
  bool stopping = false;
  std::function<void()> on_closed = [] {}, on_idle = [] {};
  std::atomic<uint64_t> accepted{0}, requests{0}, bytes_in{0}, bytes_out{0}, open{0};

  [[nodiscard]] size_t guests() const { return connections.size() + streams.size(); }
};

// Readies a socket that was accepted; gives back the client's address.
inline std::string welcome_socket(Tcp::socket& socket) {
  keep_from_children(socket.native_handle());
  Problem ignored;  // a socket that takes no options fails at the next call
  socket.non_blocking(true, ignored);
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
#if defined(TCP_NOTSENT_LOWAT)
  // The system takes bytes as the client does, which shows slow readers.
  constexpr int kLowWater = 16 << 10;
  (void)::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kLowWater, sizeof kLowWater);
#endif
  const asio::ip::address address = socket.remote_endpoint(ignored).address();
  const bool mapped = address.is_v6() && address.to_v6().is_v4_mapped();
  return mapped ? asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string() : address.to_string();
}

}  // namespace lapilli::server
