// Zip archives with entries that are stored without compression, in place. Zip64 too.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// Views into the archive.
struct ZipEntry {
  std::string_view name;
  std::span<const std::byte> data;
};

// By the central directory, sorted by name. Refused: compressed or encrypted entries, names that come twice, archives
// in several parts, anything that lies outside the file. Checksums are not computed. `path` is for messages.
Result<std::vector<ZipEntry>> read_zip(std::span<const std::byte> archive, const std::string& path);

// Null if there is none.
const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, std::string_view name);

}  // namespace lapilli
