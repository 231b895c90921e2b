// A translation memory (TMX 1.4): texts with their translations, which are taken for equal texts. Plain types only, for
// programs that include lapilli.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lapilli::documents {

class TranslationMemory {
 public:
  // Adds the units of a file that have both languages; a variant (en-US) stands for its language (en). Without `from`
  // the file's own source language counts, without `to` the only other language. Gives an error message, or "".
  std::string read(std::string_view tmx, const std::string& from, const std::string& to);

  [[nodiscard]] size_t size() const { return targets_.size(); }
  // The translation of an equal text, or of one that differs in its numbers alone; these are put in. The last unit of
  // several wins.
  [[nodiscard]] std::optional<std::string> find(std::string_view text) const;

 private:
  struct Pattern {
    std::vector<std::string> numbers;
    size_t target = 0;
  };
  void add(const std::string& source, const std::string& target);

  std::vector<std::string> targets_;
  std::unordered_map<std::string, size_t> exact_;
  std::unordered_map<std::string, Pattern> patterns_;  // by the text without its numbers
};

// A file of units: its beginning, a unit, its end.
std::string tmx_head(std::string_view from);
std::string tmx_unit(std::string_view source, std::string_view target, std::string_view from, std::string_view to);
inline constexpr std::string_view kTmxEnd = "  </body>\n</tmx>\n";

}  // namespace lapilli::documents
