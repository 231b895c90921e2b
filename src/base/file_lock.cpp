#include "base/file_lock.hpp"

#include <cerrno>
#include <utility>

#include "base/path.hpp"

#if defined(_WIN32)
#include <io.h>
#include <sys/locking.h>
#else
#include <sys/file.h>
#include <sys/stat.h>
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
// An open file is not removed.
bool is_named(int, const std::string&) { return true; }
void close_lock(int fd) { _close(fd); }
#else
bool lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }
// False: who held it before has removed the file, and the next process would make another one.
bool is_named(int fd, const std::string& path) {
  struct stat own = {}, named = {};
  const int other = open_to_read(path);
  if (other < 0) return false;
  const bool known = ::fstat(fd, &own) == 0 && ::fstat(other, &named) == 0;
  ::close(other);
  return known && own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}
void close_lock(int fd) { ::close(fd); }
#endif

}  // namespace

std::optional<FileLock> FileLock::take(const std::string& path) {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    const int fd = open_to_lock(path);
    if (fd < 0) return {};
    FileLock held(fd);
    if (!lock(fd)) {
      const int why = errno;
      close_lock(std::exchange(held.fd_, -1));
      errno = why;
      return {};
    }
    if (is_named(fd, path)) return held;
  }
  errno = EWOULDBLOCK;
  return {};
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) close_lock(fd_);
}

}  // namespace lapilli
