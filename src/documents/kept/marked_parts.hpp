// Parts of a page that its comments leave alone: from <!-- l10n:off --> to <!-- l10n:on -->.
#pragma once

#include <string_view>
#include <vector>

#include "documents/passage.hpp"

namespace lapilli::documents {

// Takes out the passages that begin in such a part; one without an end goes to the end of the page.
void leave_marked_parts(std::string_view bytes, std::vector<Passage>& passages);

}  // namespace lapilli::documents
