#include "model/families/family.hpp"
#include "text/kinds/languages.hpp"
#include "tools/locate.hpp"
#include "tools/tools.hpp"

namespace lapilli::tools {

std::string known_models_file() { return bundled_file("models.jsonl"); }

std::string registries_file() { return bundled_file("registries.json"); }

bool is_known_family(const std::string& model_type) { return model::find_family(model_type) != nullptr; }

bool same_language(const std::string& a, const std::string& b) {
  LanguageTable table;
  table.add(a, 0);
  return table.find(b) != nullptr;
}

bool is_known_language(const std::string& code) { return lapilli::is_known_language(code); }

}  // namespace lapilli::tools
