// Zip archives: stored entries are read in place, those that deflate has packed are unpacked in memory. Zip64 is
// supported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// An entry's position in the archive; its name is a view into it (File::view).
struct ZipEntry {
  std::string_view name;
  uint64_t offset = 0, bytes = 0;
  uint64_t packed = 0;  // bytes in the archive; as many as `bytes` if it is stored
  uint32_t crc = 0;
  bool deflated = false;
};

// From the central directory, sorted by name. Refuses encrypted entries and those of any other compression, names that
// lead elsewhere ("../x", "/x"), duplicate names, archives in several parts, and ranges outside the file. Checksums of
// stored entries are not verified.
Result<std::vector<ZipEntry>> read_zip(const File& archive);

// Null if there is none.
const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, std::string_view name);

// The files of an archive by name, without the folder that they may all lie in ("translate-en_de-1_9/"). A packed one
// is unpacked when a byte behind its start is read, as a whole, and kept while it is open. An archive whose members
// grow more than most_unpacked() is refused.
Result<std::unique_ptr<FileSource>> make_zip_source(const File& archive, const std::string& folder);
// The one folder that all files lie in, with its slash; "" if there is none.
std::string folder_of_all(const std::vector<ZipEntry>& entries);

}  // namespace lapilli
