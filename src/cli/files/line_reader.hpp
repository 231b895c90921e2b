// Reads the lines of a file, a pipe or a terminal, as many at a time as are there.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files/text_input.hpp"

namespace lapilli::cli {

// Longer lines are truncated and refused: no sentence has a million bytes.
constexpr size_t kMaxLineBytes = size_t{1} << 20;

struct Line {
  std::string text;     // without line end ("\n" or "\r\n"); the first one without byte order mark
  uint64_t number = 0;  // from 1
  uint64_t bytes = 0;   // in the file, line end included
  bool too_long = false;
  bool marked = false;   // a byte order mark preceded it
  bool kept = false;     // no text: it stays as it is
  std::string_view end;  // "\n", "\r\n"; behind a last line nothing, or "\r"
};

class LineReader {
 public:
  // `as_text`: the input is declared to be text, whatever its bytes (foreign_file).
  // `lines_before`: of the input, if only a part of it is read.
  explicit LineReader(TextInput file, size_t longest = kMaxLineBytes, bool as_text = false, uint64_t lines_before = 0)
      : file_(std::move(file)), longest_(longest), as_text_(as_text), lines_(lines_before) {}

  // Waits for a line, then gives the lines available without waiting, at most `limit`: a line typed at a terminal, the
  // content of a pipe, or `limit` lines of a file. Empty at the end and when interrupted. Lines before an error come
  // first; one that the error truncates is dropped.
  std::vector<Line> read(size_t limit);

  // Why there are no lines, or no more: the file's kind holds none, and a message for each line would not help; or what
  // it is packed in is damaged. Empty if it may be text.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  // errno of the read that failed, or 0.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] const TextInput& file() const { return file_; }

 private:
  void fill();
  void take(const char* data, size_t size);
  void finish_line(bool newline);

  TextInput file_;
  size_t longest_;
  bool as_text_;
  std::deque<Line> ready_;
  Line partial_;
  std::vector<char> buffer_;
  uint64_t lines_;
  std::string refusal_;
  bool end_ = false;
  int error_ = 0;
};

}  // namespace lapilli::cli
