// Wyoming's events as they travel: a line of JSON with the type, then so many bytes of JSON and of payload as it says.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "server/protocols/json_body.hpp"

namespace lapilli::server {

struct WireEvent {
  std::string type;
  nlohmann::json data = nlohmann::json::object();  // of the line and of the bytes behind it; the latter count
  std::string payload;
};

// Makes events of bytes as they come. One thread at a time uses it.
class WireReader {
 public:
  struct Limits {
    size_t line = size_t{1} << 16, data = size_t{1} << 20, payload = size_t{16} << 20;
  };
  WireReader() = default;
  explicit WireReader(Limits limits) : limits_(limits) {}

  void append(std::string_view bytes) { bytes_ += bytes; }
  // The next whole event; nothing while bytes are missing, or once something is wrong.
  std::optional<WireEvent> next();
  // Why the bytes are none of the protocol; "" if they are. Nothing can be read behind that.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  struct Head {
    WireEvent event;
    size_t data = 0, payload = 0;
  };
  bool read_head();
  bool read_length(const nlohmann::json& line, const char* name, size_t most, size_t& length);
  bool read_data();
  std::string_view take(size_t bytes);
  bool fail(std::string why);

  Limits limits_;
  std::string bytes_;
  size_t at_ = 0;        // those before it are taken
  size_t searched_ = 0;  // no line ends before it
  std::optional<Head> head_;
  std::string wrong_;
};

// An event as the clients read it.
std::string wire_event(std::string_view type, const Json& data, std::string_view payload = {});

}  // namespace lapilli::server
