// A document as the program sees it: texts to translate, and the document with their translations. Separates the
// documents' interface, which has the library's internal errors, from that of lapilli.hpp, whose errors share their
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

  // An error message; "" if there is none.
  std::string parse(Format format, std::string bytes);
  [[nodiscard]] size_t size() const;
  [[nodiscard]] const std::string& text(size_t segment) const;
  [[nodiscard]] size_t line(size_t segment) const;  // in which it begins, from 1
  [[nodiscard]] bool needs_links(size_t segment) const;
  // True if these words of the segment stay as they are in any translation.
  [[nodiscard]] bool keeps(size_t segment, std::string_view words) const;
  // Takes one translation for each segment; failed ones keep their text. Gives an error message, or "".
  std::string render(const std::vector<SavedSegment>& translations, std::string& bytes) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace lapilli::cli
