// Zip archives whose entries are stored without compression, read in place. Zip64 is supported.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// An entry's position in the archive; its name is a view into it (File::view).
struct ZipEntry {
  std::string_view name;
  uint64_t offset = 0, bytes = 0;
};

// From the central directory, sorted by name. Refuses compressed and encrypted entries, duplicate names, archives in
// several parts, and ranges outside the file. Checksums are not verified.
Result<std::vector<ZipEntry>> read_zip(const File& archive);

// Null if there is none.
const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, std::string_view name);

}  // namespace lapilli
