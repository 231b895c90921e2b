#include "cli/arguments/model_choice.hpp"

#include <algorithm>
#include <vector>

#include "base/path.hpp"
#include "hub/catalogue.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

using tools::InstalledModel;
constexpr const char* kBetween = "en";  // most packages have English on one side

bool serves_bundled(const std::string& from, const std::string& to) {
  const auto known = hub::read_catalogue(tools::known_models_file());
  if (!known) return false;
  const auto fitting = hub::select_models(*known, {from, to, "translate", ""}, tools::same_language);
  return std::ranges::any_of(fitting, [](const hub::Listed& model) { return model.bundled; });
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
  return found;
}

std::string name_of(const InstalledModel& model) {
  return model.program + "'s " + model.path + (model.version.empty() ? "" : " (version " + model.version + ")");
}

// The one that is taken of a pair, and what is left aside.
std::string told_of(const std::vector<InstalledModel>& pair) {
  std::string text = name_of(pair.front());
  for (size_t i = 1; i < pair.size(); ++i)
    text += ", and not " + pair[i].path +
            (pair[i].version == pair[0].version ? ", which is of the same version"
                                                : ", whose version " + pair[i].version + " is older");
  return text;
}

}  // namespace

ModelChoice choose_model(const std::string& directory, const std::string& from, const std::string& to) {
  ModelChoice choice{directory, "", ""};
  if (from.empty() || to.empty()) return choice;
  if (directory.empty() && serves_bundled(from, to)) return choice;
  auto all = tools::installed_models();
  const bool served = all.empty() || (!directory.empty() && tools::may_translate(directory, from, to));
  if (served) return choice;
  const auto direct = of_pair(all, from, to);
  const auto there = direct.empty() ? of_pair(all, from, kBetween) : direct,
             on = direct.empty() ? of_pair(all, kBetween, to) : direct;
  const std::string pair =
      from + " to " + to + (directory.empty() ? ": " : ", which " + directory + " does not translate: ");
  if (!direct.empty()) {
    choice = {direct.front().path, "", "", {pair + told_of(direct)}};
  } else if (!there.empty() && !on.empty()) {
    choice = {on.front().path,
              there.front().path,
              kBetween,
              {pair + "over English, by " + told_of(there) + ", then " + told_of(on)}};
  }
  for (const InstalledModel& model : all)
    if (!model.problem.empty()) choice.told.push_back("left aside: " + model.problem);
  return choice;
}

}  // namespace lapilli::cli
