// Makes a pipe's bytes a file, for readers that seek.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace lapilli::cli {

// The file has no name and disappears with this object.
class PipedFile {
 public:
  // Reads a pipe, or standard input ("-"), to its end: at most `most` bytes. Gives an error message, or "".
  std::string take(const std::string& pipe, uint64_t most);
  // The path by which this process can open it.
  [[nodiscard]] std::string path() const;

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace lapilli::cli
