#include "server/http/http_server.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "server/http/connection.hpp"
#include "server/http/stream_connection.hpp"

#if !defined(_WIN32)
#include <sys/resource.h>
#endif

namespace lapilli::server {

namespace {

// Besides connections a program has files of models, of requests and of the device.
constexpr uint32_t kOtherDescriptors = 256;

// Raises the limit of descriptors as far as that goes; gives back how many connections it leaves room for.
uint32_t room_for(uint32_t connections) {
#if defined(_WIN32)
  return connections;
#else
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections;
  const rlim_t wanted = rlim_t{connections} + kOtherDescriptors;
  if (limit.rlim_cur < wanted) {
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  if (limit.rlim_cur >= wanted) return connections;
  const rlim_t left = limit.rlim_cur > kOtherDescriptors * 2 ? limit.rlim_cur - kOtherDescriptors : limit.rlim_cur / 2;
  return static_cast<uint32_t>(std::max<rlim_t>(left, 1));
#endif
}

bool is_shortage(const Problem& problem) {
  return problem == asio::error::no_descriptors || problem == asio::error::no_memory ||
         problem == asio::error::no_buffer_space || problem == boost::system::errc::too_many_files_open_in_system;
}

// "localhost" is two addresses on many machines; one that the machine lacks is no error if there is another.
bool is_missing_address(const Problem& problem) {
  return problem == boost::system::errc::address_not_available ||
         problem == boost::system::errc::address_family_not_supported;
}

std::string cannot_listen(const std::string& host, uint16_t port, const Problem& problem) {
  const std::string where = host + " port " + std::to_string(port);
  if (problem == asio::error::address_in_use)
    return "cannot listen at " + where + ": another program does; say another port, or 0 for a free one";
  if (problem == asio::error::access_denied)
    return "cannot listen at " + where + ": " + problem.message() + "; ports below 1024 are often the administrator's";
  return "cannot listen at " + where + ": " + problem.message();
}

}  // namespace

struct HttpServer::Impl {
  struct Door {
    explicit Door(asio::io_context& io) : acceptor(io), retry(io) {}
    Tcp::acceptor acceptor;
    asio::steady_timer retry;
    bool accepting = false;
    bool streams = false;  // another protocol than HTTP
  };

  Impl() { site.loop = loop; }

  std::string open(const HttpOptions& options, HttpHandler& handler) {
    site.options = options;
    site.options.most_connections = room_for(std::max(options.most_connections, 1U));
    site.handler = &handler;
    site.on_closed = [this] { connection_closed(); };
    site.on_idle = [this] { room_for_those_who_wait(); };
    return listen(options.host, options.port, false);
  }

  std::string listen(const std::string& host, uint16_t port, bool streams) {
    Problem problem, missing;
    Tcp::resolver resolver(loop->io());
    const auto found = resolver.resolve(host, std::to_string(port), Tcp::resolver::passive, problem);
    if (problem) return "cannot find the address of " + host + ": " + problem.message();
    for (const auto& entry : found) {
      listen_at(entry.endpoint(), streams, problem);
      if (is_missing_address(problem))
        missing = problem;
      else if (problem)
        return doors.clear(), cannot_listen(host, port, problem);
    }
    return bound_port[streams] ? "" : cannot_listen(host, port, missing);
  }

  void listen_at(Tcp::endpoint endpoint, bool streams, Problem& problem) {
    if (bound_port[streams]) endpoint.port(bound_port[streams]);  // the free one that the first address took
    auto door = std::make_unique<Door>(loop->io());
    door->streams = streams;
    Tcp::acceptor& acceptor = door->acceptor;
    acceptor.open(endpoint.protocol(), problem);
#if !defined(_WIN32)
    // There it would let two programs listen at one port.
    if (!problem) acceptor.set_option(Tcp::acceptor::reuse_address(true), problem);
#endif
    if (!problem) keep_from_children(acceptor.native_handle());
    if (!problem) acceptor.bind(endpoint, problem);
    if (!problem) acceptor.listen(Tcp::acceptor::max_listen_connections, problem);
    if (!problem) acceptor.non_blocking(true, problem);
    if (!problem) bound_port[streams] = acceptor.local_endpoint(problem).port();
    if (!problem) doors.push_back(std::move(door));
  }

  // ---- the I/O thread
  // ------------------------------------------------------------------------------------------------

  void accept(Door& door) {
    if (site.stopping || door.accepting) return;
    door.accepting = true;
    is_full() ? wait_for_next(door) : accept_next(door);
  }

  void accept_next(Door& door) {
    door.acceptor.async_accept([this, &door](const Problem& problem, Tcp::socket socket) {
      door.accepting = false;
      if (!problem) welcome(door, std::move(socket));
      if (!site.stopping && is_shortage(problem)) return accept_later(door);
      accept(door);
    });
  }

  // A full house: once somebody comes, an idle connection makes room. If all are busy, the next that closes does.
  [[nodiscard]] bool is_full() const { return site.guests() >= site.options.most_connections; }
  void wait_for_next(Door& door) {
    door.acceptor.async_wait(Tcp::acceptor::wait_read, [this, &door](const Problem& problem) {
      door.accepting = false;
      if (site.stopping) return;
      if (problem) return accept_later(door);
      if (!is_full() || close_an_idle_one()) accept(door);
    });
  }

  // No descriptor, no memory: those who wait stay in the system's queue.
  void accept_later(Door& door) {
    door.retry.expires_after(std::chrono::milliseconds(100));
    door.retry.async_wait([this, &door](const Problem& problem) {
      if (!problem) accept(door);
    });
  }

  void welcome(const Door& door, Tcp::socket socket) {
    try {
      door.streams ? begin<StreamConnection>(site.streams, std::move(socket))
                   : begin<Connection>(site.connections, std::move(socket));
    } catch (const std::exception&) {
      // Without memory for one more there are those that are there.
    }
  }
  template <class Kind>
  void begin(std::unordered_set<std::shared_ptr<Kind>>& all, Tcp::socket socket) {
    const auto connection = std::make_shared<Kind>(site, std::move(socket));
    all.insert(connection);
    connection->start();
    if (site.stopping) connection->stop_soon();
  }

  // The connection without a request that has waited longest.
  bool close_an_idle_one() {
    std::shared_ptr<Connection> oldest;
    for (const auto& connection : site.connections)
      if (connection->is_idle() && (!oldest || connection->since() < oldest->since())) oldest = connection;
    if (oldest) oldest->close();
    return oldest != nullptr;
  }

  void connection_closed() {
    if (site.stopping && site.guests() == 0) return (void)ending.cancel();
    room_for_those_who_wait();
  }
  void room_for_those_who_wait() {
    for (const auto& door : doors)
      if (!door->accepting) loop->post([this, d = door.get()] { accept(*d); });
  }

  // ---- the end
  // -------------------------------------------------------------------------------------------------------

  // Functions may close connections.
  template <class Kind, class Function>
  static void each(const std::unordered_set<std::shared_ptr<Kind>>& guests, Function function) {
    const std::vector<std::shared_ptr<Kind>> all(guests.begin(), guests.end());
    for (const auto& connection : all) function(*connection);
  }

  void begin_stop(double seconds) {
    site.stopping = true;
    for (const auto& door : doors) stop_accepting(*door);
    each(site.connections, [](Connection& connection) { connection.stop_soon(); });
    each(site.streams, [](StreamConnection& connection) { connection.stop_soon(); });
    work.reset();
    if (site.guests() == 0) return;
    after(seconds, [this] {
      each(site.connections, [](Connection& connection) { connection.give_up(); });
      each(site.streams, [](StreamConnection& connection) { connection.close(); });
      after(kLastWords, [this] { each(site.connections, [](Connection& connection) { connection.close(); }); });
    });
  }

  // Clients whose connection the system has taken already may have sent a request.
  void stop_accepting(Door& door) {
    Problem problem;
    for (;;) {
      Tcp::socket socket(loop->io());
      door.acceptor.accept(socket, problem);
      if (problem) break;
      welcome(door, std::move(socket));
    }
    door.acceptor.close(problem);
    door.retry.cancel();
  }

  template <class Function>
  void after(double seconds, Function function) {
    if (site.guests() == 0) return;
    ending.expires_after(seconds_of(seconds));
    ending.async_wait([function](const Problem& problem) {
      if (!problem) function();
    });
  }

  void stop(double seconds) {
    if (!thread.joinable()) return doors.clear(), loop->close();
    loop->post([this, seconds] { begin_stop(seconds); });
    thread.join();
    doors.clear();
  }

  static constexpr double kLastWords = 0.5;  // seconds in which those who waited in vain are told

  std::shared_ptr<Loop> loop = std::make_shared<Loop>();
  Site site;
  std::vector<std::unique_ptr<Door>> doors;
  uint16_t bound_port[2] = {0, 0};  // of HTTP, of streams
  asio::steady_timer ending{loop->io()};
  asio::executor_work_guard<asio::io_context::executor_type> work{loop->io().get_executor()};
  std::thread thread;
};

HttpServer::HttpServer() : impl_(std::make_unique<Impl>()) {}
HttpServer::~HttpServer() { stop(0); }

bool HttpServer::can_serve() { return true; }

std::string HttpServer::open(const HttpOptions& options, HttpHandler& handler) { return impl_->open(options, handler); }

std::string HttpServer::open_streams(const std::string& host, uint16_t port, StreamHandler& handler) {
  impl_->site.streams_handler = &handler;
  return impl_->listen(host, port, true);
}

uint16_t HttpServer::port() const { return impl_->bound_port[0]; }
uint16_t HttpServer::stream_port() const { return impl_->bound_port[1]; }

void HttpServer::start() {
  for (const auto& door : impl_->doors) impl_->loop->post([impl = impl_.get(), d = door.get()] { impl->accept(*d); });
  impl_->thread = std::thread([impl = impl_.get()] {
    impl->loop->run();
    impl->loop->close();
  });
}

void HttpServer::stop(double seconds) { impl_->stop(seconds); }

HttpServer::Counts HttpServer::counts() const {
  const Site& site = impl_->site;
  return {site.accepted, site.requests, site.bytes_in, site.bytes_out, site.open};
}

}  // namespace lapilli::server
