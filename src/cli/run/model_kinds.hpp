// The error for a model of the wrong kind for a command.
#pragma once

#include <string>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// "marian models read text and take no sound; what serves them: lapilli translate, summarize or generate"
inline Error other_kind(const lapilli_model_info& info, const char* what) {
  return Error(Status::unsupported,
               std::string(info.family) + " models " + what + "; what serves them: " + info.commands);
}

}  // namespace lapilli::cli
