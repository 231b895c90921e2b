#include "base/file_lock.hpp"

#include <cerrno>
#include <utility>

#include "base/path.hpp"

#if defined(_WIN32)
#include <io.h>
#include <sys/locking.h>
#else
#include <sys/file.h>
#include <unistd.h>
#endif

namespace lapilli {

namespace {

#if defined(_WIN32)
bool lock(int fd) {
  if (_locking(fd, _LK_NBLCK, 1) == 0) return true;
  errno = EWOULDBLOCK;
  return false;
}
void close_lock(int fd) { _close(fd); }
#else
bool lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }
void close_lock(int fd) { ::close(fd); }
#endif

}  // namespace

std::optional<FileLock> FileLock::take(const std::string& path) {
  const int fd = open_to_lock(path);
  if (fd < 0) return {};
  FileLock held(fd);
  if (lock(fd)) return held;
  const int why = errno;
  close_lock(std::exchange(held.fd_, -1));
  errno = why;
  return {};
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) close_lock(fd_);
}

}  // namespace lapilli
