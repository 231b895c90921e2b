// How sure a model is of what it wrote: the lines that it is least sure of are wrong most often (docs/quality.md).
#pragma once

#include <optional>
#include <string>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// The mean logarithm of its tokens' probabilities, of the sentence that the model is least sure of. Nothing where the
// model wrote nothing.
std::optional<double> sureness(const Sequence& sequence);

inline bool is_unsure(const Sequence& sequence, const std::optional<double>& below) {
  const auto sure = below ? sureness(sequence) : std::nullopt;
  return sure && *sure < *below;
}

// Below which a model's outputs are told: what its directory says ("unsure_below" in evaluation.json), as the bundled
// model's does. Nothing: nobody has measured that.
std::optional<double> unsure_threshold(const std::string& directory);

}  // namespace lapilli::cli
