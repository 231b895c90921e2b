// A lock file that one program at a time may hold.
#pragma once

#include <optional>
#include <string>

namespace lapilli {

// Held until it is destroyed or its process ends, however that happens. The file stays, or its holder removes it: a
// lock of a file that has lost its name is none.
class FileLock {
 public:
  // Nothing if another process holds it (errno is EWOULDBLOCK) or the file cannot be made.
  static std::optional<FileLock> take(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace lapilli
