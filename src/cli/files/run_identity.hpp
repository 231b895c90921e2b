// The inputs and settings that a run's output depends on; a run is resumed only with the same ones.
#pragma once

#include <vector>

#include "cli/arguments/text_arguments.hpp"
#include "cli/files/journal.hpp"
#include "cli/files/text_sources.hpp"
#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// The part common to all runs: the command, the program, the model and its device.
Identity identity_of_run(const std::string& command, const lapilli_model_info& model);

// The settings alone, which are the same on every machine: the command and its options.
Identity settings_of(const TextCommand& about, const TextArguments& arguments, const std::string& options);

// `options`: the value of --options. All sources are files.
struct ModelsOfRun {
  const lapilli_model_info& last;
  std::string first;   // the directory of a chain's first model; "" if there is one model
  size_t devices = 1;  // that share the lines
};
Identity identity_of(const TextCommand& about, const TextArguments& arguments, const std::string& options,
                     const ModelsOfRun& models, const std::vector<Source>& sources);
// The identity of a shard, which may go on elsewhere: its model is known by `model_hash`; the device does not matter.
Identity identity_of_shard(const Identity& settings, const std::string& model_hash, const std::vector<Source>& sources);

// True if a run on these sources can be resumed: all can be read again with the same content.
bool can_be_resumed(const std::vector<Source>& sources);

}  // namespace lapilli::cli
