// Lines of a text with any line ends.
#pragma once

#include <algorithm>
#include <string_view>

#include "documents/characters.hpp"

namespace lapilli::documents {

class LineReader {
 public:
  LineReader(std::string_view bytes, size_t begin) : bytes_(bytes), at_(begin) {}

  // Reads the next line, without its end (LF, CRLF or CR).
  bool next(Range& line) {
    if (at_ >= bytes_.size()) return false;
    line = {at_, std::min(bytes_.find_first_of("\r\n", at_), bytes_.size())};
    at_ = line.end;
    if (at_ < bytes_.size()) at_ += bytes_.substr(at_, 2) == "\r\n" ? 2 : 1;
    return true;
  }

 private:
  std::string_view bytes_;
  size_t at_;
};

inline bool is_blank_line(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return is_blank(static_cast<unsigned char>(c)); });
}

}  // namespace lapilli::documents
