// Languages of multilingual tokenizers: codes as in the files, and other common forms of the same codes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// Immutable once filled; const members may be called from several threads.
class LanguageTable {
 public:
  void add(std::string_view code, int32_t id);

  // A code as in the files, and its id.
  struct Entry {
    std::string code;
    int32_t id = -1;
  };
  // nullptr if there is none, or if `code` is ambiguous ("zh" where simplified and traditional differ).
  [[nodiscard]] const Entry* find(std::string_view code) const;
  [[nodiscard]] int32_t id(std::string_view code) const {  // -1 if there is none
    const Entry* entry = find(code);
    return entry == nullptr ? -1 : entry->id;
  }
  // Like find(), but an error names some of the available codes.
  [[nodiscard]] Result<const Entry*> require(std::string_view code) const;
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::vector<std::string> codes() const;

 private:
  std::vector<Entry> entries_;
};

// True if any family has a language with this code, or with this name.
bool is_known_language(std::string_view code);

// The languages of published families, in order of their ids.
std::span<const std::string_view> mbart_languages();    // 25
std::span<const std::string_view> mbart50_languages();  // 52: mBART's come first
std::span<const std::string_view> m2m100_languages();   // 100
std::span<const std::string_view> wmt21_languages();    // 8, of M2M100 tokenizers with language_codes "wmt21"
std::span<const std::string_view> nllb_languages();     // 202
std::span<const std::string_view> mustc_languages();    // 8, of Speech2Text tokenizers with lang_codes "mustc"

}  // namespace lapilli
