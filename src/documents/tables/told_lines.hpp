// Notes on what was left alone: one sentence for each reason, with the first lines that it concerns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lapilli::documents {

class ToldLines {
 public:
  // "has too few columns", "have too few columns"
  void add(const char* one, const char* several, size_t line);
  // "lines 3, 7 and 90 more have too few columns, and stay as they are"
  [[nodiscard]] std::vector<std::string> sentences() const;

 private:
  struct Reason {
    const char *one, *several;
    std::vector<size_t> first;
    size_t count = 0, last = 0;
  };
  std::vector<Reason> reasons_;
};

}  // namespace lapilli::documents
