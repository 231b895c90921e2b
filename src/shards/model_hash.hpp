// Tells models apart on machines that each hold a copy: by the names and sizes of their files, and samples of what is
// in them, as weights are too large to be read twice. Of safetensors both ends of each tensor are among them.
#pragma once

#include <string>

namespace lapilli::shards {

// The hash of a directory, or of a model that is one file.
std::string hash_of_model(const std::string& path);

// The hash of a file, by its size and the same samples.
std::string hash_of_samples(const std::string& path);

}  // namespace lapilli::shards
