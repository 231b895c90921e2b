// Elapsed time, by a clock that is never set back.
#pragma once

#include <chrono>

namespace lapilli {

using Clock = std::chrono::steady_clock;
inline double milliseconds(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }
inline double ms_since(Clock::time_point t) { return milliseconds(Clock::now() - t); }

}  // namespace lapilli
