// Models in the formats of other programs, which people have and name with --model.
#pragma once

#include <string>

namespace lapilli::cli {

// What a file, or a directory without weights that are read here, is, whose, and what to do instead: "a GGUF file,
// which is llama.cpp's; ...". "" if it may be a model of ours, or is nothing that is known.
std::string foreign_model(const std::string& path);

}  // namespace lapilli::cli
