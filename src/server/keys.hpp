// The keys that a server asks for, each with limits of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server/work/desk.hpp"

namespace lapilli::server {

struct Key {
  std::string text;
  Desk::Limits limits;
  uint64_t most_bytes = 0;         // of a body; 0: as the routes say
  uint32_t requests_a_minute = 0;  // 0: any number
};

// Keys from the content of a file: one a line, followed by its limits as NAME=NUMBER, with blanks between. Lines that
// begin with # are comments. The names: requests (a minute), characters, texts, alternatives, seconds (of sound),
// pixels, files, bytes. Limits that a line does not name are `usual`. `error` names a line that is wrong.
std::vector<Key> parse_keys(std::string_view content, const Desk::Limits& usual, std::string& error);

// Requests of each key in the last minute. Thread-safe.
class KeyRing {
 public:
  explicit KeyRing(std::vector<Key> keys);
  [[nodiscard]] bool empty() const { return keys_.empty(); }
  // Null if it is none of them; compares all, each in the same time.
  [[nodiscard]] const Key* find(std::string_view given) const;
  // Counts a request; gives the seconds after which the key may ask again, 0 if it may now.
  uint32_t count(const Key& key);

 private:
  using Clock = std::chrono::steady_clock;
  struct Minute {
    Clock::time_point begin;
    uint32_t requests = 0;
  };
  const std::vector<Key> keys_;
  std::mutex mutex_;
  std::vector<Minute> minutes_;  // of each key
};

}  // namespace lapilli::server
