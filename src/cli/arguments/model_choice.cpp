#include "cli/arguments/model_choice.hpp"

#include <algorithm>
#include <vector>

#include "base/path.hpp"
#include "cli/arguments/model_names.hpp"
#include "hub/catalogue.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

using tools::InstalledModel;
constexpr const char* kBetween = "en";  // most packages have English on one side
constexpr const char* kBundledProgram = "Lapilli";

// The bundled model's name, if it serves the languages and is there.
std::string bundled_for(const std::string& from, const std::string& to) {
  const auto known = hub::read_catalogue(tools::known_models_file());
  if (!known) return "";
  for (const hub::Listed& model : hub::select_models(*known, {from, to, "translate", ""}, tools::same_language))
    if (model.bundled && !bundled_directory(model.name).empty()) return model.name;
  return "";
}

// Those for a pair of languages, the newest first. Broken ones before the first that runs are marked in `all`.
std::vector<InstalledModel> of_pair(std::vector<InstalledModel>& all, const std::string& from, const std::string& to) {
  std::vector<InstalledModel> found;
  for (InstalledModel& model : all) {
    if (!model.problem.empty() || !tools::same_language(model.from, from) || !tools::same_language(model.to, to))
      continue;
    if (found.empty()) model.problem = tools::installed_problem(model);
    if (model.problem.empty()) found.push_back(model);
  }
  // "zh" may also mean "zt", where nothing has its very code.
  std::ranges::stable_partition(found, [&](const InstalledModel& m) { return m.from == from && m.to == to; });
  return found;
}

std::string name_of(const InstalledModel& model) {
  return model.program + "'s " + (model.name.empty() ? model.path : model.name) +
         (model.version.empty() ? "" : " (version " + model.version + ")");
}

std::string why_behind(const InstalledModel& first, const InstalledModel& other) {
  if (first.program != other.program) return ", for " + first.program + "'s come first";
  return first.version == other.version ? ", which is of the same version"
                                        : ", whose version " + other.version + " is older";
}

// Half of a chain: the bundled model comes before installed ones.
std::vector<InstalledModel> of_leg(std::vector<InstalledModel>& all, const std::string& from, const std::string& to) {
  const std::string bundled = bundled_for(from, to);
  if (!bundled.empty()) return {{kBundledProgram, bundled_directory(bundled), from, to, "", "", bundled}};
  return of_pair(all, from, to);
}

// The one that is taken of a pair, and what is left aside.
std::string told_of(const std::vector<InstalledModel>& pair) {
  std::string text = name_of(pair.front());
  for (size_t i = 1; i < pair.size(); ++i) text += ", and not " + pair[i].path + why_behind(pair[0], pair[i]);
  return text;
}

}  // namespace

ModelChoice choose_model(const std::string& directory, const std::string& from, const std::string& to) {
  ModelChoice choice{directory, "", ""};
  if (from.empty() || to.empty()) return choice;
  if (directory.empty() && !bundled_for(from, to).empty()) return choice;
  auto all = tools::installed_models();
  const auto direct = of_pair(all, from, to);
  const auto there = direct.empty() ? of_leg(all, from, kBetween) : direct,
             on = direct.empty() && !there.empty() ? of_leg(all, kBetween, to) : direct;
  // A named model is looked into only where another one would serve.
  const bool other = !there.empty() && !on.empty();
  if (!directory.empty() && (!other || tools::may_translate(directory, from, to))) return choice;
  const std::string pair =
      from + " to " + to + (directory.empty() ? ": " : ", which " + directory + " does not translate: ");
  if (!direct.empty())
    choice = {direct.front().path, "", "", {pair + told_of(direct)}};
  else if (other)
    choice = {on.front().path,
              there.front().path,
              kBetween,
              {pair + "over English, by " + told_of(there) + ", then " + told_of(on)}};
  for (const InstalledModel& model : all)
    if (!model.problem.empty()) choice.told.push_back("left aside: " + model.problem);
  return choice;
}

RunLanguages languages_of_run(const std::string& model, const std::string& from, const std::string& to) {
  const tools::LanguagePair pair = tools::languages_of_run(model, from, to);
  return {pair.from, pair.to};
}

}  // namespace lapilli::cli
