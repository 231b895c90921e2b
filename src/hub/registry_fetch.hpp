// Fetches models from registries of other programs, into the same directory as those of a hub.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "hub/fetch.hpp"
#include "hub/registry.hpp"

namespace lapilli::hub {

// The list of a registry, now. The address of `settings.hub` is not used, and its token is sent to nobody.
Result<std::vector<OfferedModel>> ask_registry(const FetchSettings& settings, const Registry& registry,
                                               const FetchWatch& watch);

struct FetchedOffer {
  Fetched fetched;
  std::string name;  // "argos/en_de", with the registry's own codes
};
// The model for a pair of languages. Sizes and checksums that the list states must be right.
Result<FetchedOffer> fetch_pair(const FetchSettings& settings, const Registry& registry, const LanguageCodes& pair,
                                const SameLanguage& same, const FetchWatch& watch);

}  // namespace lapilli::hub
