// A document as the program sees it: texts to translate, and the document with their translations. Keeps the documents'
// interface, whose errors are the library's own, apart from the interface of lapilli.hpp, which has others of these
// names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files/file_format.hpp"
#include "cli/files/journal.hpp"

namespace lapilli::cli {

class DocumentText {
 public:
  DocumentText();
  DocumentText(const DocumentText&) = delete;
  DocumentText& operator=(const DocumentText&) = delete;
  ~DocumentText();

  // What is wrong; "" if nothing is.
  std::string parse(Format format, std::string bytes);
  [[nodiscard]] size_t size() const;
  [[nodiscard]] const std::string& text(size_t segment) const;
  [[nodiscard]] size_t line(size_t segment) const;  // that it begins in, from 1
  [[nodiscard]] bool needs_links(size_t segment) const;
  // Words of the segment that come out as they are, whatever its translation.
  [[nodiscard]] bool keeps(size_t segment, std::string_view words) const;
  // One translation for each segment; those that failed keep their text. What is wrong; "" if nothing is.
  std::string render(const std::vector<SavedSegment>& translations, std::string& bytes) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace lapilli::cli
