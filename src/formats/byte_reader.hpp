// Bounds-checked little-endian reading. Every call returns false if the bytes are missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace lapilli {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes, uint64_t position = 0)
      : bytes_(bytes), position_(position <= bytes.size() ? position : bytes.size()) {}

  [[nodiscard]] uint64_t position() const { return position_; }
  [[nodiscard]] uint64_t remaining() const { return bytes_.size() - position_; }

  [[nodiscard]] bool skip(uint64_t n) {
    if (n > remaining()) return false;
    position_ += n;
    return true;
  }
  [[nodiscard]] bool bytes(uint64_t n, std::span<const std::byte>& out) {
    if (n > remaining()) return false;
    out = bytes_.subspan(position_, n);
    position_ += n;
    return true;
  }
  // The view stays valid as long as the bytes.
  [[nodiscard]] bool text(uint64_t n, std::string_view& out) {
    std::span<const std::byte> b;
    if (!bytes(n, b)) return false;
    out = {reinterpret_cast<const char*>(b.data()), b.size()};
    return true;
  }
  // Reads up to the next newline and skips it; false if there is none within `limit` bytes.
  [[nodiscard]] bool line(uint64_t limit, std::string_view& out) {
    const uint64_t range = remaining() < limit ? remaining() : limit;
    if (range == 0) return false;
    const auto* start = reinterpret_cast<const char*>(bytes_.data()) + position_;
    const auto* end = static_cast<const char*>(std::memchr(start, '\n', range));
    if (!end) return false;
    out = {start, static_cast<size_t>(end - start)};
    position_ += out.size() + 1;
    return true;
  }
  // An integer or floating-point number; the project runs only on little-endian machines.
  template <class T>
  [[nodiscard]] bool number(T& out) {
    if (sizeof(T) > remaining()) return false;
    std::memcpy(&out, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  uint64_t position_ = 0;
};

}  // namespace lapilli
