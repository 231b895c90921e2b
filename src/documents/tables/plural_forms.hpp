// The plural forms of languages, as catalogues of gettext write them.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::documents {

struct PluralForms {
  size_t count = 0;
  const char* expression = "";
  size_t singular = 0;     // the form of one
  bool one_alone = false;  // that form is for the number 1 and no other
};

// Null: the language has no row here. "pt-BR" differs from "pt".
const PluralForms* plural_forms_of(std::string_view language);

}  // namespace lapilli::documents
