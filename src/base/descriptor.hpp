// Reading from what a program has open already, at an offset, without moving anybody's place in it where the system
// can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace lapilli {

// A descriptor of open(); on Windows a HANDLE of CreateFile. Whoever opened it closes it. What is no such number, is
// closed or no regular file is told apart by size(), and is safe to ask.
class Descriptor {
 public:
  explicit Descriptor(int64_t value) : value_(value) {}

  // Of a regular file; nothing otherwise, and `why` says why not.
  [[nodiscard]] std::optional<uint64_t> size(std::string& why) const;
  // How many bytes were read: fewer than asked at the end of the file. Nothing if the system refused, with `why`.
  [[nodiscard]] std::optional<size_t> read(uint64_t offset, std::span<std::byte> to, std::string& why) const;

 private:
  int64_t value_;
};

}  // namespace lapilli
