// Files of apps by chance, made by writers of these tests, each with what it says.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "documents/characters.hpp"
#include "documents/kind.hpp"
#include "random_documents.hpp"

namespace lapilli::documents {

struct AppFile {
  std::string bytes;
  std::vector<std::pair<std::string, std::string>> entries;  // keys and texts, as a program reads them
};

// Json, yaml, properties, strings, stringsdict, xcstrings or android.
AppFile random_app_file(Kind kind, Chance& chance);
// Reads such a file again, by itself: what `AppFile::entries` holds, with other texts. Of .xcstrings, those in French.
std::vector<std::pair<std::string, std::string>> read_app_file(Kind kind, const std::string& bytes);

// The placeholders, tags and words of ICU's syntax in a text, sorted.
std::vector<std::string> app_marks(const std::string& text);
// Other words in another number, among them what means something in one kind or another; each kept word once, or not.
Translation app_translation(const Segment& segment, Chance& chance);

}  // namespace lapilli::documents
