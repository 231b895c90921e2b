// A hash that detects changed content, but is no protection against deliberate collisions: FNV-1a in 64 bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lapilli::shards {

class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  void add(uint64_t number) { add(std::to_string(number) + ' '); }
  // Sixteen digits.
  [[nodiscard]] std::string text() const {
    std::string digits(16, '0');
    for (size_t i = 0; i < digits.size(); ++i) digits[i] = "0123456789abcdef"[value_ >> (60 - 4 * i) & 15];
    return digits;
  }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace lapilli::shards
