// Messages for people go through one hook, which the embedding program owns. The default one writes to stderr.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace lapilli {

enum class LogLevel : int { error = 0, warning = 1, note = 2, verbose = 3 };

// The hook is called from any thread, one call at a time. An empty function restores the default. On return the
// previous hook is no longer running, unless it is the caller. A hook may log (to stderr) and set the hook; exceptions
// it throws are dropped, and its message goes to stderr.
void set_log_hook(std::function<void(LogLevel, const std::string&)> hook);
// Destination of messages instead of the hook, with a level of its own (a device's). Called from any thread, one call
// at a time; exceptions are dropped, and the message goes to stderr.
struct LogSink {
  LogLevel level = LogLevel::note;
  std::function<void(LogLevel, const std::string&)> hook;
  std::recursive_mutex mutex;
};

// Redirects this thread's messages to the sink while it lives; null changes nothing. Nests.
class LogScope {
 public:
  explicit LogScope(std::shared_ptr<LogSink> sink);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  std::shared_ptr<LogSink> before_;
};

// Messages above this level are dropped before the hook. Default: note.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
void log(LogLevel level, const std::string& message);

}  // namespace lapilli
