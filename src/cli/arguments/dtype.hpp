// --dtype and --kv-dtype: the types in which the device holds a model's matrices, and keys and values.
#pragma once

#include <string>

#include "lapilli/lapilli.hpp"

namespace CLI {
class App;
}

namespace lapilli::cli {

// Adds the option, whose value is one of the names.
void add_dtype(CLI::App& command, std::string& name);
// Likewise.
void add_kv_dtype(CLI::App& command, std::string& name);
Dtype dtype_of(const std::string& name);
const char* name_of(Dtype dtype);

}  // namespace lapilli::cli
