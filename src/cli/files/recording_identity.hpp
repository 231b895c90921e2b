// What the transcript of a recording depends on, so that it is resumed with the same only.
#pragma once

#include <string>

#include "cli/files/journal.hpp"
#include "cli/run/transcription.hpp"

namespace lapilli::cli {

// `name`: of a file, whose size and time stand for it, as recordings are large.
Identity identity_of_recording(const TranscribeArguments& arguments, const lapilli_model_info& model,
                               const std::string& name);

}  // namespace lapilli::cli
