// A file that one program at a time may hold.
#pragma once

#include <optional>
#include <string>

namespace lapilli {

// Held until it goes, or its program ends in whatever way. The file stays: who removes one that another waits for would
// let two in.
class FileLock {
 public:
  // Nothing if another holds it, or the file cannot be made: errno is EWOULDBLOCK in the first case.
  static std::optional<FileLock> take(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace lapilli
