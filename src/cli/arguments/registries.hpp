// Registries of other programs, from which `fetch` takes argos/FROM_TO and the like.
#pragma once

#include <optional>
#include <string>

#include "fetched/names.hpp"
#include "hub/registry_fetch.hpp"

namespace lapilli::cli {

// Those of LAPILLI_REGISTRIES, or of the file that comes with the program.
Result<std::vector<hub::Registry>> known_registries();
// The registry and the pair of languages that a name means; nothing for a repository of the hub.
struct RegistryModel {
  hub::Registry registry;
  hub::LanguageCodes pair;
};
std::optional<RegistryModel> of_registry(const hub::ModelName& name);
// Fetches it into this directory of models.
Result<hub::FetchedOffer> fetch_from(const RegistryModel& model, const std::string& models,
                                     const hub::FetchWatch& watch);

}  // namespace lapilli::cli
