// The file of vectors of a search: where it is, when it serves, and how it is made anew.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/search/line_vectors.hpp"
#include "vectors/line_index.hpp"

namespace lapilli::cli {

// The file's path: as given (--index), or in the cache folder, by the names of what is searched and of the model. "":
// none is kept.
std::string index_path(const TextArguments& arguments, const SearchedLines& lines, const std::string& model);

class IndexFile {
 public:
  IndexFile(std::string path, bool named, const Context& context)
      : path_(std::move(path)), named_(named), context_(context) {}

  // Gives the file with the vectors of exactly these lines; it is made if need be, by one process at a time. Nothing:
  // with `code` 0, it cannot be written, and the program was not told to; or the program was interrupted.
  std::optional<vectors::LineIndex> get(const vectors::IndexAbout& about, const SearchedLines& lines,
                                        LineVectors& vectors, int& code);

 private:
  std::optional<vectors::LineIndex> open(const vectors::IndexAbout& about);
  std::shared_ptr<void> hold() const;
  int make(const vectors::IndexAbout& about, const SearchedLines& lines, LineVectors& vectors);
  int finish(vectors::IndexWriter& writer, uint64_t done, uint64_t all) const;
  int cannot_write() const;

  std::string path_;
  bool named_;  // by the user
  const Context& context_;
  std::optional<vectors::LineIndex> old_;
  std::string why_;  // the one that is there does not serve
};

}  // namespace lapilli::cli
