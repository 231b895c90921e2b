#include "speech/window_search.hpp"

#include <algorithm>
#include <numeric>

#include "search/encoded_source.hpp"
#include "speech/measures.hpp"
#include "speech/word_times.hpp"

namespace lapilli::speech {

namespace {

constexpr double kSecondsPerPosition = 0.02;
constexpr uint32_t kFramesPerPosition = 2;

double mean(std::span<const float> values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Greedy search's own scores are the logarithms that are wanted; others are made of every step's scores.
bool needs_steps(const GenerationConfig& merged, const WindowSearch::Wanted& wanted) {
  return wanted.average && (merged.num_beams.value_or(1) > 1 || wanted.temperature.value_or(0) > 0);
}

// Of the row that each id was chosen in: the one whose ids it follows.
Result<double> average_of_steps(const GenerateOutput& out, size_t given, double temperature) {
  const auto& ids = out.hypotheses.front().front().ids;
  double sum = 0;
  for (size_t i = given; i < ids.size(); ++i) {
    const size_t step = i - given;
    if (step >= out.captured.size()) return fail(ErrorCode::internal, "step %zu was not captured", step);
    const CapturedStep& c = out.captured[step];
    size_t row = 0;
    while (row < c.histories.size() &&
           !(c.histories[row].size() == i && std::equal(c.histories[row].begin(), c.histories[row].end(), ids.begin())))
      ++row;
    if (row == c.histories.size()) return fail(ErrorCode::internal, "a result came through no row of step %zu", step);
    const auto scores = std::span(c.scores).subspan(row * c.vocabulary, c.vocabulary);
    sum += log_probability(scores, ids[i], temperature);
  }
  return sum / static_cast<double>(ids.size() - given);
}

}  // namespace

WindowSearch::WindowSearch(std::shared_ptr<Model> model, const TranscribeRequest& request)
    : model_(std::move(model)), request_(request) {}

GenerateRequest WindowSearch::request_for(std::span<WindowSource* const> sources, const Wanted& wanted) const {
  GenerateRequest r;
  r.options = request_.options;
  r.options.return_timestamps = request_.timestamps;
  r.options.num_return_sequences = 1;
  r.options.forced_decoder_ids.emplace();
  if (wanted.temperature) {
    r.options.do_sample = *wanted.temperature > 0;
    r.options.temperature.reset();
    if (*wanted.temperature > 0) {
      r.options.temperature = wanted.temperature;
      r.options.num_beams = 1;
    }
  }
  r.exact_decoder_ids = r.deterministic = r.keep_order = true;
  r.keep_encoded = wanted.keep_encoded;
  const uint32_t positions = model_->info().max_target_positions;
  for (const WindowSource* s : sources) {
    r.features.push_back(s->encoded ? nullptr : s->features);
    r.encoded.push_back(s->encoded);
    r.decoder_ids.push_back(s->decoder_ids);
    r.sequences.push_back(s->sequence);
    if (wanted.no_speech) r.logits_at.push_back({s->start_at});
    // Where much stands before it there is room for less.
    const auto given = static_cast<uint32_t>(s->decoder_ids.size());
    if (r.options.max_new_tokens && positions > given)
      r.options.max_new_tokens = std::min(*r.options.max_new_tokens, positions - given);
  }
  return r;
}

Status WindowSearch::search(std::span<WindowSource*> sources, const Wanted& wanted,
                            std::vector<WindowResult>& results) const {
  GenerateRequest request = request_for(sources, wanted);
  const bool steps = needs_steps(merge(request.options, model_->generation_config()), wanted);
  request.capture_scores = steps;
  LAPILLI_TRY(auto out, generate(model_, request));
  for (size_t i = 0; i < sources.size(); ++i) {
    LAPILLI_CHECK(Status(out.errors[i]));
    const Hypothesis& h = out.hypotheses[i].front();
    const size_t given = sources[i]->decoder_ids.size();
    WindowResult r;
    r.ids.assign(h.ids.begin() + static_cast<ptrdiff_t>(given), h.ids.end());
    r.scores = h.token_scores;
    if (wanted.no_speech) {
      const int32_t silence = model_->speech().no_timestamps.value_or(1) - 1;
      r.no_speech = probability(out.logits[i].front(), silence);
    }
    if (steps) {
      const double temperature = wanted.temperature.value_or(0);
      LAPILLI_TRY(r.average, average_of_steps(out, given, temperature > 0 ? temperature : 1));
    } else if (wanted.average) {
      r.average = mean(r.scores);
    }
    if (wanted.keep_encoded && !sources[i]->encoded) sources[i]->encoded = out.encoded[i];
    results.push_back(std::move(r));
  }
  return {};
}

Result<std::vector<WindowResult>> WindowSearch::run(std::span<WindowSource*> sources, const Wanted& wanted) const {
  std::vector<WindowResult> results;
  // Steps are told apart by their ids, so that a window whose steps are looked at runs alone.
  const GenerationConfig merged = merge(request_for(sources, wanted).options, model_->generation_config());
  const size_t each = needs_steps(merged, wanted) ? 1 : sources.size();
  for (size_t i = 0; i < sources.size(); i += each) LAPILLI_CHECK(search(sources.subspan(i, each), wanted, results));
  if (request_.word_times) LAPILLI_CHECK(add_times(sources, results));
  return results;
}

Status WindowSearch::add_times(std::span<WindowSource* const> sources, std::vector<WindowResult>& results) const {
  size_t longest = 0;
  for (const WindowResult& r : results) longest = std::max(longest, r.ids.size());
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<int32_t> ids = results[i].ids;
    if (request_.fill_batches) ids.resize(longest, model_->generation_config().pad_token_id.value_or(0));
    LAPILLI_TRY(results[i].times, times_of(*sources[i], ids));
    results[i].times.resize(results[i].ids.size());
  }
  return {};
}

namespace {

// Rows of the new ids, columns of the positions that count.
Result<AttentionRows> rows_of(std::span<const ForwardTensor> outputs, std::pair<uint32_t, uint32_t> head, size_t given,
                              uint32_t positions) {
  const std::string name = format("cross_attentions.%u", head.first);
  for (const ForwardTensor& t : outputs) {
    if (t.name != name) continue;
    const uint64_t queries = t.shape[2], keys = t.shape[3];
    if (head.second >= t.shape[1]) break;
    AttentionRows rows;
    rows.ids = static_cast<uint32_t>(queries - given);
    rows.positions = static_cast<uint32_t>(std::min<uint64_t>(positions, keys));
    for (uint64_t q = given; q < queries; ++q) {
      const auto from = t.values.begin() + static_cast<ptrdiff_t>((head.second * queries + q) * keys);
      rows.weights.insert(rows.weights.end(), from, from + rows.positions);
    }
    return rows;
  }
  return fail(ErrorCode::invalid_data, "alignment_heads names head %u of layer %u, which the model does not have",
              head.second, head.first);
}

}  // namespace

namespace {

// The positions that times of ids lie in. Behind the end of what was heard the reference counts from the window's end.
uint32_t positions_of(const WindowSource& source, bool as_in_batches) {
  const int64_t all = source.features->rows;
  int64_t frames = std::min(source.heard, all);
  if (frames < 0) frames = as_in_batches ? std::max<int64_t>(all + frames, 0) : 0;
  return static_cast<uint32_t>(frames) / kFramesPerPosition;
}

}  // namespace

// The search is run again over the ids it found, all at once, for what the decoder looks at then is what it looked at
// step by step. The last id is not read by anybody any more: it has the time of the one before.
Result<std::vector<double>> WindowSearch::times_of(const WindowSource& source, const std::vector<int32_t>& ids) const {
  const SpeechSettings& settings = model_->speech();
  std::vector<double> times(ids.size(), 0.0);
  const uint32_t positions = positions_of(source, request_.fill_batches);
  if (ids.size() < 2 || positions == 0) return times;
  ForwardRequest request;
  request.features = {source.features};
  request.targets = {source.decoder_ids};
  request.targets[0].insert(request.targets[0].end(), ids.begin(), ids.end() - 1);
  request.want_logits = false;
  for (const auto& [layer, head] : settings.alignment_heads) request.cross_layers.push_back(layer);
  LAPILLI_TRY(const auto outputs, forward(model_, request));
  std::vector<AttentionRows> heads;
  for (const auto& head : settings.alignment_heads) {
    LAPILLI_TRY(heads.emplace_back(), rows_of(outputs, head, source.decoder_ids.size(), positions));
  }
  const auto first = first_positions(std::move(heads), settings.median_filter);
  for (size_t i = 0; i < times.size(); ++i) times[i] = first[std::min(i, first.size() - 1)] * kSecondsPerPosition;
  return times;
}

}  // namespace lapilli::speech
