// A model's sureness of its output: the lines of lowest sureness are wrong most often (docs/use/quality.md).
#pragma once

#include <optional>
#include <string>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// The mean logarithm of token probabilities in the sentence that the model is least sure of. Nothing if the model wrote
// nothing.
std::optional<double> sureness(const Sequence& sequence);

inline bool is_unsure(const Sequence& sequence, const std::optional<double>& below) {
  const auto sure = below ? sureness(sequence) : std::nullopt;
  return sure && *sure < *below;
}

// The threshold below which a model's outputs are reported, from its directory ("unsure_below" in evaluation.json), as
// the bundled model has it. Nothing: it was not measured.
std::optional<double> unsure_threshold(const std::string& directory);

}  // namespace lapilli::cli
