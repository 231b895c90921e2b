// Lines of text with words that stay in a translation: placeholders, addresses, names. Documents keep theirs by
// themselves. Plain types only, for programs that include lapilli.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "documents/document_text.hpp"

namespace lapilli::documents {

class KeptText {
 public:
  KeptText() : KeptText(std::vector<std::string>()) {}
  explicit KeptText(const std::vector<std::string>& names);
  KeptText(const KeptText&) = delete;
  KeptText& operator=(const KeptText&) = delete;
  ~KeptText();

  using Links = std::vector<TranslatedSegment::Link>;
  // The translation with each of these words as often as the source has it. `links` is asked for only where one is
  // missing; without links, words are placed in proportion. Invalid UTF-8 stays as it is.
  [[nodiscard]] std::string restored(const std::string& source, const std::string& translation,
                                     const std::function<Links()>& links) const;
  // True if the translation has them all, or the source has none.
  [[nodiscard]] bool is_whole(const std::string& source, const std::string& translation) const;

 private:
  struct Names;
  std::unique_ptr<const Names> names_;
};

}  // namespace lapilli::documents
