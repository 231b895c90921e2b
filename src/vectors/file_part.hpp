// Parts of files by their place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lapilli::vectors {

// Keeps the file that was read last open. For one thread.
class FileParts {
 public:
  FileParts() = default;
  FileParts(const FileParts&) = delete;
  FileParts& operator=(const FileParts&) = delete;
  ~FileParts();
  // Nothing if the file cannot be opened or ends before.
  std::optional<std::string> read(const std::string& path, uint64_t offset, uint32_t bytes);

 private:
  void open(const std::string& path);
  std::string path_;
  int fd_ = -1;
};

}  // namespace lapilli::vectors
