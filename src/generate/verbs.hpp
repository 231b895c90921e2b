// Which of the program's commands a model serves.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/config.hpp"

namespace lapilli {

// "lapilli classify", or several: "lapilli caption or lapilli read".
std::string verbs_for(const model::Config& config);
// Error: the model reads no text, or writes none; it names what serves it.
Status check_reads_text(const model::Config& config);
Status check_writes_text(const model::Config& config);
// Error: it hears no sound, or writes down nothing.
Status check_hears(const model::Config& config);
// Error: it reads no pictures.
Status check_reads_pictures(const model::Config& config);

}  // namespace lapilli
