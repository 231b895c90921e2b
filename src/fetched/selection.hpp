// Selects the files of a model that Lapilli reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "fetched/hub_file.hpp"

namespace lapilli::hub {

inline constexpr size_t kMostIndexBytes = size_t{64} << 20, kMostModulesBytes = size_t{1} << 20;

// The list of steps of sentence-transformers, and the folder of the network in their older layout.
inline constexpr const char *kModules = "modules.json", *kNetworkFolder = "0_Transformer";

struct Selection {
  std::vector<HubFile> files;    // small ones first
  std::vector<HubFile> indices;  // those of `files` that name further files, of weights
};

// Configuration, tokenizer and weights, in the checkpoint reader's order: model.safetensors before pytorch_model.bin,
// each whole or in parts; without them a directory of CTranslate2, with its vocabularies. With modules.json, also those
// of folders like 1_Pooling, one of which may hold the network. An error names the missing file.
Result<Selection> select_files(const Repository& repository);
// One file, which is a model by itself (ggml-base.bin).
Result<Selection> select_file(const Repository& repository, const std::string& name);

// The files beside it that an index names, each of them in the repository.
Result<std::vector<HubFile>> files_of_index(const Repository& repository, const std::string& index,
                                            std::string_view content);

// Checks that the folders that modules.json names hold what their steps read. A text that is no such list passes: its
// reader says more.
Status check_modules(const Repository& repository, std::string_view modules);

}  // namespace lapilli::hub
