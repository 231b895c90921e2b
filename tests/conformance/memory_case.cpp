// Scores of a text that goes through a model in segments, each with the memory of the one before.
#include <cmath>

#include "conformance/folder.hpp"
#include "generate/generate.hpp"

namespace lapilli::conformance {

namespace {

// The scores of the ids that follow the rows of a segment.
std::vector<double> next_scores(const ForwardTensor& logits, const std::vector<int32_t>& ids) {
  std::vector<double> scores;
  const uint64_t columns = logits.shape[2];
  for (size_t i = 0; i < ids.size() && i < logits.shape[1]; ++i)
    scores.push_back(static_cast<double>(logits.values[i * columns + static_cast<uint64_t>(ids[i])]));
  return scores;
}

}  // namespace

Result<Outcome> run_score_with_memory(const std::shared_ptr<Model>& model, const Record& record,
                                      const nlohmann::json& c) {
  LAPILLI_TRY(const auto rows, read_ids(record, c["inputs"].at("input_ids").get<std::string>()));
  const auto& ids = rows.at(0);
  std::vector<double> scores;
  ForwardRequest request;
  request.want_hidden_states = true;
  size_t from = 0;
  for (const size_t length : c.at("segments").get<std::vector<size_t>>()) {
    const auto begin = ids.begin() + static_cast<ptrdiff_t>(from);
    from += length;
    if (from > ids.size()) return Outcome::failed("segments of more ids than the text has");
    request.targets = {{begin, begin + static_cast<ptrdiff_t>(length)}};
    LAPILLI_TRY(const auto outputs, forward(model, request));
    LAPILLI_TRY(request.memories, remember(*model, request, outputs));
    for (const auto& t : outputs)
      if (t.name == "logits")
        for (const double s :
             next_scores(t, {begin + 1, std::min(begin + 1 + static_cast<ptrdiff_t>(length), ids.end())}))
          scores.push_back(s);
  }
  const auto expected = c.at("token_log_probs").get<std::vector<double>>();
  Outcome o;
  if (scores.size() < expected.size()) return Outcome::failed("fewer scores than ids");
  for (size_t i = 0; i < expected.size(); ++i)
    o.compare(std::abs(scores[i] - expected[i]), c.at("atol_fp32").get<double>(), "token " + std::to_string(i + 1));
  return o;
}

}  // namespace lapilli::conformance
