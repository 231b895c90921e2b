#include "base/log.hpp"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/log_once.hpp"

namespace lapilli {

namespace {
using Hook = std::function<void(LogLevel, const std::string&)>;

// Made at the first use, as no code of ours runs before main, and never destroyed: threads may outlive main.
struct State {
  // Held while the hook runs; the hook may call back into this file.
  std::recursive_mutex mutex;
  std::shared_ptr<const Hook> hook;
  bool in_hook = false;
  std::set<std::string> told;  // kinds of log_once(), to this hook
  std::atomic<int> level{static_cast<int>(LogLevel::note)};
};
State& state() {
  static State& s = *new State;
  return s;
}

std::shared_ptr<LogSink>& thread_sink() {
  static thread_local std::shared_ptr<LogSink> sink;
  return sink;
}

void print(const std::string& message) { std::fprintf(stderr, "lapilli: %s\n", message.c_str()); }
}  // namespace

void set_log_hook(std::function<void(LogLevel, const std::string&)> hook) {
  std::shared_ptr<const Hook> next = hook ? std::make_shared<const Hook>(std::move(hook)) : nullptr;
  const std::lock_guard lock(state().mutex);
  state().hook.swap(next);
  state().told.clear();
}

LogScope::LogScope(std::shared_ptr<LogSink> sink) : before_(thread_sink()) {
  if (sink) thread_sink() = std::move(sink);
}
LogScope::~LogScope() { thread_sink() = std::move(before_); }

void log_once(LogLevel level, const std::string& kind, const std::string& message) {
  if (!log_enabled(level)) return;
  if (!thread_sink()) {
    const std::lock_guard lock(state().mutex);
    if (!state().told.insert(kind).second) return;
  }
  log(level, message);
}

void set_log_level(LogLevel level) { state().level = static_cast<int>(level); }

bool log_enabled(LogLevel level) {
  const LogSink* const sink = thread_sink().get();
  return static_cast<int>(level) <= (sink ? static_cast<int>(sink->level) : state().level.load());
}

namespace {
// A sink's hook is not re-entered: messages that it logs itself go to the process's hook.
void tell(const std::shared_ptr<LogSink>& sink, LogLevel level, const std::string& message) {
  const std::lock_guard lock(sink->mutex);
  const auto taken = std::exchange(thread_sink(), nullptr);
  try {
    sink->hook(level, message);
  } catch (...) {
    print(message);
  }
  thread_sink() = taken;
}
}  // namespace

void log(LogLevel level, const std::string& message) {
  if (!log_enabled(level)) return;
  if (const auto sink = thread_sink()) return tell(sink, level, message);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto hook = s.hook;  // the hook may be replaced while it runs
  if (!hook || s.in_hook) return print(message);
  s.in_hook = true;
  try {
    (*hook)(level, message);
  } catch (...) {
    print(message);
  }
  s.in_hook = false;
}

}  // namespace lapilli
