#include "fetched/present.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "base/path.hpp"
#include "fetched/cache.hpp"
#include "fetched/huggingface_cache.hpp"
#include "fetched/selection.hpp"

namespace lapilli::hub {

namespace {

// If the file cannot be read, the family is unknown.
std::string family_in(const std::string& config) {
  constexpr size_t kMostBytes = size_t{16} << 20;
  const auto text = read_text_file(config, kMostBytes);
  if (!text || json_nests_too_deep(*text)) return "";
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const auto type = json.is_object() ? json.find("model_type") : json.end();
  if (!json.is_object() || type == json.end() || !type->is_string()) return "";
  const std::string family = type->get<std::string>();
  return is_plain_name(family) ? family : "";
}

std::string family_of(const std::string& directory) {
  const std::string family = family_in(directory + "/config.json");
  return family.empty() ? family_in(directory + "/" + kNetworkFolder + "/config.json") : family;
}

std::vector<ModelName> names_in_own(const std::string& models) {
  std::vector<ModelName> names;
  for (const std::string& owner : names_in(models))
    for (const std::string& name : names_in(models + "/" + owner))
      if (is_plain_name(owner) && is_plain_name(name)) names.push_back({owner, name, ""});
  return names;
}

void add_own(const std::string& models, std::vector<Present>& present) {
  for (const ModelName& model : names_in_own(models)) {
    const std::string directory = find_fetched(models, model);
    if (directory.empty()) continue;
    const auto manifest = read_manifest(directory);
    present.push_back({model.text(), directory, false, family_of(directory), manifest ? manifest->licence : ""});
  }
}

void add_shared(const std::string& cache, std::vector<Present>& present) {
  for (const ModelName& model : names_in_huggingface_cache(cache)) {
    const auto same = [&](const Present& one) { return one.name == model.text(); };
    if (std::any_of(present.begin(), present.end(), same)) continue;
    const Snapshot snapshot = find_snapshot(cache, model);
    if (snapshot.directory.empty() || !snapshot.lacks.empty()) continue;
    present.push_back({model.text(), snapshot.directory, true, family_of(snapshot.directory), ""});
  }
}

}  // namespace

Places places_of_environment() {
  const auto own = models_directory();
  return {own ? *own : "", huggingface_cache()};
}

std::vector<Present> all_present(const Places& places) {
  std::vector<Present> present;
  if (!places.own.empty()) add_own(places.own, present);
  add_shared(places.shared, present);
  std::sort(present.begin(), present.end(), [](const Present& a, const Present& b) { return a.name < b.name; });
  return present;
}

std::string find_present(const Places& places, const ModelName& model) {
  const std::string own = places.own.empty() ? "" : find_fetched(places.own, model);
  if (const std::string path = path_in(own, model.file); !path.empty()) return path;
  const Snapshot snapshot = find_snapshot(places.shared, model);
  return snapshot.lacks.empty() || !model.file.empty() ? path_in(snapshot.directory, model.file) : "";
}

std::string how_to_get(const Places& places, const ModelName& model) {
  const std::string fetch = "lapilli fetch " + model.full();
  if (!model.file.empty()) return ", and no file of that name was fetched; " + fetch + " gets it";
  if (const Snapshot snapshot = find_snapshot(places.shared, model); !snapshot.lacks.empty())
    return ", and what lies in " + snapshot.directory + " is not whole: " + snapshot.lacks + "; " + fetch + " gets it";
  const bool begun = !places.own.empty() && !names_in(places.own + "/" + model.text()).empty();
  if (begun && model.revision.empty()) return ", and its fetch did not end; " + fetch + " goes on";
  return ", and no model of that name was fetched; " + fetch + " gets it";
}

}  // namespace lapilli::hub
