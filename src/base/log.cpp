#include "base/log.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>

namespace lapilli {

namespace {
// Function-local statics: nothing of ours runs before main.
struct State {
  std::mutex mutex;
  std::function<void(LogLevel, const std::string&)> hook;
  std::atomic<int> level{static_cast<int>(LogLevel::note)};
};
State& state() {
  static State s;
  return s;
}
}  // namespace

void set_log_hook(std::function<void(LogLevel, const std::string&)> hook) {
  std::lock_guard lock(state().mutex);
  state().hook = std::move(hook);
}

void set_log_level(LogLevel level) { state().level = static_cast<int>(level); }

bool log_enabled(LogLevel level) { return static_cast<int>(level) <= state().level; }

void log(LogLevel level, const std::string& message) {
  if (!log_enabled(level)) return;
  std::lock_guard lock(state().mutex);
  if (state().hook) {
    state().hook(level, message);
  } else {
    std::fprintf(stderr, "lapilli: %s\n", message.c_str());
  }
}

}  // namespace lapilli
