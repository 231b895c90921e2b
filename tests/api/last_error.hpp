// The thread's last error, as tests look at it.
#pragma once

#include <string>

#include "lapilli/lapilli.h"

namespace lapilli::test {

inline bool says(const std::string& part) { return std::string(lapilli_last_error()).find(part) != std::string::npos; }

}  // namespace lapilli::test
