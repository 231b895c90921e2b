// Summarizes, in a line for people, what a search of folders left out and why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/files/foreign_files.hpp"

namespace lapilli::cli {

namespace left_out {
inline constexpr ForeignKind kHidden = {"hidden", "hidden files and folders", ""};
inline constexpr ForeignKind kLink = {"a link to a folder, a pipe or a device", "links to folders, pipes and devices",
                                      ""};
inline constexpr ForeignKind kOutput = {"an output of this suffix", "outputs of this suffix", ""};
inline constexpr ForeignKind kPart = {"a part of an output", "parts of outputs", ""};
inline constexpr ForeignKind kTable = {"a TSV table without --column", "TSV tables without --column", ""};
inline constexpr ForeignKind kUnknown = {"of no known kind", "files of no known kind", ""};
}  // namespace left_out

class LeftOut {
 public:
  void add(const ForeignKind& kind, std::string_view name);
  // "photo.png, a picture; 12 CSV tables": the name of a single file, or the number of files. "": none.
  [[nodiscard]] std::string text() const;

 private:
  struct Group {
    const ForeignKind* kind;
    std::string first;
    size_t count = 0;
  };
  std::vector<Group> groups_;  // in order of appearance
};

}  // namespace lapilli::cli
