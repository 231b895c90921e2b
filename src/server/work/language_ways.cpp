#include "server/work/language_ways.hpp"

#include <algorithm>
#include <set>

#include "server/work/languages.hpp"
#include "server/work/translation.hpp"

namespace lapilli::server {

namespace {

constexpr const char* kBetween = "en";  // most pairs have English on one side

bool names_languages(const ModelFacts& model) { return !model.sources.empty() && !model.targets.empty(); }

const ModelFacts* find_named(const std::vector<ModelFacts>& models, const std::string& from, const std::string& to) {
  const auto fits = [&](const ModelFacts& m) { return names_languages(m) && translates(m, from, to); };
  const auto found = std::ranges::find_if(models, fits);
  return found == models.end() ? nullptr : &*found;
}

LanguageStep step_of(const ModelFacts& model, const std::string& from, const std::string& to) {
  return {model.name, find_language(model.sources, from), find_language(model.targets, to)};
}

}  // namespace

LanguageWay find_way(const std::vector<ModelFacts>& models, const std::string& from, const std::string& to) {
  LanguageWay way;
  way.same = from == to || short_language(from) == short_language(to);
  if (way.same) return way;
  if (const ModelFacts* direct = find_named(models, from, to)) {
    way.steps = {step_of(*direct, from, to)};
    return way;
  }
  const ModelFacts *there = find_named(models, from, kBetween), *on = find_named(models, kBetween, to);
  if (there != nullptr && on != nullptr) {
    way.steps = {step_of(*there, from, kBetween), step_of(*on, kBetween, to)};
    way.between = kBetween;
    return way;
  }
  for (const ModelFacts& model : models)
    if (way.steps.empty() && !names_languages(model) && translates(model, from, to))
      way.steps = {step_of(model, from, to)};
  return way;
}

std::vector<std::string> known_languages(const std::vector<ModelFacts>& models) {
  std::set<std::string> all;
  for (const ModelFacts& model : models) {
    if (!translates(model, "", "")) continue;
    for (const std::string& code : model.sources) all.insert(short_language(code));
    for (const std::string& code : model.targets) all.insert(short_language(code));
  }
  return {all.begin(), all.end()};
}

std::vector<std::string> targets_from(const std::vector<ModelFacts>& models, const std::string& from) {
  std::vector<std::string> all;
  for (const std::string& to : known_languages(models)) {
    const LanguageWay way = find_way(models, from, to);
    if (way.same || !way.steps.empty()) all.push_back(to);
  }
  return all;
}

}  // namespace lapilli::server
