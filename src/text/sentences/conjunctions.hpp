// Words that join clauses.
#pragma once

#include <string_view>

namespace lapilli {

// True if `word`, as spelled within a sentence, joins the clauses on its sides: "and", "parce". `language` as from
// base_language(); empty (unknown): always false, as one language's conjunction is another's article.
bool is_conjunction(std::string_view language, std::string_view word);

}  // namespace lapilli
