// Sentences about what was left alone, each with the lines that it is about.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "documents/characters.hpp"

namespace lapilli::documents {

class Notes {
 public:
  explicit Notes(std::string_view bytes) : bytes_(bytes) {}

  // `at`: bytes of the document. Ascending places take linear time.
  void add(size_t at, std::string_view sentence);
  [[nodiscard]] size_t line(size_t at);
  // "lines 3, 8, 9 and 12 others: SENTENCE"
  [[nodiscard]] std::vector<std::string> sentences() const;

 private:
  struct Note {
    std::string sentence;
    std::vector<size_t> lines;
    size_t others = 0;
  };
  std::string_view bytes_;
  size_t at_ = 0, line_ = 1;
  std::vector<Note> notes_;
  size_t unsaid_ = 0;
};

// The keys of an object or a file; one that was there before is told.
class SeenKeys {
 public:
  void add(std::string_view key, size_t at, Notes& notes);

 private:
  std::unordered_set<std::string> keys_;
};

}  // namespace lapilli::documents
