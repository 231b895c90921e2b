// An input as text: of a file that is packed by gzip or zstd, what is packed in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "cli/system.hpp"
#include "shards/unpacker.hpp"

namespace lapilli::cli {

class TextInput {
 public:
  TextInput(InputFile file);  // NOLINT: implicit on purpose

  // Only these bytes of the text of a regular file are read.
  void keep(uint64_t begin, uint64_t end) {
    begin_ = begin;
    end_ = end;
  }
  // As that of InputFile; 0 also if wrong() says why the text cannot be read.
  long read(char* to, size_t bytes);
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

  [[nodiscard]] bool ok() const { return file_.ok(); }
  // True if the text stands in a regular file as it is.
  [[nodiscard]] bool regular() const { return file_.regular() && !unpacker_; }
  // Bytes of the text; 0: unknown.
  [[nodiscard]] uint64_t size() const;
  // True if the next read does not block. False if unknown.
  [[nodiscard]] bool ready() const { return !packed_.empty() || file_.ready(); }

 private:
  bool look(long& code);
  bool begin(long& code);
  bool fill(long& code);
  long some(char* to, size_t bytes);
  long unpacked(char* to, size_t bytes);

  InputFile file_;
  std::string packed_;  // bytes of the file that are read and not used
  std::unique_ptr<shards::Unpacker> unpacker_;
  std::string wrong_;
  uint64_t at_ = 0, begin_ = 0, end_ = std::numeric_limits<uint64_t>::max();
  bool looked_ = false, at_end_ = false;
};

// The first kTellingBytes of a file's text.
std::string text_head_of(const std::string& file);

}  // namespace lapilli::cli
