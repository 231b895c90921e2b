// A document as programs see it: texts to translate, and the document with their translations. Separates the
// documents' interface, which has the library's internal errors, from that of lapilli.hpp, whose errors share their
// names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "documents/options.hpp"

namespace lapilli::documents {

// The translation of a segment; a failed one keeps its text.
struct TranslatedSegment {
  bool failed = false;
  std::string text;
  struct Link {
    uint64_t source_begin = 0, source_end = 0, target_begin = 0, target_end = 0;
    float weight = 0;
  };
  std::vector<Link> links;
};

class DocumentText {
 public:
  DocumentText();
  DocumentText(const DocumentText&) = delete;
  DocumentText& operator=(const DocumentText&) = delete;
  ~DocumentText();

  // `kind` as in kind_called(): "html". An error message; "" if there is none.
  std::string parse(std::string_view kind, std::string bytes, const Options& options = {});
  [[nodiscard]] size_t size() const;
  [[nodiscard]] const std::string& text(size_t segment) const;
  [[nodiscard]] size_t line(size_t segment) const;  // in which it begins, from 1
  [[nodiscard]] bool needs_links(size_t segment) const;
  [[nodiscard]] std::vector<std::string> notes() const;  // Document::notes()
  // True if these words of the segment stay as they are in any translation.
  [[nodiscard]] bool keeps(size_t segment, std::string_view words) const;
  // Takes one translation for each segment; failed ones keep their text. Gives an error message, or "".
  std::string render(const std::vector<TranslatedSegment>& translations, std::string& bytes) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace lapilli::documents
