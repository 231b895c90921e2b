#include "speech/window_search.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "search/encoded_source.hpp"
#include "speech/measures.hpp"

namespace lapilli::speech {

namespace {

constexpr double kSecondsPerPosition = 0.02;
constexpr uint32_t kFramesPerPosition = 2;

double mean(std::span<const float> values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Greedy search's own scores are the log-probabilities; other searches need every step's scores.
bool needs_steps(const GenerationConfig& merged, const WindowSearch::Wanted& wanted) {
  return wanted.average && (merged.num_beams.value_or(1) > 1 || wanted.temperature.value_or(0) > 0);
}

// The average of each id's log-probability in the step that chose it, found by the ids before it.
Result<double> average_of_steps(const GenerateOutput& out, size_t given, double temperature) {
  const auto& ids = out.hypotheses.front().front().ids;
  double sum = 0;
  for (size_t i = given; i < ids.size(); ++i) {
    const size_t step = i - given;
    if (step >= out.captured.size()) return fail(ErrorCode::internal, "step %u was not captured", step);
    const CapturedStep& c = out.captured[step];
    size_t row = 0;
    while (row < c.histories.size() &&
           !(c.histories[row].size() == i && std::equal(c.histories[row].begin(), c.histories[row].end(), ids.begin())))
      ++row;
    if (row == c.histories.size()) return fail(ErrorCode::internal, "a result came through no row of step %u", step);
    const auto scores = std::span(c.scores).subspan(row * c.vocabulary, c.vocabulary);
    sum += log_probability(scores, ids[i], temperature);
  }
  return sum / static_cast<double>(ids.size() - given);
}

}  // namespace

std::vector<int32_t> end_ids(const Model& model, const GenerationConfig& options) {
  return merge(options, model.generation_config()).eos_token_id.value_or(std::vector<int32_t>());
}

int32_t first_special(const Model& model, const GenerationConfig& options) {
  const auto ends = end_ids(model, options);
  return ends.empty() ? std::numeric_limits<int32_t>::max() : *std::min_element(ends.begin(), ends.end());
}

WindowSearch::WindowSearch(std::shared_ptr<Model> model, const TranscribeRequest& request)
    : model_(std::move(model)), request_(request) {}

void WindowSearch::begin(std::vector<WindowSource*> sources, const Wanted& wanted) {
  sources_ = std::move(sources);
  wanted_ = wanted;
  results_.clear();
  stats_ = {};
  timed_ = 0;
  // Steps are identified by their ids, so a window whose steps are read runs alone.
  first_beam_.clear();
  const GenerationConfig merged = merge(request_for(sources_).options, model_->generation_config());
  fills_beams_ =
      request_.fill_batches && request_.word_times && merged.num_beams.value_or(1) > 1 && sources_.size() > 1;
  steps_ = fills_beams_ || needs_steps(merged, wanted);
  part_ = steps_ ? 1 : sources_.size();
}

Result<bool> WindowSearch::poll(double budget_us) {
  if (results_.size() < sources_.size()) {
    if (!batch_) LAPILLI_CHECK(begin_part());
    if (!batch_->pump(budget_us)) return false;
    LAPILLI_CHECK(end_part());
    if (results_.size() < sources_.size()) return false;
  }
  return request_.word_times || request_.words ? poll_times() : Result<bool>(true);
}

Status WindowSearch::wait() {
  if (batch_) batch_->wait();
  return forward_ ? forward_->wait() : Status();
}

GenerateRequest WindowSearch::request_for(std::span<WindowSource* const> sources) const {
  GenerateRequest r;
  r.options = request_.options;
  r.options.return_timestamps = request_.timestamps;
  r.options.num_return_sequences = 1;
  if (wanted_.temperature) {
    r.options.do_sample = *wanted_.temperature > 0;
    r.options.temperature.reset();
    if (*wanted_.temperature > 0) {
      r.options.temperature = wanted_.temperature;
      r.options.num_beams = 1;
    }
  }
  r.exact_decoder_ids = r.deterministic = r.keep_order = true;
  r.keep_encoded = wanted_.keep_encoded;
  r.batch = request_.batch;
  r.steps_in_flight = request_.steps_in_flight;
  const uint32_t positions = model_->info().max_target_positions;
  for (const WindowSource* s : sources) {
    r.features.push_back(s->encoded ? nullptr : s->features);
    r.encoded.push_back(s->encoded);
    r.decoder_ids.push_back(s->decoder_ids);
    r.sequences.push_back(s->sequence);
    if (wanted_.no_speech) r.logits_at.push_back({s->start_at});
    // A long prefix leaves less room for new tokens.
    const auto given = static_cast<uint32_t>(s->decoder_ids.size());
    if (r.options.max_new_tokens && positions > given)
      r.options.max_new_tokens = std::min(*r.options.max_new_tokens, positions - given);
  }
  return r;
}

Status WindowSearch::begin_part() {
  GenerateRequest request = request_for(part());
  request.capture_scores = steps_;
  LAPILLI_TRY(auto checked, CheckedRequest::check(*model_, std::move(request)));
  batch_ = std::make_unique<Batch>(model_, std::move(checked));
  return {};
}

Status WindowSearch::end_part() {
  const auto batch = std::move(batch_);
  GenerateOutput& out = batch->output();
  add_stats(stats_, out.stats);
  const auto failed = [](const Status& error) { return !error.ok(); };
  if (!batch->status() && !std::all_of(out.errors.begin(), out.errors.end(), failed)) return batch->status();
  const auto sources = part();
  if (fills_beams_ && results_.empty())
    for (const CapturedStep& step : out.captured) first_beam_.push_back(step.histories.front());
  std::vector<WindowResult> results;
  for (size_t i = 0; i < sources.size(); ++i) {
    LAPILLI_TRY(results.emplace_back(), result_of(out, i));
    if (wanted_.keep_encoded && !sources[i]->encoded) sources[i]->encoded = out.encoded[i];
  }
  std::move(results.begin(), results.end(), std::back_inserter(results_));
  return {};
}

Result<WindowResult> WindowSearch::result_of(GenerateOutput& out, size_t number) {
  WindowResult r;
  r.status = std::move(out.errors[number]);
  if (!r.status) return r;
  const Hypothesis& h = out.hypotheses[number].front();
  const size_t given = part()[number]->decoder_ids.size();
  r.ids.assign(h.ids.begin() + static_cast<ptrdiff_t>(given), h.ids.end());
  r.scores = h.token_scores;
  if (wanted_.no_speech) {
    const int32_t silence = model_->speech().no_timestamps.value_or(1) - 1;
    r.no_speech = probability(out.logits[number].front(), silence);
  }
  if (steps_ && wanted_.average) {
    const double temperature = wanted_.temperature.value_or(0);
    LAPILLI_TRY(r.average, average_of_steps(out, given, temperature > 0 ? temperature : 1));
  } else if (wanted_.average) {
    r.average = mean(r.scores);
  }
  return r;
}

// ---- times ---------------------------------------------------------------------------------------------------------

namespace {

// Positions that ids may get times in. In batches, the reference counts from the window's end if nothing of it is
// heard.
uint32_t positions_of(const WindowSource& source, bool as_in_batches) {
  const int64_t all = source.features->rows;
  int64_t frames = std::min(source.timed_frames, all);
  if (frames < 0) frames = as_in_batches ? std::max<int64_t>(all + frames, 0) : 0;
  return static_cast<uint32_t>(frames) / kFramesPerPosition;
}

// A head's rows of these queries in one layer's attention, cut to the positions that count.
AttentionRows rows_of(const ForwardTensor& layer, uint64_t head, const std::vector<AttentionQueries>& wanted,
                      uint32_t positions) {
  const uint64_t heads = layer.shape[1], queries = layer.shape[2], keys = layer.shape[3];
  AttentionRows rows;
  rows.positions = static_cast<uint32_t>(std::min<uint64_t>(positions, keys));
  for (const AttentionQueries& w : wanted)
    for (uint64_t q = w.begin; q < w.end; ++q, ++rows.ids) {
      const auto from = layer.values.begin() + static_cast<ptrdiff_t>(((w.source * heads + head) * queries + q) * keys);
      rows.weights.insert(rows.weights.end(), from, from + rows.positions);
    }
  return rows;
}

// Queries after `given` ids of the first source, then the last query of each other source.
std::vector<AttentionQueries> queries_of(const ForwardRequest& request, size_t given) {
  std::vector<AttentionQueries> all{{0, given, request.targets.front().size()}};
  for (size_t i = 1; i < request.targets.size(); ++i)
    all.push_back({i, request.targets[i].size() - 1, request.targets[i].size()});
  return all;
}

// Takes the alignment heads' rows of one layer.
void take_heads(const ForwardTensor& layer, const SpeechSettings& settings, std::vector<AttentionRows>& heads,
                const std::function<AttentionRows(uint32_t head)>& rows) {
  const auto& wanted = settings.alignment_heads;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (layer.name == format("cross_attentions.%u", wanted[i].first) && wanted[i].second < layer.shape[1])
      heads[i] = rows(wanted[i].second);
}

Status check_heads(const std::vector<AttentionRows>& heads, const SpeechSettings& settings) {
  for (size_t i = 0; i < heads.size(); ++i)
    if (heads[i].ids == 0)
      return fail(ErrorCode::invalid_data, "alignment_heads names head %u of layer %u, which the model does not have",
                  settings.alignment_heads[i].second, settings.alignment_heads[i].first);
  return {};
}

}  // namespace

// Runs the decoder once over all found ids, which attend as they did step by step. The last id is not fed back, so it
// gets the time of the one before. None: all times are 0. In the reference's batches, rows that have ended are padded,
// or with beams attend with the first row's first beam.
std::optional<ForwardRequest> WindowSearch::times_request(size_t number) const {
  const WindowSource& source = *sources_[number];
  std::vector<int32_t> ids = results_[number].ids;
  size_t longest = ids.size();
  if (request_.fill_batches)
    for (const WindowResult& r : results_) longest = std::max(longest, r.ids.size());
  if (!results_[number].status || longest < 2 || positions_of(source, request_.fill_batches) == 0) return std::nullopt;
  if (!fills_beams_) ids.resize(longest, model_->generation_config().pad_token_id.value_or(0));
  ForwardRequest request;
  request.features = {source.features};
  request.targets = {source.decoder_ids};
  request.targets[0].insert(request.targets[0].end(), ids.begin(), ids.end() - 1);
  for (size_t step = ids.size(); step < std::min(longest, first_beam_.size()); ++step) {
    request.features.push_back(sources_.front()->features);
    request.targets.push_back(first_beam_[step]);
  }
  request.want_logits = request_.words;
  for (const auto& [layer, head] : model_->speech().alignment_heads) request.cross_layers.push_back(layer);
  return request;
}

// Each id's probability, in the row of the id before it.
std::vector<float> WindowSearch::probabilities_of(const ForwardTensor& logits) const {
  const auto& ids = results_[timed_].ids;
  const size_t given = sources_[timed_]->decoder_ids.size(), width = logits.shape.back();
  const size_t text = std::min<size_t>(width, first_special(*model_, request_.options));
  std::vector<float> probabilities;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto row = std::span(logits.values).subspan((given - 1 + i) * width, text);
    const auto id = static_cast<size_t>(ids[i]);
    probabilities.push_back(id < text ? static_cast<float>(probability(row, ids[i])) : 0.0f);
  }
  return probabilities;
}

// Reads the pass's outputs one by one, dropping each.
Status WindowSearch::end_times() {
  const auto job = std::move(forward_);
  const SpeechSettings& settings = model_->speech();
  const WindowSource& source = *sources_[timed_];
  const uint32_t positions = positions_of(source, request_.fill_batches);
  std::vector<AttentionRows> heads(settings.alignment_heads.size());
  LAPILLI_CHECK(job->take([&](const ForwardTensor& t) -> Status {
    if (t.name == "logits") results_[timed_].probabilities = probabilities_of(t);
    take_heads(t, settings, heads, [&](uint32_t head) { return rows_of(t, head, queries_, positions); });
    return {};
  }));
  LAPILLI_CHECK(check_heads(heads, settings));
  if (request_.attention) results_[timed_].attention = mean_of(heads);
  const auto first = first_positions(std::move(heads), settings.median_filter);
  auto& times = results_[timed_].times;
  for (size_t i = 0; i < times.size(); ++i) times[i] = first[std::min(i, first.size() - 1)] * kSecondsPerPosition;
  return {};
}

Result<bool> WindowSearch::poll_times() {
  for (; timed_ < results_.size(); ++timed_) {
    if (!forward_) {
      results_[timed_].times.assign(results_[timed_].ids.size(), 0.0);
      results_[timed_].probabilities.assign(results_[timed_].ids.size(), 0.0f);
      auto request = times_request(timed_);
      if (!request) continue;
      queries_ = queries_of(*request, sources_[timed_]->decoder_ids.size());
      LAPILLI_TRY(forward_, ForwardRun::start(model_, std::move(*request)));
    }
    LAPILLI_TRY(const bool done, forward_->poll());
    if (!done) return false;
    LAPILLI_CHECK(end_times());
  }
  return true;
}

}  // namespace lapilli::speech
