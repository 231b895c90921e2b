// A text as it reads, and the bytes of the document that say it: some of its characters are written as escapes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "documents/characters.hpp"

namespace lapilli::documents {

class WrittenText {
 public:
  // Appends bytes of the document that stand for themselves.
  void literal(std::string_view bytes, Range source);
  // Appends bytes that mean something else: an escape, or nothing. A line end that only folds the document's lines, and
  // reads as a blank, is "\r"; "\n" is one that is seen.
  void escaped(Range source, std::string_view means);

  [[nodiscard]] const std::string& text() const { return text_; }
  // The bytes of a range of the text, with whole escapes.
  [[nodiscard]] Range source(Range range) const;
  // Calls `take(source, words)` for each run of bytes that says a part of the range.
  void each_run(Range range, const auto& take) const {
    for (size_t i = run_at(range.begin); i < runs_.size() && runs_[i].text.begin < range.end; ++i) {
      const Range words{std::max(range.begin, runs_[i].text.begin), std::min(range.end, runs_[i].text.end)};
      if (!words.empty()) take(source_in(runs_[i], words), words.of(text_));
    }
  }

 private:
  struct Run {
    Range text, source;
    bool literal = false;
  };
  [[nodiscard]] size_t run_at(size_t at) const;
  static Range source_in(const Run& run, Range words);

  std::string text_;
  std::vector<Run> runs_;
};

}  // namespace lapilli::documents
