// Formats the scores of given texts, and sums them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/arguments/text_arguments.hpp"
#include "cli/run/text_model.hpp"

namespace lapilli::cli {

// The logarithms of the probabilities of ids, added up.
struct ScoreSum {
  double log_probability = 0;
  uint64_t tokens = 0;  // that have one

  void add(const Sequence& sequence);
  // Nothing: no token has a score.
  [[nodiscard]] std::optional<double> perplexity() const;
};

// A text: "23.417 -85.122 27" with tabs between: perplexity, sum of the logarithms, tokens; "-" for no perplexity. Or
// JSON.
std::string scores_output(const LineResult& result, uint64_t number, const TextArguments& arguments);
// {"perplexity":23.417,"log_probability":-85.122,"tokens":27}; with --scores ids and each id's logarithm.
std::string scores_json(const Output& output, bool token_scores);
// Why a text has no perplexity; empty if it has one.
std::string why_unscored(const Output& output);
// "3 texts, 120 tokens scored, perplexity 23.417"
std::string total_text(uint64_t texts, const ScoreSum& sum);

}  // namespace lapilli::cli
