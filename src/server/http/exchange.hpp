// A request that has come whole, and the way back to its client. Any thread may use it.
#pragma once

#include <functional>
#include <string>

#include "server/http/message.hpp"

namespace lapilli::server {

// The connection belongs to the I/O thread; these functions hand over and return at once. Dropping an exchange that has
// no answer answers 500, so that no client waits for ever.
class Exchange {
 public:
  virtual ~Exchange() = default;
  [[nodiscard]] virtual const Request& request() const = 0;

  // The whole answer. Of several answers the first counts.
  virtual void answer(Response response) = 0;

  // An answer in pieces: its head, whose body is the first piece, then pieces, then the end.
  virtual void begin(Response head) = 0;
  virtual void write(std::string piece) = 0;
  virtual void end() = 0;
  // Bytes of pieces that the system has not taken yet. Beyond kMostUnsent the client counts as gone: a slow reader
  // fills no memory.
  [[nodiscard]] virtual uint64_t unsent() const { return 0; }
  static constexpr uint64_t kMostUnsent = uint64_t{8} << 20;

  // True once the client has left: its connection broke, or it said that it sends no more. (A client that shuts down
  // its half of the connection and waits is not to be told from one that has left; nginx, Go and uvicorn take both for
  // gone, and so does this server. An answer that comes all the same is still sent.) `then` is called once on the I/O
  // thread when it leaves, or at once if it has left; it is dropped when the answer is sent.
  [[nodiscard]] virtual bool gone() const = 0;
  virtual void on_gone(std::function<void()> then) = 0;
};

}  // namespace lapilli::server
