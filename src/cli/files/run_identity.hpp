// What the output of a run depends on, so that it is resumed with the same only.
#pragma once

#include <vector>

#include "cli/arguments/text_arguments.hpp"
#include "cli/files/journal.hpp"
#include "cli/files/text_sources.hpp"
#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// What every run depends on, whatever it does: the command, the program, the model and its device.
Identity identity_of_run(const std::string& command, const lapilli_model_info& model);

// `options`: what --options gives. All sources are files.
Identity identity_of(const TextCommand& about, const TextArguments& arguments, const std::string& options,
                     const lapilli_model_info& model, const std::vector<Source>& sources);

// Whether a run on them can be resumed: all can be read again, and look the same then.
bool can_be_resumed(const std::vector<Source>& sources);

}  // namespace lapilli::cli
