// A user's words about a document, beyond its bytes.
#pragma once

#include <string>
#include <vector>

namespace lapilli::documents {

struct Options {
  // As the user writes them: "en", "pt-BR". Empty: unknown; then what names a language in the document stays.
  std::string source_language, target_language;

  // Tables: the columns that are translated, by name or number from 1; none: every cell. Each of `to_columns` gets the
  // translations of the column at the same place, which then stays itself.
  std::vector<std::string> columns, to_columns;
  char delimiter = 0;  // between cells; 0: the document tells it
  bool header = true;  // the first row has the columns' names

  bool all = false;   // units that have a translation get a new one, too
  bool fuzzy = true;  // what was made is marked for review, where the kind of document has such a mark
  // Names that stay as they are wherever they stand as whole words. Document::parse() keeps them for every kind.
  std::vector<std::string> keep;
};

}  // namespace lapilli::documents
