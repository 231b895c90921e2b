// Which of a model's files Lapilli reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hub/repository.hpp"

namespace lapilli::hub {

inline constexpr size_t kMostIndexBytes = size_t{64} << 20;

struct Selection {
  std::vector<HubFile> files;  // small ones first
  std::string index;           // names further files, which hold the weights; "" if there are none
};

// Configuration, tokenizer and weights as the checkpoint's reader looks for them: model.safetensors before
// pytorch_model.bin, each whole or in parts. An error says what is missing.
Result<Selection> select_files(const Repository& repository);

// The files that the content of an index names, each of them among the repository's.
Result<std::vector<HubFile>> files_of_index(const Repository& repository, const std::string& index,
                                            std::string_view content);

}  // namespace lapilli::hub
