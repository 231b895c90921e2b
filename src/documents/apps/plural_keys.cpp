#include <algorithm>

#include "documents/apps/app_kinds.hpp"
#include "documents/plurals.hpp"

namespace lapilli::documents {

std::string underscored(std::string_view language) {
  std::string name(language);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void tell_lacking(Notes& notes, size_t at, std::string_view language, std::span<const std::string_view> categories) {
  const std::string lacking = lacking_categories(language, categories);
  if (!lacking.empty()) notes.add(at, "the plural lacks forms that " + std::string(language) + " has: " + lacking);
}

void PluralKeys::add(std::string_view key, size_t at) {
  const size_t line = key.rfind('_');
  const std::string_view ending = line == std::string_view::npos ? key : key.substr(line + 1);
  const auto all = all_plural_categories();
  if (std::find(all.begin(), all.end(), ending) == all.end()) return;
  const std::string_view shared = key.substr(0, key.size() - ending.size());
  if (shared.ends_with("_ordinal_")) return;
  Forms& forms = forms_[shared];
  if (forms.categories.empty()) forms.at = at;
  forms.categories.push_back(ending);
}

void PluralKeys::tell(std::string_view language, Notes& notes) const {
  for (const auto& [shared, forms] : forms_) {
    const bool plural = std::find(forms.categories.begin(), forms.categories.end(), "other") != forms.categories.end();
    if (plural && forms.categories.size() > 1) tell_lacking(notes, forms.at, language, forms.categories);
  }
}

}  // namespace lapilli::documents
