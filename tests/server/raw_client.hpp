// A client that sends bytes as a test wants them, also such as no HTTP has.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace lapilli::server::test {

// Machines may be busy; only what fails takes so long.
inline constexpr int kPatienceMs = 20000;
// The same of what a device computes: drivers that are CPUs share theirs with all that runs beside them.
inline constexpr int kDevicePatienceMs = 600000;

// Waits until something is true; false if it does not become so in time.
template <class Condition>
bool becomes_true(Condition condition, int patience_ms = kPatienceMs) {
  for (int i = 0; i < patience_ms / 5; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// An answer as it came. `status` is 0 where the connection ended, or nothing came in time.
struct Answer {
  int status = 0;
  std::string head, body;
  std::map<std::string, std::string> headers;  // names in lower case
  bool whole = false;                          // the end of the body came
};

class RawClient {
 public:
  // small_window: the system holds few bytes of an answer that the test does not read.
  explicit RawClient(uint16_t port, bool small_window = false) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const int bytes = 4096;
    if (small_window) (void)::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(RawClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_), rest_(std::move(other.rest_)) {}
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient() { close(); }

  [[nodiscard]] bool connected() const { return connected_; }

  // False if the server takes no more.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // The next answer of this connection. `head_only`: its request was HEAD.
  Answer answer(bool head_only = false, int patience_ms = kPatienceMs) {
    Answer answer;
    if (!fill_until("\r\n\r\n", patience_ms)) return answer;
    take_head(answer);
    if (answer.status == 100) return answer.whole = true, answer;
    if (head_only || answer.status == 204 || answer.status == 304)
      answer.whole = true;
    else if (answer.headers.count("content-length"))
      take_length(answer, patience_ms);
    else if (answer.headers.count("transfer-encoding"))
      take_chunks(answer, patience_ms);
    else
      answer.whole = ends(patience_ms), answer.body = std::exchange(rest_, "");
    return answer;
  }
  Answer ask(std::string_view request) {
    send(request);
    return answer();
  }

  // True if the server closes, before the patience ends; what came before is kept for rest().
  bool ends(int patience_ms = kPatienceMs) {
    while (fill(patience_ms)) {
    }
    return ended_;
  }
  [[nodiscard]] const std::string& rest() const { return rest_; }
  std::string take_rest() { return std::exchange(rest_, ""); }

  // One read, of what has come, at most `most` bytes; false if nothing came or the connection ended.
  bool fill(int patience_ms, size_t most = 1 << 16) {
    pollfd waiting{socket_, POLLIN, 0};
    if (ended_ || ::poll(&waiting, 1, patience_ms) != 1) return false;
    char bytes[1 << 16];
    const ssize_t count = ::recv(socket_, bytes, std::min(most, sizeof bytes), 0);
    ended_ = count <= 0;
    if (count > 0) rest_.append(bytes, static_cast<size_t>(count));
    return count > 0;
  }

  void say_no_more() const { (void)::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) (void)::close(std::exchange(socket_, -1));
  }
  // As a process that is killed with unread bytes: the server gets RST.
  void reset() {
    const linger hard{1, 0};
    (void)::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }

 private:
  bool fill_until(std::string_view mark, int patience_ms) {
    while (rest_.find(mark) == std::string::npos)
      if (!fill(patience_ms)) return false;
    return true;
  }
  void take_head(Answer& answer) {
    const size_t end = rest_.find("\r\n\r\n") + 4;
    answer.head = rest_.substr(0, end);
    rest_.erase(0, end);
    answer.status = std::atoi(answer.head.substr(9, 3).c_str());
    for (size_t from = answer.head.find("\r\n") + 2; from + 2 < answer.head.size();) {
      const size_t line_end = answer.head.find("\r\n", from), colon = answer.head.find(": ", from);
      std::string name = answer.head.substr(from, colon - from);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      answer.headers[name] = answer.head.substr(colon + 2, line_end - colon - 2);
      from = line_end + 2;
    }
  }
  void take_length(Answer& answer, int patience_ms) {
    const size_t length = std::stoull(answer.headers["content-length"]);
    while (rest_.size() < length && fill(patience_ms)) {
    }
    answer.whole = rest_.size() >= length;
    answer.body = rest_.substr(0, length);
    rest_.erase(0, length);
  }
  void take_chunks(Answer& answer, int patience_ms) {
    while (fill_until("\r\n", patience_ms)) {
      const size_t line = rest_.find("\r\n") + 2, length = std::stoull(rest_, nullptr, 16);
      while (rest_.size() < line + length + 2)
        if (!fill(patience_ms)) return;
      answer.body += rest_.substr(line, length);
      rest_.erase(0, line + length + 2);
      if (length == 0) return void(answer.whole = true);
    }
  }

  int socket_ = -1;
  bool connected_ = false, ended_ = false;
  std::string rest_;
};

}  // namespace lapilli::server::test
