// Labels of the caller's own, by a model that was trained to say what follows from a text: each label is made a
// hypothesis (Yin, Hay, Roth 2019).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

inline constexpr const char* kHypothesis = "This example is {}.";

// The columns of a model's logits that say that a hypothesis follows, and that it does not.
struct Entailment {
  uint32_t follows = 0, contradicts = 0;
};

// By the model's labels; `named`: the label that the caller says means entailment, "": the first that begins so.
Result<Entailment> find_entailment(std::span<const std::string> labels, std::string_view named);

// The caller's labels without blanks around them; one that is there twice counts once.
struct CandidateLabels {
  std::vector<std::string> labels;
  std::vector<std::string> repeated;  // for a note
};
Result<CandidateLabels> check_candidates(std::span<const std::string> labels);

// Fails unless the template holds one {}, which is replaced.
Result<std::string> hypothesis_of(std::string_view pattern, std::string_view label);

struct LabelScore {
  std::string label;
  double score = 0;
};
// `logits`: of each label's hypothesis, as many as the model has labels. The highest score first, equal ones in their
// order. Without `several` the scores sum up to 1; with it, or with a single label, each label stands for itself.
std::vector<LabelScore> score_labels(std::span<const std::string> labels, std::span<const std::vector<float>> logits,
                                     const Entailment& columns, bool several);

}  // namespace lapilli
