// A child process, started to read its standard output. No shell is involved, so names are never interpreted. Each
// system has its own implementation; where no process can be started (child_none.cpp), start_child() fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli::recordings {

class Child {
 public:
  // Kills the process if it still runs.
  virtual ~Child() = default;
  // Reads some of the output, as much as is there and `to` holds; 0: end of output. Waits at most `most` for it, then
  // fails with ErrorCode::timeout.
  virtual Result<size_t> read(std::span<std::byte> to, std::chrono::milliseconds most) = 0;
  // To be called after the end of output. Gives the exit code, or -1 if the process was killed.
  virtual int wait() = 0;
  // The end of what it wrote to stderr, in one line; a few hundred bytes at most.
  [[nodiscard]] virtual std::string last_words() const = 0;
};

// input: the child's standard input, from its current position; null: none.
Result<std::unique_ptr<Child>> start_child(const std::string& program, const std::vector<std::string>& arguments,
                                           std::FILE* input);

// Keeps the end of a text of any length.
class TextEnd {
 public:
  void add(std::string_view text) {
    constexpr size_t kMost = 300;
    text_ += text;
    if (text_.size() > kMost) text_.erase(0, text_.size() - kMost);
  }
  // In one line, without terminal control characters.
  [[nodiscard]] std::string in_one_line() const {
    std::string line;
    for (const char c : text_) {
      if (c == '\n' && !line.empty() && line.back() != ' ') line += "; ";
      if (static_cast<unsigned char>(c) >= ' ' && c != '\x7f') line += c;
    }
    while (!line.empty() && (line.back() == ' ' || line.back() == ';')) line.pop_back();
    return line;
  }

 private:
  std::string text_;
};

}  // namespace lapilli::recordings
