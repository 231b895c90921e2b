// The kinds of app texts: rows of kinds.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "documents/apps/notes.hpp"
#include "documents/kinds.hpp"

namespace lapilli::documents {

Result<Found> find_json(std::string_view bytes, size_t begin, const Options& options);

Result<std::vector<Piece>> unpack_properties(std::string_view bytes, const Options& options);
Result<std::string> pack_properties(std::string_view bytes, const std::vector<std::string>& pieces);
Result<std::vector<Piece>> unpack_strings(std::string_view bytes, const Options& options);
Result<std::string> pack_strings(std::string_view bytes, const std::vector<std::string>& pieces);
Result<Found> find_android(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_stringsdict(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_xcstrings(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_yaml(std::string_view bytes, size_t begin, const Options& options);

extern const Style kJsonStyle, kAndroidStyle, kStringsdictStyle, kYamlStyle;

// "pt-BR" as pt_BR.
std::string underscored(std::string_view language);

// Says which plural forms the language has, and these are not.
void tell_lacking(Notes& notes, size_t at, std::string_view language, std::span<const std::string_view> categories);

// Keys of plural forms: "item_one" beside "item_other", or "one" beside "other".
class PluralKeys {
 public:
  void add(std::string_view key, size_t at);
  // Says which categories the target language has and the keys lack.
  void tell(std::string_view language, Notes& notes) const;

 private:
  struct Forms {
    size_t at = 0;
    std::vector<std::string_view> categories;
  };
  std::map<std::string_view, Forms> forms_;  // by what the keys share
};

}  // namespace lapilli::documents
