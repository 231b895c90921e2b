// TensorFlow's checkpoints: an index, which is a table of LevelDB's form, and files with the numbers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli::doors::trained {

// The tensors of PREFIX.index whose names are wanted, with their ranges in PREFIX.data-*; checksums are compared.
Result<std::vector<StoredTensor>> read_tf_bundle(const Files& files, const std::string& prefix,
                                                 const std::function<bool(const std::string&)>& wanted);

}  // namespace lapilli::doors::trained
