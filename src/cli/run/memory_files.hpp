// The translation memories of a run: one that is read (--tm), one that gets what is made (--tm-out).
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "documents/memory/translation_memory.hpp"

namespace lapilli::cli {

class MemoryFiles {
 public:
  MemoryFiles() = default;
  MemoryFiles(const MemoryFiles&) = delete;
  MemoryFiles& operator=(const MemoryFiles&) = delete;
  ~MemoryFiles();

  // Gives an error message, or "".
  std::string read(const std::string& file, const std::string& from, const std::string& to);
  // Goes on in a file that is there, if it is whole.
  std::string open(const std::string& file, const std::string& from, const std::string& to);

  [[nodiscard]] bool reads() const { return memory_.size() > 0; }
  [[nodiscard]] bool writes() const { return out_ != nullptr; }
  // Counts what it finds.
  std::optional<std::string> find(std::string_view text);
  [[nodiscard]] uint64_t found() const { return found_; }

  // Keeps a text and its translation until the next save().
  void add(std::string_view source, std::string_view target);
  // Writes what was added in front of the file's end, so that the file is whole after each time. Gives an error
  // message, or "".
  std::string save();

 private:
  std::string begin(const std::string& file);

  documents::TranslationMemory memory_;
  uint64_t found_ = 0;
  std::string name_, from_, to_, added_;
  std::FILE* out_ = nullptr;
  long at_ = 0;  // where the end of the file begins
};

}  // namespace lapilli::cli
