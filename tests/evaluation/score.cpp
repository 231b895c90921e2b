#include "evaluation/score.hpp"

#include <algorithm>
#include <cmath>

namespace lapilli::evaluation {

namespace {

double log_probability(std::span<const float> logits, size_t id) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - most);
  return logits[id] - most - std::log(sum);
}

}  // namespace

Result<std::vector<Score>> score(const std::shared_ptr<Model>& model, const std::vector<int32_t>& source,
                                 std::span<const std::vector<int32_t>> hypotheses) {
  const auto& settings = model->generation_config();
  if (!settings.decoder_start_token_id)
    return fail(ErrorCode::unsupported, "the model's generation_config names no decoder_start_token_id");
  ForwardRequest request;
  for (const auto& ids : hypotheses) {
    if (ids.empty()) return fail(ErrorCode::invalid_argument, "a hypothesis without ids has no score");
    request.sources.push_back(source);
    request.targets.push_back({*settings.decoder_start_token_id});
    request.targets.back().insert(request.targets.back().end(), ids.begin(), ids.end() - 1);
  }
  LAPILLI_TRY(const auto outputs, forward(model, request));
  const auto logits = std::find_if(outputs.begin(), outputs.end(), [](const auto& t) { return t.name == "logits"; });
  if (logits == outputs.end()) return fail(ErrorCode::internal, "forward() gave no logits");
  const uint64_t length = logits->shape[1], vocabulary = logits->shape[2];
  std::vector<Score> scores(hypotheses.size());
  for (size_t h = 0; h < hypotheses.size(); ++h) {
    const auto& ids = hypotheses[h];
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto row = std::span(logits->values).subspan((h * length + i) * vocabulary, vocabulary);
      if (ids[i] < 0 || static_cast<uint64_t>(ids[i]) >= vocabulary)
        return fail(ErrorCode::invalid_argument, "id %d is outside the vocabulary", ids[i]);
      scores[h].log_probabilities.push_back(log_probability(row, static_cast<size_t>(ids[i])));
      scores[h].total += scores[h].log_probabilities.back();
    }
    scores[h].total /= std::pow(static_cast<double>(ids.size()), settings.length_penalty.value_or(1.0));
  }
  return scores;
}

}  // namespace lapilli::evaluation
