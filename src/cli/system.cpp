#include "cli/system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#if defined(_WIN32)
#include <io.h>
#include <windows.h>
// after windows.h
#include <shellapi.h>
#else
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace lapilli::cli {

namespace {

volatile std::sig_atomic_t g_signal = 0;

extern "C" void on_signal(int number) {
  g_signal = number;
#if defined(_WIN32)
  std::signal(number, SIG_DFL);
#endif
}

}  // namespace

int interrupted() { return g_signal; }

#if defined(_WIN32)

namespace {
std::string to_utf8(const wchar_t* text) {
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
  if (bytes <= 1) return {};
  std::string out(static_cast<size_t>(bytes), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, -1, out.data(), bytes, nullptr, nullptr);
  out.pop_back();
  return out;
}
std::filesystem::path to_path(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}
}  // namespace

std::vector<std::string> utf8_arguments(int, char**) {
  std::vector<std::string> arguments;
  int count = 0;
  wchar_t** wide = CommandLineToArgvW(GetCommandLineW(), &count);
  for (int i = 1; wide && i < count; ++i) arguments.push_back(to_utf8(wide[i]));
  LocalFree(wide);
  return arguments;
}

void prepare_streams() {
  SetConsoleOutputCP(CP_UTF8);
  _setmode(0, _O_BINARY);
}

bool is_terminal(int fd) { return _isatty(fd) != 0; }
int terminal_columns() { return 80; }

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool is_readable_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(to_path(path), error);
}

InputFile InputFile::open(const std::string& path) {
  return InputFile(_wopen(to_path(path).c_str(), _O_RDONLY | _O_BINARY), true);
}

InputFile::InputFile(int fd, bool owned) : fd_(fd), owned_(owned) {
  struct _stat64 info {};
  if (fd >= 0 && _fstat64(fd, &info) == 0 && (info.st_mode & _S_IFREG)) {
    regular_ = true;
    size_ = static_cast<uint64_t>(info.st_size);
  }
}

InputFile::~InputFile() {
  if (owned_ && fd_ >= 0) _close(fd_);
}

long InputFile::read(char* to, size_t bytes) { return _read(fd_, to, static_cast<unsigned>(bytes)); }

#else

std::vector<std::string> utf8_arguments(int argc, char** argv) {
  return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>{};
}

void prepare_streams() { std::signal(SIGPIPE, SIG_IGN); }

bool is_terminal(int fd) { return isatty(fd) != 0; }

int terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a read that waits for input ends.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool is_readable_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

InputFile InputFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    ::close(fd);
    errno = EISDIR;
    return InputFile(-1, false);
  }
  return InputFile(fd, true);
}

InputFile::InputFile(int fd, bool owned) : fd_(fd), owned_(owned) {
  struct stat info {};
  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    regular_ = true;
    size_ = static_cast<uint64_t>(std::max<off_t>(0, info.st_size));
  }
}

InputFile::~InputFile() {
  if (owned_ && fd_ >= 0) ::close(fd_);
}

long InputFile::read(char* to, size_t bytes) { return static_cast<long>(::read(fd_, to, bytes)); }

#endif

InputFile InputFile::standard_input() { return InputFile(0, false); }

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(other.fd_), owned_(other.owned_), regular_(other.regular_), size_(other.size_) {
  other.fd_ = -1;
}

}  // namespace lapilli::cli
