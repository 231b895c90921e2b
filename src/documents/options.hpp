// What a user says of a document beyond its bytes.
#pragma once

#include <string>
#include <vector>

namespace lapilli::documents {

struct Options {
  // As the user writes them: "en", "pt-BR". Empty: unknown; then what names a language in the document stays.
  std::string source_language, target_language;
};

}  // namespace lapilli::documents
