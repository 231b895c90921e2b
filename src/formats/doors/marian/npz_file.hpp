// Marian's .npz: a zip archive with an array of NumPy's for each parameter.
#pragma once

#include "base/files.hpp"
#include "formats/doors/marian/parameters.hpp"

namespace lapilli::doors::marian {

constexpr const char* kSettingsArray = "special:model.yml.npy";

// `archive`: the members by name. Every size is held against the member's before it is believed.
Result<Parameters> read_npz(const Files& archive, const std::vector<std::string>& names, const std::string& where);

}  // namespace lapilli::doors::marian
