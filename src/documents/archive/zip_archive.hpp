// A zip archive in memory: its files, and the same archive with some of them replaced.
//
// libzip and minizip were weighed. Both write a new archive out of files, so that times, extra fields, flags and the
// bytes of what nobody touches become theirs; here a file that stays is copied as it lies, head and compressed data,
// and only the directory and the replaced files are written. What remains to a library is deflate, which zlib has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "documents/characters.hpp"

namespace lapilli::documents {

struct ArchivedFile {
  std::string_view name;
  Range entry;        // its record in the directory
  Range local;        // its head and its data, as they lie
  Range data;         // the data, compressed or not
  uint64_t size = 0;  // of the file
  uint32_t crc = 0;
  uint16_t method = 0;
};

class ZipArchive {
 public:
  // invalid_data: the directory is broken, or says otherwise than the heads of files; two files share a name or bytes.
  // unsupported: encrypted, in several parts, zip64, or too many files; it says what to do. `bytes` has to outlive it.
  static Result<ZipArchive> open(std::string_view bytes);

  // In the order of the directory.
  [[nodiscard]] const std::vector<ArchivedFile>& files() const { return files_; }
  [[nodiscard]] const ArchivedFile* find(std::string_view name) const;
  // invalid_data: damaged. unsupported: compressed otherwise, this build has no zlib, or the file is larger than
  // kMostUnpacked, whatever its head says.
  [[nodiscard]] Result<std::string> read(const ArchivedFile& file) const;

  struct Replacement {
    std::string_view name;
    std::string bytes;
  };
  // The archive with other bytes for some files, at most one each; all else is the same. A stored file stays stored.
  [[nodiscard]] Result<std::string> replace(const std::vector<Replacement>& replacements) const;

  static constexpr uint64_t kMostUnpacked = uint64_t{256} << 20;  // of one file, and of all that are read
  static constexpr size_t kMostFiles = 65534;

 private:
  Status read_directory();
  Status read_entry(size_t& at);
  Status find_data(ArchivedFile& file, uint32_t local, uint32_t packed) const;
  Status sort_files();
  [[nodiscard]] std::string with_directory(std::string out, const std::vector<std::string>& entries) const;

  std::string_view bytes_;
  std::vector<ArchivedFile> files_;
  std::vector<size_t> by_name_, by_place_;
  Range directory_;
  size_t end_ = 0;  // where the last record begins
};

// True where files can be unpacked and packed: the build has zlib.
bool have_deflate();

}  // namespace lapilli::documents
