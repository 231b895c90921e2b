// The inputs and settings that a recording's transcript depends on; a run is resumed only with the same ones.
#pragma once

#include <string>

#include "cli/files/journal.hpp"
#include "cli/run/transcription.hpp"

namespace lapilli::cli {

// The settings alone, which are the same on every machine.
Identity settings_of_transcripts(const TranscribeArguments& arguments);

// `name`: of a file; as recordings are large, its size and time stand for its content.
Identity identity_of_recording(const TranscribeArguments& arguments, const lapilli_model_info& model,
                               const std::string& name);

}  // namespace lapilli::cli
