// Messages that one reader needs once.
#pragma once

#include <string>

#include "base/log.hpp"

namespace lapilli {

// Logs a message of this kind once in the process, and again after set_log_hook(). A device's own sink, which one
// device has, hears each.
void log_once(LogLevel level, const std::string& kind, const std::string& message);

}  // namespace lapilli
