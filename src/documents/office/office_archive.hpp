// Office files and e-books: archives of XML files, some of which have words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/kinds.hpp"

namespace lapilli::documents {

template <Kind kind>
Result<std::vector<Piece>> unpack_office(std::string_view archive, const Options& options);
Result<std::string> pack_office(std::string_view archive, const std::vector<std::string>& pieces);

bool have_archives();

}  // namespace lapilli::documents
