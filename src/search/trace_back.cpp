#include "search/trace_back.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lapilli {

namespace {

float or_infinity(float score) { return score <= state::FORBIDDEN ? -std::numeric_limits<float>::infinity() : score; }

// Scores per token from running sums; the first sum precedes any generated token.
std::vector<float> differences(const std::vector<float>& sums) {
  std::vector<float> out;
  for (size_t i = 1; i < sums.size(); ++i)
    out.push_back(sums[i] <= state::FORBIDDEN || sums[i - 1] <= state::FORBIDDEN ? or_infinity(state::FORBIDDEN)
                                                                                 : sums[i] - sums[i - 1]);
  return out;
}

// The entries that lead to a beam after `steps` steps, in order. The log comes from a device, so its indices are
// checked before use.
Result<std::vector<const SentenceLog::Entry*>> path_to(const SentenceLog& log, uint32_t steps, uint32_t beam) {
  std::vector<const SentenceLog::Entry*> path(steps);
  for (uint32_t step = steps;; --step) {
    if (beam >= log.beams) return fail(ErrorCode::internal, "the step log names beam %u of %u", beam, log.beams);
    if (step == 0) return path;
    path[step - 1] = &log.at(step - 1, beam);
    beam = path[step - 1]->parent;
  }
}

// An end token forced at the last length does not show that the model would have ended there.
Finish finish_of(const std::vector<int32_t>& ids, const SearchOptions& options) {
  const auto has = [last = ids.back()](const std::vector<int32_t>& all) {
    return std::find(all.begin(), all.end(), last) != all.end();
  };
  const bool forced = ids.size() >= options.max_length && has(options.forced_eos);
  return has(options.end_ids) && !forced ? Finish::stop : Finish::length;
}

Result<Hypothesis> follow(const Sentence& s, const Finished& f, uint32_t first_beam) {
  const uint32_t step = s.log.step_at(f.position);
  if (f.position + 1 < s.log.prompt_ids || step >= s.log.steps())
    return fail(ErrorCode::internal, "a finished hypothesis points to step %u of %u", step, s.log.steps());
  LAPILLI_TRY(const auto path, path_to(s.log, step, f.beam));
  Hypothesis h;
  h.score = or_infinity(f.score);
  h.ids = s.prompt;
  std::vector<float> sums{0};
  for (const auto* entry : path) {
    h.ids.push_back(entry->token);
    h.beam_indices.push_back(static_cast<int32_t>(first_beam + entry->parent));
    sums.push_back(entry->running);
  }
  h.ids.push_back(f.token);
  h.finish = finish_of(h.ids, s.options);
  h.beam_indices.push_back(static_cast<int32_t>(first_beam + f.beam));
  sums.push_back(f.score * std::pow(static_cast<float>(step + 1), s.options.length_penalty));
  h.token_scores = differences(sums);
  return h;
}

}  // namespace

Result<std::vector<Hypothesis>> trace_back(const Sentence& s, uint32_t number, uint32_t count) {
  std::vector<Hypothesis> all;
  for (size_t i = 0; i < std::min<size_t>(s.finished.size(), count); ++i) {
    LAPILLI_TRY(auto h, follow(s, s.finished[i], number * s.log.beams));
    all.push_back(std::move(h));
  }
  return all;
}

Result<std::vector<int32_t>> beam_history(const Sentence& s, uint32_t steps, uint32_t beam) {
  if (steps > s.log.steps()) return fail(ErrorCode::internal, "step %u of %u", steps, s.log.steps());
  LAPILLI_TRY(const auto path, path_to(s.log, steps, beam));
  std::vector<int32_t> ids = s.prompt;
  for (const auto* entry : path) ids.push_back(entry->token);
  return ids;
}

}  // namespace lapilli
