#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "recordings/child.hpp"

extern char** environ;  // NOLINT: declared by the system

namespace lapilli::recordings {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor from, to;
};

// Neither end is inherited by child processes.
bool open_pipe(Pipe& pipe) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  pipe = {Descriptor(ends[0]), Descriptor(ends[1])};
  return ::fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && ::fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

class PosixChild : public Child {
 public:
  PosixChild(pid_t pid, Descriptor out, Descriptor err) : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}
  PosixChild(const PosixChild&) = delete;
  PosixChild& operator=(const PosixChild&) = delete;
  ~PosixChild() override { end(); }

  Result<size_t> read(std::span<std::byte> to, milliseconds most) override {
    const auto until = Clock::now() + most;
    while (await(until)) {
      const ssize_t got = ::read(out_.get(), to.data(), to.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR && errno != EAGAIN) return fail(ErrorCode::internal, "reading: %s", std::strerror(errno));
    }
    return fail(ErrorCode::timeout, "nothing came for %.1f s", std::chrono::duration<double>(most).count());
  }

  // The process may run on for a while without writing anything.
  int wait() override {
    constexpr milliseconds kMost(5000), kOften(20);
    out_.close();
    for (const auto until = Clock::now() + kMost; Clock::now() < until;) {
      int status = 0;
      read_errors(kOften);
      if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
      pid_ = -1;
      while (read_errors(milliseconds(0))) {
      }
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    end();
    return -1;
  }

  [[nodiscard]] std::string last_words() const override { return words_.in_one_line(); }

 private:
  // Waits for output. Drains stderr meanwhile, so that the process never blocks on it. False: the time is over.
  bool await(Clock::time_point until) {
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
      if (left.count() <= 0) return false;
      pollfd both[2] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
      if (::poll(both, 2, static_cast<int>(std::min<int64_t>(left.count(), 60'000))) <= 0) continue;
      if (both[1].revents != 0) read_errors(milliseconds(0));
      if (both[0].revents != 0) return true;
    }
  }

  // Reads some of stderr, if it comes in time. Grandchildren may hold that pipe open.
  bool read_errors(milliseconds most) {
    pollfd words{err_.get(), POLLIN, 0};
    if (::poll(&words, 1, static_cast<int>(most.count())) <= 0) return false;
    char room[4096];
    const ssize_t got = ::read(err_.get(), room, sizeof room);
    if (got > 0) words_.add({room, static_cast<size_t>(got)});
    if (got == 0) err_.close();
    return got > 0;
  }

  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

  pid_t pid_;
  Descriptor out_, err_;
  TextEnd words_;
};

// A child's standard streams; input: null: nothing to read.
struct Streams {
  std::FILE* input;
  const Pipe &out, &err;
};

// Gives 0 or an error number.
int spawn(const std::string& program, std::vector<char*>& arguments, const Streams& streams, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (streams.input)
    posix_spawn_file_actions_adddup2(&files, fileno(streams.input), 0);
  else
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, streams.out.to.get(), 1);
  posix_spawn_file_actions_adddup2(&files, streams.err.to.get(), 2);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t usual;  // signals that this program ignores are reset to their defaults
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawn(&pid, program.c_str(), &files, &how, arguments.data(), environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

Result<std::unique_ptr<Child>> start_child(const std::string& program, const std::vector<std::string>& arguments,
                                           std::FILE* input) {
  std::vector<std::string> all{program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& a : all) pointers.push_back(a.data());
  pointers.push_back(nullptr);
  Pipe out, err;
  pid_t pid = -1;
  if (!open_pipe(out) || !open_pipe(err))
    return fail(ErrorCode::internal, "%s: no pipe: %s", program, std::strerror(errno));
  if (const int error = spawn(program, pointers, {input, out, err}, pid))
    return fail(ErrorCode::unsupported, "%s cannot be started: %s", program, std::strerror(error));
  return std::unique_ptr<Child>(new PosixChild(pid, std::move(out.from), std::move(err.from)));
}

}  // namespace lapilli::recordings
