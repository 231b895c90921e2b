// The plural categories of languages for counted things, as CLDR has them: the cases of ICU's plural, Android's
// quantities, i18next's endings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli::documents {

// zero, one, two, few, many, other.
std::span<const std::string_view> all_plural_categories();

// Those that whole numbers below a million have in the language ("pt-BR", "sr_Latn"), "other" among them; none for an
// unknown language. The "many" of French and its sisters, which millions alone have, is not among them.
std::vector<std::string_view> plural_categories(std::string_view language);

// The categories that the language has and a text lacks: "few, many"; "" if none.
std::string lacking_categories(std::string_view language, std::span<const std::string_view> has);

}  // namespace lapilli::documents
