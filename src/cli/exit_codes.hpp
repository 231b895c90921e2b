// The program's exit codes, which --help and README.md document.
#pragma once

#include <type_traits>

#include "lapilli/lapilli.h"

namespace lapilli::cli {

enum ExitCode : int {
  exit_ok = 0,
  exit_some_failed = 1,  // some lines failed, the others are done
  exit_usage = 2,
  exit_input = 3,   // an input or model file is missing, broken or not supported
  exit_device = 4,  // no Vulkan device, or it was lost or hangs
  exit_memory = 5,
  exit_output = 6,  // standard output or a file cannot be written
  exit_internal = 70,
  exit_interrupted = 130,  // Ctrl-C; 143 for SIGTERM
  exit_broken_pipe = 141,  // the reader of stdout went away
};

inline int exit_code(lapilli_status status) {
  switch (status) {
    case LAPILLI_OK: return exit_ok;
    case LAPILLI_INVALID_ARGUMENT: return exit_usage;
    case LAPILLI_NOT_FOUND:
    case LAPILLI_INVALID_DATA:
    case LAPILLI_UNSUPPORTED: return exit_input;
    case LAPILLI_NO_DEVICE:
    case LAPILLI_DEVICE_LOST:
    case LAPILLI_TIMEOUT: return exit_device;
    case LAPILLI_OUT_OF_MEMORY: return exit_memory;
    case LAPILLI_CANCELLED: return exit_interrupted;
    default: return exit_internal;
  }
}

// For the Status of lapilli.hpp.
template <class S, std::enable_if_t<std::is_enum_v<S>, int> = 0>
int exit_code(S status) {
  return exit_code(static_cast<lapilli_status>(status));
}

constexpr const char* kExitCodeHelp =
    R"(Exit codes: 0 all well, 1 some lines failed (the others are done), 2 wrong usage, 3 an input or model file is
missing, broken or not supported, 4 no usable device or it failed, 5 out of memory, 6 the output or a fetched
file cannot be written, 70 a bug in lapilli, 130 interrupted (143 by SIGTERM), 141 the reader of the output went away.
)";

}  // namespace lapilli::cli
