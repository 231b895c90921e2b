// Directories whose model is in a form that is not read: adapters, quantized weights, files of other programs.
#pragma once

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli {

// Refuses such a directory, by the names of its files and by its JSON files: the error names the form and says what
// would do instead. Without config.json, a directory that is none of these is left to whoever reads that.
Status check_form(const Files& files);

// Refuses the weights of quantized models and adapters, by the names and types of the stored tensors.
Status check_tensors(const Checkpoint& weights, const Files& files);

}  // namespace lapilli
