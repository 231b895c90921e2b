#include "cli/arguments/registries.hpp"

#include <algorithm>

#include "base/path.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

Result<std::vector<hub::Registry>> known_registries() {
  const std::string own = environment("LAPILLI_REGISTRIES");
  const std::string path = own.empty() ? tools::registries_file() : own;
  return hub::read_registries(path.empty() ? "registries.json" : path);
}

std::optional<RegistryModel> of_registry(const hub::ModelName& name) {
  const auto pair = hub::parse_pair(name.name);
  const auto registries = pair && name.file.empty() ? known_registries() : std::vector<hub::Registry>();
  if (!registries) return {};
  const auto found =
      std::ranges::find_if(*registries, [&](const hub::Registry& one) { return one.name == name.owner; });
  if (found == registries->end()) return {};
  return RegistryModel{*found, *pair};
}

Result<hub::FetchedOffer> fetch_from(const RegistryModel& model, const std::string& models,
                                     const hub::FetchWatch& watch) {
  return hub::fetch_pair({{}, models, {}, {}}, model.registry, model.pair, tools::same_language, watch);
}

}  // namespace lapilli::cli
