// Where the bundled model lies.
#pragma once

#include <string>

#include "base/result.hpp"

namespace lapilli {

// The directory that LAPILLI_MODEL names (an error if that holds no config.json), or else the bundled model: looked for
// below the folder of the running program and of the library, as installed (../share/lapilli/models) and as built, then
// where the package has it that the program was compiled with. UTF-8. The error lists what was looked at.
Result<std::string> default_model_directory();

// A file that lies among the bundled models, such as the list of known ones; "" if there is none.
std::string bundled_file(const char* name);

}  // namespace lapilli
