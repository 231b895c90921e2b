// Runs programs as a user would: arguments, standard input, environment, signals and terminals in; output and exit code
// out.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

extern char** environ;

namespace lapilli::test {

struct Outcome {
  int code = -1;  // exit code, or 256 + the signal that ended the program
  std::string out, err;
};

struct Spawn {
  std::vector<std::string> arguments;              // the program first
  std::vector<std::string> environment;            // "NAME=value" over ours; "NAME" alone removes it
  std::string stdout_path;                         // instead of a pipe
  bool terminal_in = false, terminal_err = false;  // a pseudo terminal instead of a pipe
};

// False where the system gives no pseudo-terminals (a bare chroot without /dev/pts).
inline bool have_terminals() {
  int fd[2];
  if (openpty(&fd[0], &fd[1], nullptr, nullptr, nullptr) != 0) return false;
  close(fd[0]);
  close(fd[1]);
  return true;
}

// A running program. Its pipes are closed and it is killed when this goes.
class Process {
 public:
  explicit Process(const Spawn& spawn) : terminal_in_(spawn.terminal_in) {
    int in[2], out[2], err[2];
    if (pipe_for(spawn.terminal_in, in) != 0 || pipe_for(false, out) != 0 || pipe_for(spawn.terminal_err, err) != 0)
      return;
    if (spawn.terminal_in) std::swap(in[0], in[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    if (spawn.stdout_path.empty()) {
      posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    } else {
      posix_spawn_file_actions_addopen(&actions, 1, spawn.stdout_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    // This program ignores it, to survive a child that ends early; the child starts as from a shell.
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::vector<std::string> environment = merged(spawn.environment);
    std::vector<char*> argv = pointers(spawn.arguments), envp = pointers(environment);
    if (posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(), envp.data()) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(in[0]), close(out[1]), close(err[1]);
    in_ = in[1], out_ = out[0], err_ = err[0];
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    for (int fd : {in_, out_, err_}) {
      if (fd >= 0) close(fd);
    }
  }

  // Handed over during the next wait or finish.
  void write(const std::string& text) { input_ += text; }
  void close_input() { close_end(in_); }
  void close_output() { close_end(out_); }
  void signal(int number) const { ::kill(pid_, number); }

  // Reads until stdout holds `lines` lines in all; false after `seconds` or at the end.
  bool wait_for_lines(size_t lines, int seconds = 60) {
    return pump(seconds, [&] { return count(outcome_.out, '\n') >= lines; });
  }
  bool wait_for_err(const std::string& text, int seconds = 60) {
    return pump(seconds, [&] { return outcome_.err.find(text) != std::string::npos; });
  }
  bool wait_for_out(const std::string& text, int seconds = 60) {
    return pump(seconds, [&] { return outcome_.out.find(text) != std::string::npos; });
  }
  // Feeds, but reads nothing, until stdout's pipe is full and stays so.
  bool wait_for_full_output(int seconds = 60) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    int before = 0, same = 0;
    while (same < 10 && std::chrono::steady_clock::now() < deadline) {
      pollfd room{input_.empty() ? -1 : in_, POLLOUT, 0};
      if (poll(&room, 1, 30) > 0) feed();
      int held = 0;
      ioctl(out_, FIONREAD, &held);
      same = held == before && held > fcntl(out_, F_GETPIPE_SZ) / 2 && input_.empty() ? same + 1 : 0;
      before = held;
    }
    return same >= 10;
  }
  const std::string& out() const { return outcome_.out; }
  const std::string& err() const { return outcome_.err; }

  // Feeds `input`, closes stdin, reads everything and waits for the end.
  Outcome finish(const std::string& input = "", int seconds = 120) {
    input_ += input;
    close_when_fed_ = !terminal_in_;  // that would hang the terminal up; its end is a Ctrl-D in the input
    pump(seconds, [] { return false; });
    if (out_ >= 0 || err_ >= 0) signal(SIGKILL);  // timed out
    int status = 0;
    if (pid_ > 0 && waitpid(pid_, &status, 0) == pid_) {
      outcome_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
    }
    pid_ = -1;
    return outcome_;
  }

 private:
  static size_t count(const std::string& text, char c) {
    size_t n = 0;
    for (char at : text) n += at == c;
    return n;
  }
  // fd[0] is read and fd[1] written; a terminal's master is fd[0].
  static int pipe_for(bool terminal, int fd[2]) {
    if (!terminal) return pipe2(fd, O_CLOEXEC);
    if (openpty(&fd[0], &fd[1], nullptr, nullptr, nullptr) != 0) return -1;
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    return fcntl(fd[1], F_SETFD, FD_CLOEXEC);
  }
  static void close_end(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  static std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> list;
    for (const std::string& s : strings) list.push_back(const_cast<char*>(s.c_str()));
    list.push_back(nullptr);
    return list;
  }
  static std::vector<std::string> merged(const std::vector<std::string>& over) {
    std::vector<std::string> list;
    for (char** at = environ; *at; ++at) {
      const std::string entry = *at, name = entry.substr(0, entry.find('='));
      bool replaced = false;
      for (const std::string& o : over) replaced = replaced || o.substr(0, o.find('=')) == name;
      if (!replaced) list.push_back(entry);
    }
    for (const std::string& o : over) {
      if (o.find('=') != std::string::npos) list.push_back(o);
    }
    return list;
  }

  // Feeds and reads until `done`, the time-out or the end of both outputs. True: done.
  template <class Done>
  bool pump(int seconds, Done&& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (!done()) {
      if ((out_ < 0 && err_ < 0) || std::chrono::steady_clock::now() > deadline) return false;
      pollfd fds[3] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}, {input_.empty() ? -1 : in_, POLLOUT, 0}};
      if (poll(fds, 3, 100) < 0 && errno != EINTR) return false;
      read_into(fds[0], out_, outcome_.out);
      read_into(fds[1], err_, outcome_.err);
      if (fds[2].revents) feed();
      if (input_.empty() && close_when_fed_) close_input();
    }
    return true;
  }
  // A pipe that is ready takes PIPE_BUF bytes without blocking.
  void feed() {
    const ssize_t n = ::write(in_, input_.data(), std::min<size_t>(input_.size(), 4096));
    if (n > 0) input_.erase(0, static_cast<size_t>(n));
    if (n < 0) input_.clear();  // nobody reads it
  }
  static void read_into(const pollfd& polled, int& fd, std::string& to) {
    if (fd < 0 || !polled.revents) return;
    char buffer[4096];
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n > 0) {
      to.append(buffer, static_cast<size_t>(n));
    } else {
      close_end(fd);
    }
  }

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  std::string input_;
  bool close_when_fed_ = false, terminal_in_ = false;
  Outcome outcome_;
};

inline Outcome run(const Spawn& spawn, const std::string& input = "") { return Process(spawn).finish(input); }

}  // namespace lapilli::test
