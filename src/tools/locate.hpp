// Location of the bundled model.
#pragma once

#include <string>

#include "base/result.hpp"

namespace lapilli {

// The directory of the model that LAPILLI_MODEL names (an error if that holds no config.json), or else the bundled
// model: searched below the folders of the running program and of the library, as installed (../share/lapilli/models)
// and as built, then in the package that the program was compiled with. UTF-8. The error lists the places.
Result<std::string> default_model_directory();

// The directory of a model that is named by its directory, or as OWNER/NAME or OWNER/NAME@REVISION of one that was
// fetched. not_found, with advice, if there is none of that name.
Result<std::string> find_model_directory(const std::string& name);

// A file beside the bundled models, such as the list of known ones; "" if it does not exist.
std::string bundled_file(const char* name);

}  // namespace lapilli
