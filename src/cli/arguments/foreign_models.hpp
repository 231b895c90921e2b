// Models in other programs' formats, which people name with --model.
#pragma once

#include <string>

namespace lapilli::cli {

// Describes a file, or a directory without weights that are read here, and says what to do instead: "a GGUF file, which
// is llama.cpp's; ...". "" if it may be a readable model, or is unknown.
std::string foreign_model(const std::string& path);

}  // namespace lapilli::cli
