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

  // True once the client has left. `then` is called once on the I/O thread when it leaves, or at once if it has left;
  // it is dropped when the answer is sent.
  [[nodiscard]] virtual bool gone() const = 0;
  virtual void on_gone(std::function<void()> then) = 0;
};

}  // namespace lapilli::server
