#include "base/descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace lapilli {

namespace {

constexpr const char* kNotRegular = "it is a directory, a pipe or a device, not a regular file";
// Most bytes per call; some systems take no more than 2 GiB.
constexpr size_t kMostAtOnce = size_t{1} << 30;

}  // namespace

#if defined(_WIN32)

namespace {

HANDLE handle_of(int64_t value) { return reinterpret_cast<HANDLE>(static_cast<intptr_t>(value)); }

std::string last_problem() { return "error " + std::to_string(GetLastError()) + " of the system"; }

// Works for a handle opened for overlapped reading, too.
bool read_once(HANDLE handle, uint64_t offset, std::span<std::byte> to, DWORD& done) {
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  if (ReadFile(handle, to.data(), static_cast<DWORD>(to.size()), &done, &at)) return true;
  if (GetLastError() == ERROR_IO_PENDING && GetOverlappedResult(handle, &at, &done, TRUE)) return true;
  if (GetLastError() != ERROR_HANDLE_EOF) return false;
  done = 0;
  return true;
}

}  // namespace

std::optional<uint64_t> Descriptor::size(std::string& why) const {
  const HANDLE handle = handle_of(value_);
  BY_HANDLE_FILE_INFORMATION facts{};
  if (GetFileType(handle) != FILE_TYPE_DISK || !GetFileInformationByHandle(handle, &facts)) {
    why = GetFileType(handle) == FILE_TYPE_UNKNOWN ? "it is not open" : kNotRegular;
    return {};
  }
  if (facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) {
    why = kNotRegular;
    return {};
  }
  return uint64_t{facts.nFileSizeHigh} << 32 | facts.nFileSizeLow;
}

std::optional<size_t> Descriptor::read(uint64_t offset, std::span<std::byte> to, std::string& why) const {
  size_t done = 0;
  while (done < to.size()) {
    DWORD got = 0;
    const auto part = to.subspan(done, std::min(kMostAtOnce, to.size() - done));
    if (!read_once(handle_of(value_), offset + done, part, got)) {
      why = last_problem();
      return {};
    }
    if (got == 0) break;
    done += got;
  }
  return done;
}

#else

namespace {

bool is_descriptor(int64_t value) { return value >= 0 && value <= std::numeric_limits<int>::max(); }

}  // namespace

std::optional<uint64_t> Descriptor::size(std::string& why) const {
  struct stat facts {};
  if (!is_descriptor(value_) || ::fstat(static_cast<int>(value_), &facts) != 0) {
    why = "it is not open";
    return {};
  }
  if (!S_ISREG(facts.st_mode)) {
    why = kNotRegular;
    return {};
  }
  return static_cast<uint64_t>(facts.st_size);
}

std::optional<size_t> Descriptor::read(uint64_t offset, std::span<std::byte> to, std::string& why) const {
  size_t done = 0;
  while (done < to.size()) {
    const uint64_t at = offset + done;
    if (!is_descriptor(value_) || at > static_cast<uint64_t>(std::numeric_limits<off_t>::max())) {
      why = std::strerror(is_descriptor(value_) ? EOVERFLOW : EBADF);
      return {};
    }
    const ssize_t got = ::pread(static_cast<int>(value_), to.data() + done, std::min(kMostAtOnce, to.size() - done),
                                static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      why = std::strerror(errno);
      return {};
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

#endif

}  // namespace lapilli
