#include "cli/system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/path.hpp"

#if defined(_WIN32)
#include <io.h>
#include <windows.h>
// after windows.h
#include <shellapi.h>
#else
#include <poll.h>
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

long write_some(int fd, const char* from, size_t bytes) {
  constexpr size_t kMost = 32768;  // the most that consoles take at once
  return _write(fd, from, static_cast<unsigned>(std::min(bytes, kMost)));
}

int sync_file(int fd) { return _commit(fd) == 0 ? 0 : errno; }
void close_file(int fd) { _close(fd); }

bool output_may_be_shown() { return false; }

void catch_interrupts() {
  for (const int number : {SIGINT, SIGTERM}) {
    if (std::signal(number, on_signal) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

bool is_readable_file(const std::string& path) { return file_exists(path); }

int check_input(const std::string& path) {
  errno = 0;
  return InputFile::open(path).ok() ? 0 : errno;
}

InputFile InputFile::open(const std::string& path) { return InputFile(open_to_read(path), true); }

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

bool InputFile::ready() const { return regular_; }

bool InputFile::seek(uint64_t byte) { return _lseeki64(fd_, static_cast<__int64>(byte), SEEK_SET) >= 0; }

#else

std::vector<std::string> utf8_arguments(int argc, char** argv) {
  return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>{};
}

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  // Otherwise a file or a driver's device could get the number of a closed stream, and be read or written in its place.
  // The opposite mode makes uses of the stream fail, as if it were closed.
  for (const int fd : {0, 1, 2}) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    const int opened = ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != fd) ::close(opened);
  }
}

long write_some(int fd, const char* from, size_t bytes) {
  while (true) {
    const ssize_t written = ::write(fd, from, bytes);
    if (written >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return static_cast<long>(written);
    pollfd wait{fd, POLLOUT, 0};
    if (poll(&wait, 1, -1) < 0) return -1;
  }
}

int sync_file(int fd) {
  // Not every file system supports it.
  return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}
void close_file(int fd) { ::close(fd); }

bool is_terminal(int fd) { return isatty(fd) != 0; }

namespace {

// The process group of a process, 0 if it is gone: the third field behind the name, which ends at the last parenthesis.
int group_of(const std::string& process) {
  char text[512];
  InputFile file = InputFile::open("/proc/" + process + "/stat");
  const long got = file.ok() ? file.read(text, sizeof text - 1) : 0;
  text[std::max(got, 0L)] = '\0';
  const char* name_end = std::strrchr(text, ')');
  char state = 0;
  int parent = 0, group = 0;
  return name_end && std::sscanf(name_end + 1, " %c %d %d", &state, &parent, &group) == 3 ? group : 0;
}

bool shows(const std::string& process) {
  const std::string files = "/proc/" + process + "/fd/";
  const std::string to = link_target(files + "1");
  return link_target(files + "0").starts_with("pipe:") && (to.starts_with("/dev/pts/") || to.starts_with("/dev/tty"));
}

}  // namespace

bool output_may_be_shown() {
  struct stat info {};
  if (fstat(STDOUT_FILENO, &info) != 0 || !S_ISFIFO(info.st_mode)) return false;
  std::vector<FolderEntry> processes;
  if (group_of("self") == 0 || !list_folder("/proc", processes)) return true;
  const std::string own = std::to_string(getpid());
  return std::any_of(processes.begin(), processes.end(), [&](const FolderEntry& entry) {
    if (entry.name.find_first_not_of("0123456789") != std::string::npos || entry.name == own) return false;
    return group_of(entry.name) == getpgrp() && shows(entry.name);
  });
}

int terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: an interrupted read returns.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
}

bool is_readable_file(const std::string& path) {
  const FileKind kind = file_kind(path);
  return kind == FileKind::regular || kind == FileKind::other;
}

int check_input(const std::string& path) {
  const FileKind kind = file_kind(path);
  if (kind == FileKind::none) return errno;
  if (kind == FileKind::other) return access(path.c_str(), R_OK) == 0 ? 0 : errno;
  errno = 0;
  return InputFile::open(path).ok() ? 0 : errno;
}

InputFile InputFile::open(const std::string& path) {
  const int fd = open_to_read(path);
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

bool InputFile::seek(uint64_t byte) { return lseek(fd_, static_cast<off_t>(byte), SEEK_SET) >= 0; }

bool InputFile::ready() const {
  pollfd wait{fd_, POLLIN, 0};
  return regular_ || poll(&wait, 1, 0) > 0;
}

#endif

bool is_pipe(const std::string& name) { return name == "-" || file_kind(name) == FileKind::other; }

int read_whole(const std::string& path, std::string& text) {
  constexpr size_t kMost = size_t{1} << 24;
  InputFile file = InputFile::open(path);
  if (!file.ok()) return errno;
  char part[4096];
  while (const long got = file.read(part, sizeof part)) {
    if (got < 0) return errno;
    text.append(part, static_cast<size_t>(got));
    if (text.size() > kMost) return EFBIG;
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return 0;
}

InputFile InputFile::standard_input() { return InputFile(0, false); }

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(other.fd_), owned_(other.owned_), regular_(other.regular_), size_(other.size_) {
  other.fd_ = -1;
}

}  // namespace lapilli::cli
