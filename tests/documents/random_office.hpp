// Office files, e-books and files of translators by chance.
#pragma once

#include <string>

#include "random_documents.hpp"

namespace lapilli::documents {

// The XML of one of the kinds; for an archive, that of its file with words.
std::string random_office(Kind kind, Chance& chance);
// The name of that file in an archive of the kind; "" for kinds that are no archives.
std::string office_member(Kind kind);

}  // namespace lapilli::documents
