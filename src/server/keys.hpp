// The keys that a server asks for, each with limits of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server/work/desk.hpp"

namespace lapilli::server {

struct Key {
  std::string text;
  Desk::Limits limits;
};

// Sets the limit of "NAME=NUMBER", or says why it is none.
std::string read_limit(std::string_view given, Desk::Limits& limits);

// Keys from the content of a file: one a line, followed by its limits as NAME=NUMBER, with blanks between. Lines that
// begin with # are comments. The names: requests (a minute), characters, texts, alternatives, seconds (of sound),
// pixels, files, bytes. Limits that a line does not name are `usual`. `error` names a line that is wrong.
std::vector<Key> parse_keys(std::string_view content, const Desk::Limits& usual, std::string& error);

// A minute's requests.
struct Minute {
  using Clock = std::chrono::steady_clock;
  // Counts a request; gives the seconds after which there may be another, 0: this one may be.
  uint32_t count(uint32_t most, Clock::time_point now);
  [[nodiscard]] bool is_over(Clock::time_point now) const;
  Clock::time_point begin;
  uint32_t requests = 0;
};

// Requests of each address, where no keys are asked for. Thread-safe.
class Callers {
 public:
  uint32_t count(const std::string& address, uint32_t most);

 private:
  static constexpr size_t kMost = 4096;  // further addresses share a count
  std::mutex mutex_;
  std::map<std::string, Minute> minutes_;
};

// Requests of each key in the last minute. Thread-safe.
class KeyRing {
 public:
  explicit KeyRing(std::vector<Key> keys);
  [[nodiscard]] bool empty() const { return keys_.empty(); }
  // Null if it is none of them; compares all, each in the same time.
  [[nodiscard]] const Key* find(std::string_view given) const;
  // Counts a request; gives the seconds after which the key may ask again, 0 if it may now.
  uint32_t count(const Key& key);
  // Its number, from 1, in the order of the file.
  [[nodiscard]] size_t number_of(const Key& key) const { return static_cast<size_t>(&key - keys_.data()) + 1; }

 private:
  const std::vector<Key> keys_;
  std::mutex mutex_;
  std::vector<Minute> minutes_;  // of each key
};

}  // namespace lapilli::server
