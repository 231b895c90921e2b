// Variables of this program's own environment.
#pragma once

#include <cstdlib>
#include <string>

#include "base/path.hpp"

namespace lapilli::test {

// "" removes it.
inline void set_environment(const char* name, const std::string& value) {
#if defined(_WIN32)
  _wputenv_s(to_wide(name).c_str(), to_wide(value).c_str());
#else
  value.empty() ? ::unsetenv(name) : ::setenv(name, value.c_str(), 1);
#endif
}

}  // namespace lapilli::test
