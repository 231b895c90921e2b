#include "vectors/file_part.hpp"

#include "base/descriptor.hpp"
#include "base/path.hpp"

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace lapilli::vectors {

namespace {

void close_descriptor(int fd) {
#if defined(_WIN32)
  if (fd >= 0) _close(fd);
#else
  if (fd >= 0) ::close(fd);
#endif
}

// On Windows a Descriptor is a HANDLE.
int64_t as_descriptor(int fd) {
#if defined(_WIN32)
  return static_cast<int64_t>(_get_osfhandle(fd));
#else
  return fd;
#endif
}

}  // namespace

FileParts::~FileParts() { close_descriptor(fd_); }

void FileParts::open(const std::string& path) {
  if (fd_ >= 0 && path == path_) return;
  close_descriptor(fd_);
  fd_ = open_to_read(path);
  path_ = path;
}

std::optional<std::string> FileParts::read(const std::string& path, uint64_t offset, uint32_t bytes) {
  open(path);
  if (fd_ < 0) return {};
  std::string text(bytes, '\0'), why;
  const auto got = Descriptor(as_descriptor(fd_)).read(offset, std::as_writable_bytes(std::span(text)), why);
  if (!got || *got != bytes) return {};
  return text;
}

}  // namespace lapilli::vectors
