#include "cli/run/unsure.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "cli/files/json_object.hpp"
#include "cli/files/output_names.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

// Ids of a prompt have no probabilities.
std::optional<double> mean_of(const std::vector<float>& scores, size_t begin, size_t end) {
  double sum = 0;
  size_t count = 0;
  for (size_t i = begin; i < std::min(end, scores.size()); ++i) {
    if (std::isnan(scores[i])) continue;
    sum += static_cast<double>(scores[i]);
    ++count;
  }
  if (count == 0) return {};
  return sum / static_cast<double>(count);
}

}  // namespace

std::optional<double> sureness(const Sequence& sequence) {
  std::optional<double> least;
  size_t begin = 0;
  for (const Part& part : sequence.parts) {
    const auto mean = mean_of(sequence.token_scores, begin, begin + part.ids.size());
    begin += part.ids.size();
    if (mean && (!least || *mean < *least)) least = mean;
  }
  return least;
}

std::optional<double> unsure_threshold(const std::string& directory) {
  std::string text;
  if (directory.empty() || read_whole(path_in(directory, "evaluation.json"), text) != 0) return {};
  return JsonObject(text).number("unsure_below");
}

}  // namespace lapilli::cli
