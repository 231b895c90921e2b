#include "base/path.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#if defined(_WIN32)
#include <io.h>
#include <sys/stat.h>
#include <windows.h>
#else
#include <unistd.h>
#endif

namespace lapilli {

namespace fs = std::filesystem;

#if defined(_WIN32)

std::wstring to_wide(std::string_view utf8) {
  const int bytes = static_cast<int>(utf8.size());
  std::wstring wide(static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

std::string to_utf8(std::wstring_view wide) {
  const int count = static_cast<int>(wide.size());
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, wide.data(), count, nullptr, 0, nullptr, nullptr);
  std::string utf8(static_cast<size_t>(bytes), '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), count, utf8.data(), bytes, nullptr, nullptr);
  return utf8;
}

// Windows refuses to rename while the file is open, usually briefly: by a reader of ours or a virus scanner.
constexpr int kAttemptsToRename = 40;

std::FILE* open_stream(const std::string& path, const char* mode) {
  if (std::string_view(mode) != "rb") return _wfopen(to_wide(path).c_str(), to_wide(mode).c_str());
  const int descriptor = open_to_read(path);
  return descriptor < 0 ? nullptr : _fdopen(descriptor, mode);
}

// _wopen would block renaming and replacing the file meanwhile, and does not open one that is just being renamed.
int open_to_read(const std::string& path) {
  const HANDLE file =
      CreateFileW(to_wide(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file != INVALID_HANDLE_VALUE) {
    const int descriptor = _open_osfhandle(reinterpret_cast<intptr_t>(file), _O_RDONLY | _O_BINARY);
    if (descriptor < 0) CloseHandle(file);
    return descriptor;
  }
  const std::error_code problem(static_cast<int>(GetLastError()), std::system_category());
  errno = problem.default_error_condition().value();
  return -1;
}

int open_to_lock(const std::string& path) {
  return _wopen(to_wide(path).c_str(), _O_RDWR | _O_CREAT | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}

int open_to_write(const std::string& path, bool append) {
  const int how = _O_WRONLY | _O_CREAT | _O_BINARY | _O_NOINHERIT | (append ? _O_APPEND : _O_TRUNC);
  return _wopen(to_wide(path).c_str(), how, _S_IREAD | _S_IWRITE);
}

bool flush_to_disk(std::FILE* stream) { return std::fflush(stream) == 0 && _commit(_fileno(stream)) == 0; }

std::optional<std::string> environment_if_set(const char* name) {
  const wchar_t* value = _wgetenv(to_wide(name).c_str());
  return value ? std::optional(to_utf8(value)) : std::nullopt;
}

namespace {
fs::path native(const std::string& path) { return to_wide(path); }
std::string utf8(const fs::path& path) { return to_utf8(path.native()); }
}  // namespace

#else

constexpr int kAttemptsToRename = 1;

std::FILE* open_stream(const std::string& path, const char* mode) { return std::fopen(path.c_str(), mode); }

int open_to_read(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }

int open_to_lock(const std::string& path) { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666); }

int open_to_write(const std::string& path, bool append) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0666);
}

// Not every file system supports fsync.
bool flush_to_disk(std::FILE* stream) {
  return std::fflush(stream) == 0 && (::fsync(fileno(stream)) == 0 || errno == EINVAL || errno == ENOTSUP);
}

std::optional<std::string> environment_if_set(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

namespace {
fs::path native(const std::string& path) { return path; }
std::string utf8(const fs::path& path) { return path.native(); }
}  // namespace

#endif

std::string environment(const char* name) { return environment_if_set(name).value_or(""); }

namespace {

bool succeeded(const std::error_code& error) {
  if (error) errno = error.default_error_condition().value();
  return !error;
}

}  // namespace

FileKind file_kind(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(native(path), error);
  if (fs::exists(status)) {
    return fs::is_regular_file(status) ? FileKind::regular
           : fs::is_directory(status)  ? FileKind::directory
                                       : FileKind::other;
  }
  errno = error ? error.default_error_condition().value() : ENOENT;
  return FileKind::none;
}

bool file_exists(const std::string& path) { return file_kind(path) == FileKind::regular; }
bool file_is_named(const std::string& path) {
  const FileKind kind = file_kind(path);
  return kind == FileKind::none ? !link_target(path).empty() : kind != FileKind::directory;
}
bool directory_exists(const std::string& path) { return file_kind(path) == FileKind::directory; }

uint64_t file_size(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(native(path), error);
  return error ? 0 : bytes;
}

bool resize_file(const std::string& path, uint64_t bytes) {
  std::error_code error;
  fs::resize_file(native(path), bytes, error);
  return !error;
}

bool remove_file(const std::string& path) {
  std::error_code error;
  return fs::remove(native(path), error);
}

bool remove_empty_folder(const std::string& path) {
  return directory_exists(path) && names_in(path).empty() && remove_file(path);
}

bool remove_folder(const std::string& path, uint64_t& bytes) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(native(path), error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->symlink_status(ignored).type() == fs::file_type::regular) bytes += at->file_size(ignored);
  }
  if (!error) fs::remove_all(native(path), error);
  return succeeded(error);
}

bool rename_file(const std::string& from, const std::string& to) {
  std::error_code error;
  for (int attempts = 0; attempts < kAttemptsToRename; ++attempts) {
    if (attempts > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    fs::rename(native(from), native(to), error);
    if (error != std::errc::permission_denied) break;
  }
  return succeeded(error);
}

bool make_directories(const std::string& path) {
  std::error_code error;
  fs::create_directories(native(path), error);
  return succeeded(error);
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(native(directory), error), end; !error && at != end; at.increment(error))
    names.push_back(utf8(at->path().filename()));
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<uint64_t> free_bytes(const std::string& directory) {
  std::error_code error;
  const fs::space_info space = fs::space(native(directory), error);
  if (error || space.available == static_cast<std::uintmax_t>(-1)) return {};
  return space.available;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(native(a), native(b), error) && !error;
}

uint64_t file_time(const std::string& path) {
  std::error_code error;
  const auto time = fs::last_write_time(native(path), error);
  return error ? 0 : static_cast<uint64_t>(time.time_since_epoch().count());
}

bool list_folder(const std::string& path, std::vector<FolderEntry>& entries) {
  std::error_code error;
  fs::directory_iterator at(native(path), error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string name = utf8(at->path().filename());
    FileKind kind = file_kind(utf8(at->path()));
    if (kind == FileKind::directory && at->is_symlink(ignored)) kind = FileKind::other;
    entries.push_back({name, kind});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return succeeded(error);
}

std::string link_target(const std::string& path) {
  std::error_code error;
  return utf8(fs::read_symlink(native(path), error));
}

std::string real_folder(const std::string& file) {
  std::error_code error;
  return utf8(fs::weakly_canonical(native(file), error).parent_path());
}

std::string normal_path(const std::string& path) { return utf8(native(path).lexically_normal()); }

std::string cache_directory() {
  if (const std::string own = environment("LAPILLI_CACHE"); !own.empty()) return own;
  if (const std::string caches = environment("XDG_CACHE_HOME"); !caches.empty()) return caches + "/lapilli";
#if defined(_WIN32)
  if (const std::string local = environment("LOCALAPPDATA"); !local.empty()) return local + "/lapilli";
#else
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/lapilli";
#endif
  return "";
}

}  // namespace lapilli
