// Zip archives with entries that are stored without compression, in place. Zip64 too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// Where an entry lies in the archive, which its name is a view into (File::view).
struct ZipEntry {
  std::string_view name;
  uint64_t offset = 0, bytes = 0;
};

// By the central directory, sorted by name. Refused: compressed or encrypted entries, names that come twice, archives
// in several parts, anything that lies outside the file. Checksums are not computed.
Result<std::vector<ZipEntry>> read_zip(const File& archive);

// Null if there is none.
const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, std::string_view name);

}  // namespace lapilli
