// Connections of another protocol than HTTP (Wyoming), on the same I/O thread: bytes come in, bytes go out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace lapilli::server {

// The way back to the client. Any thread may use it; what is said to a connection that has ended is dropped.
class StreamLink {
 public:
  virtual ~StreamLink() = default;
  [[nodiscard]] virtual const std::string& address() const = 0;  // of the client, without its port
  virtual void send(std::string bytes) = 0;
  // Ends the connection once everything is sent.
  virtual void finish() = 0;
  // Bytes that the system has not taken yet. Beyond kMostUnsent the connection ends.
  [[nodiscard]] virtual uint64_t unsent() const = 0;
  static constexpr uint64_t kMostUnsent = uint64_t{8} << 20;
};

// One connection, as the application sees it. Called on the I/O thread: quick, and without waiting.
class StreamSession {
 public:
  virtual ~StreamSession() = default;
  // The next bytes. False ends the connection, once everything is sent.
  virtual bool received(std::string_view bytes) = 0;
  // True while an answer is being made: then a silent client is no idle one, and stop() waits for it. May be asked
  // while another thread works.
  [[nodiscard]] virtual bool working() const = 0;
  // Once, when the connection ends, whoever ends it. A client that says that it sends no more has left, as in HTTP.
  virtual void ended() = 0;
};

class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // A connection begins; null refuses it.
  virtual std::unique_ptr<StreamSession> connected(std::shared_ptr<StreamLink> link) = 0;
};

}  // namespace lapilli::server
