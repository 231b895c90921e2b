// Another program that is started for what it writes to its standard output: without a shell, so that no name means
// more than a name. One file for each system; where none may be started (child_none.cpp), it says so.
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
  // Ends it, if it has not ended.
  virtual ~Child() = default;
  // Some of what it writes, as much as is there and `to` has room for; 0: it has written all. Waits for some at most
  // that long, and is ErrorCode::timeout then.
  virtual Result<size_t> read(std::span<std::byte> to, std::chrono::milliseconds most) = 0;
  // After the end of what it writes: the exit code, or that of nobody's (-1) if it was ended.
  virtual int wait() = 0;
  // The end of all that it said on stderr, in one line; a few hundred bytes at most.
  [[nodiscard]] virtual std::string last_words() const = 0;
};

// input: what it reads, from where that stands; null: nothing.
Result<std::unique_ptr<Child>> start_child(const std::string& program, const std::vector<std::string>& arguments,
                                           std::FILE* input);

// The end of a text that may be of any length.
class TextEnd {
 public:
  void add(std::string_view text) {
    constexpr size_t kMost = 300;
    text_ += text;
    if (text_.size() > kMost) text_.erase(0, text_.size() - kMost);
  }
  // In one line, without what would steer a terminal.
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
