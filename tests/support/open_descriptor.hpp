// The value that programs hand to Lapilli as FilePart::descriptor: a descriptor, on Windows a HANDLE.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#if defined(_WIN32)
#include <windows.h>

#include "base/path.hpp"
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace lapilli::test {

// One that is open to be read; closed when this goes, or before.
class OpenDescriptor {
 public:
  static OpenDescriptor of(const std::string& file_or_directory);
  static OpenDescriptor of_pipe();  // which nobody writes to
  OpenDescriptor(OpenDescriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  ~OpenDescriptor() { close(); }

  [[nodiscard]] int64_t value() const { return value_; }
  void close();

 private:
  explicit OpenDescriptor(int64_t value) : value_(value) {}
  int64_t value_;
};

#if defined(_WIN32)

inline int64_t descriptor_value(HANDLE handle) { return static_cast<int64_t>(reinterpret_cast<intptr_t>(handle)); }

// FILE_FLAG_BACKUP_SEMANTICS is what directories are opened with.
inline OpenDescriptor OpenDescriptor::of(const std::string& file_or_directory) {
  return OpenDescriptor(descriptor_value(CreateFileW(to_wide(file_or_directory).c_str(), GENERIC_READ, FILE_SHARE_READ,
                                                     nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr)));
}

inline OpenDescriptor OpenDescriptor::of_pipe() {
  HANDLE ends[2] = {INVALID_HANDLE_VALUE, INVALID_HANDLE_VALUE};
  CreatePipe(&ends[0], &ends[1], nullptr, 0);
  CloseHandle(ends[1]);
  return OpenDescriptor(descriptor_value(ends[0]));
}

inline void OpenDescriptor::close() {
  if (value_ != -1) CloseHandle(reinterpret_cast<HANDLE>(static_cast<intptr_t>(std::exchange(value_, -1))));
}

#else

inline OpenDescriptor OpenDescriptor::of(const std::string& file_or_directory) {
  return OpenDescriptor(::open(file_or_directory.c_str(), O_RDONLY | O_CLOEXEC));
}

inline OpenDescriptor OpenDescriptor::of_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) == 0) ::close(ends[1]);
  return OpenDescriptor(ends[0]);
}

inline void OpenDescriptor::close() {
  if (value_ != -1) ::close(static_cast<int>(std::exchange(value_, -1)));
}

#endif

}  // namespace lapilli::test
