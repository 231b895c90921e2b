// Options of a search with so many prompt ids, in one call.
#pragma once

#include "search/search_options.hpp"

namespace lapilli::testing_support {

inline Result<SearchOptions> options_for(const GenerationConfig& model, const GenerationConfig& request, uint32_t given,
                                         const model::Config& config) {
  LAPILLI_TRY(const auto resolved, resolve_options(model, request, config));
  return resolved.for_prompt(given);
}

}  // namespace lapilli::testing_support
