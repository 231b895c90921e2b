#include "cli/arguments/model_names.hpp"

#include <algorithm>
#include <cstdio>

#include "base/path.hpp"
#include "cli/arguments/foreign_models.hpp"
#include "cli/arguments/suggestions.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "fetched/present.hpp"
#include "hub/catalogue.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

// Empty if the list is not there: names are then taken literally.
std::vector<hub::Listed> known_models() {
  auto models = hub::read_catalogue(tools::known_models_file());
  return models ? std::move(*models) : std::vector<hub::Listed>{};
}

std::string without_owner(const std::string& name) { return name.substr(name.find('/') + 1); }

std::string question(const std::string& meant) { return meant.empty() ? "" : "; did you mean " + meant + "?"; }

// Advice on a name that leads nowhere.
std::string how_to_get(const std::string& name, const hub::Places& places) {
  const auto parsed = hub::parse_model_name(name);
  const std::string meant = known_model_meant(name);
  if (!parsed && meant.empty())
    return "; name the directory of a published model, or one that lapilli models lists and lapilli fetch gets";
  if (!parsed) return question(meant) + " lapilli fetch " + meant + " gets it";
  return hub::how_to_get(places, *parsed) + question(meant);
}

// The directory of a model whose name is no directory, or "".
std::string find_elsewhere(const std::string& name, const hub::Places& places) {
  if (const std::string bundled = bundled_directory(name); !bundled.empty()) return bundled;
  const auto parsed = hub::parse_model_name(name);
  return parsed ? hub::find_present(places, *parsed) : "";
}

int no_model(const std::string& why) {
  std::fprintf(stderr, "lapilli: %s\n", why.c_str());
  return exit_input;
}

}  // namespace

std::string bundled_directory(const std::string& name) {
  for (const hub::Listed& model : known_models()) {
    if (!model.bundled || model.name != name) continue;
    const std::string list = tools::known_models_file();
    const std::string directory = list.substr(0, list.rfind('/') + 1) + name;
    if (directory_exists(directory)) return directory;
  }
  return "";
}

std::string default_directory() {
  const std::string named = environment("LAPILLI_MODEL");
  if (!named.empty()) return directory_exists(named) || file_exists(named) ? named : "";
  for (const hub::Listed& model : known_models())
    if (model.bundled) return bundled_directory(model.name);
  return "";
}

int find_model(std::string& model) {
  const std::string name = model.empty() ? environment("LAPILLI_MODEL") : model;
  const std::string named = model.empty() ? "LAPILLI_MODEL names " + name + ", which is " : name + " is ";
  if (name.empty()) return exit_ok;
  if (const std::string foreign = foreign_model(name); !foreign.empty()) return no_model(named + foreign);
  if (directory_exists(name) || file_exists(name)) return exit_ok;
  const hub::Places places = hub::places_of_environment();
  if (const std::string found = find_elsewhere(name, places); !found.empty()) {
    model = found;
    return exit_ok;
  }
  return no_model(named + "not a directory" + how_to_get(name, places));
}

int find_model_with(const Ability& ability, std::string& model) {
  if (const int code = find_model(model)) return code;
  if (model.empty()) model = environment("LAPILLI_MODEL");
  if (!model.empty()) return exit_ok;
  return complain(exit_usage, std::string("the bundled model translates text and ") + ability.lacking +
                                  ": name one that " + ability.having + " with --model (lapilli fetch " +
                                  ability.example + " gets one)");
}

std::vector<std::string> models_for(const std::string& from, const std::string& to) {
  std::vector<std::string> names;
  for (const hub::Listed& model : hub::select_models(known_models(), {from, to, "translate", ""}, tools::same_language))
    names.push_back(model.name);
  return names;
}

std::string known_model_meant(const std::string& typed) {
  const bool has_owner = typed.find('/') != std::string::npos;
  std::vector<std::string> names, full_names;
  for (const hub::Listed& model : known_models()) {
    full_names.push_back(model.name);
    names.push_back(has_owner ? model.name : without_owner(model.name));
  }
  if (std::find(full_names.begin(), full_names.end(), typed) != full_names.end()) return "";
  const auto found = std::find(names.begin(), names.end(), nearest(typed, names));
  if (found == names.end()) return "";
  return full_names[static_cast<size_t>(found - names.begin())];
}

}  // namespace lapilli::cli
