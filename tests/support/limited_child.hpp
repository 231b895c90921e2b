// A part of a test in a process of its own, with little memory and time: for what reads hostile files. Whatever becomes
// of it, the test goes on and can say so.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace lapilli::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryLimited = false;  // sanitizers reserve more than any limit
#else
constexpr bool kMemoryLimited = true;
#endif

// Runs `part`, which returns an exit code, within so many bytes of address space and seconds. "": it ended with 0;
// otherwise how it ended. No other thread may run.
template <class Part>
std::string in_limited_child(uint64_t bytes, unsigned seconds, const Part& part) {
  const pid_t child = fork();
  if (child < 0) return "no process";
  if (child == 0) {
    const rlimit limit{bytes, bytes};
    if (kMemoryLimited && setrlimit(RLIMIT_AS, &limit) != 0) _exit(125);
    alarm(seconds);
    _exit(part());
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return "lost";
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace lapilli::test
