#include "server/protocols/spoken_languages.hpp"

#include "server/work/languages.hpp"

namespace lapilli::server {

std::string spoken_language(std::string_view code) {
  if (code == "my") return "myanmar";  // Whisper's own words for two languages
  if (code == "ht") return "haitian creole";
  std::string name = language_name(code);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

}  // namespace lapilli::server
