// Selects the files of a model that Lapilli reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "fetched/hub_file.hpp"

namespace lapilli::hub {

inline constexpr size_t kMostIndexBytes = size_t{64} << 20;

struct Selection {
  std::vector<HubFile> files;  // small ones first
  std::string index;           // names the files of the weights; "" if there are none
};

// Configuration, tokenizer and weights, in the checkpoint reader's order: model.safetensors before pytorch_model.bin,
// each whole or in parts. An error names the missing file.
Result<Selection> select_files(const Repository& repository);

// The files that an index names, each of them in the repository.
Result<std::vector<HubFile>> files_of_index(const Repository& repository, const std::string& index,
                                            std::string_view content);

}  // namespace lapilli::hub
