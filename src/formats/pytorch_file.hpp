// A file of torch.save() as a whole: its pickle, and where the numbers of its storages lie.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/checkpoint.hpp"
#include "formats/pickle.hpp"

namespace lapilli {

// A storage's position in the file.
struct StorageRange {
  uint64_t offset = 0, bytes = 0;
};
using StorageRanges = std::unordered_map<std::string, StorageRange>;  // by key

struct PytorchFile {
  File file;
  Pickle pickle;  // its root is a dict
  StorageRanges storages;
  std::vector<std::byte> kept;  // the pickle's bytes, where the file is not in memory

  static Result<PytorchFile> read(const File& file, PickleUse use);
  // The tensors among a dict's values, each within its storage; StoredTensor::file is left 0. Values of other kinds are
  // passed over.
  [[nodiscard]] Result<std::vector<StoredTensor>> tensors(const PickleValue& dict) const;
};

}  // namespace lapilli
