// A table of LevelDB's form, as TensorFlow writes the index of a checkpoint: sorted keys and their values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli::doors::trained {

struct TableEntry {
  std::string key, value;
};

// `path` is for messages.
Result<std::vector<TableEntry>> read_table(std::string_view bytes, const std::string& path);

// CRC-32C (Castagnoli), continued from an earlier part's; and the form in which such sums are stored.
uint32_t crc32c(uint32_t before, std::string_view bytes);
uint32_t masked(uint32_t crc);

}  // namespace lapilli::doors::trained
