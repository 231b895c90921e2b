// Messages for people go through one hook, which the embedding program owns. The default writes to stderr.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace lapilli {

enum class LogLevel : int { error = 0, warning = 1, note = 2, verbose = 3 };

// Called from any thread, one call at a time. An empty function restores the default. Once this returns the hook before
// is not running any more, unless it is the caller. A hook may log (to stderr) and set the hook; what it throws is
// dropped, and its message goes to stderr.
void set_log_hook(std::function<void(LogLevel, const std::string&)> hook);
// Messages above this level are dropped before the hook. Default: note.
// Where messages go instead of the hook, with a level of its own: a device's. Called from any thread, one call at a
// time; what it throws is dropped, and its message goes to stderr.
struct LogSink {
  LogLevel level = LogLevel::note;
  std::function<void(LogLevel, const std::string&)> hook;
  std::recursive_mutex mutex;
};

// While it lives, messages of this thread go to the sink; null: nothing changes. Nests.
class LogScope {
 public:
  explicit LogScope(std::shared_ptr<LogSink> sink);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  std::shared_ptr<LogSink> before_;
};

void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
void log(LogLevel level, const std::string& message);

}  // namespace lapilli
