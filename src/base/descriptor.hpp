// Positioned reads from a file that the program has open already; its file position stays where it is if the system can
// do that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace lapilli {

// A descriptor of open(); on Windows a HANDLE of CreateFile. Not owned: the opener closes it. Any number is safe to ask
// about: size() recognises invalid and closed descriptors and those of no regular file.
class Descriptor {
 public:
  explicit Descriptor(int64_t value) : value_(value) {}

  // Size of a regular file; otherwise nothing, with the reason in `why`.
  [[nodiscard]] std::optional<uint64_t> size(std::string& why) const;
  // Number of bytes read, fewer than asked for at the end of the file. Nothing if the system refused, with the reason
  // in `why`.
  [[nodiscard]] std::optional<size_t> read(uint64_t offset, std::span<std::byte> to, std::string& why) const;

 private:
  int64_t value_;
};

}  // namespace lapilli
