// Words that join clauses.
#pragma once

#include <string_view>

namespace lapilli {

// True if `word`, as spelled within a sentence, joins what stands before it to what follows: "and", "parce". `language`
// as of base_language(); empty: unknown, and then no word does, as one language's conjunction is another's article.
bool is_conjunction(std::string_view language, std::string_view word);

}  // namespace lapilli
