#include "speech/offline_task.hpp"

#include <algorithm>
#include <utility>

#include "search/network_on_device.hpp"
#include "search/search_options.hpp"

namespace lapilli::speech {

namespace {

// Recordings searched together: enough to keep a device busy, few enough to hold their features.
constexpr size_t kAtATime = 8;

// Without a limit, the text may be as long as the decoder has positions.
GenerationConfig with_length(GenerationConfig options, const Model& model) {
  const auto merged = merge(options, model.generation_config());
  if (!merged.max_length && !merged.max_new_tokens && model.info().max_target_positions != 0)
    options.max_length = model.info().max_target_positions;
  return options;
}

}  // namespace

OfflineTask::OfflineTask(std::shared_ptr<Model> model, std::shared_ptr<OfflineRecordings> reader,
                         OfflineRequest request)
    : SpeechTask(std::move(model), request.recordings.size()),
      reader_(std::move(reader)),
      rate_(reader_->limits().config().sampling_rate),
      request_(std::move(request)),
      over_(request_.recordings.size()) {
  request_.options = with_length(std::move(request_.options), *this->model());
}

Result<std::unique_ptr<OfflineTask>> OfflineTask::start(std::shared_ptr<Model> model,
                                                        std::shared_ptr<OfflineRecordings> reader,
                                                        OfflineRequest request) {
  LAPILLI_CHECK(resolve_options(model->generation_config(), request.options, model->on_device().config()));
  return std::unique_ptr<OfflineTask>(new OfflineTask(std::move(model), std::move(reader), std::move(request)));
}

// ---- one step after the other --------------------------------------------------------------------------------------

Status OfflineTask::wait_for_device() {
  if (batch_) batch_->wait();
  return begun_ ? reader_->wait() : Status();
}

Status OfflineTask::step(double budget_us) {
  if (phase_ == Phase::choose) LAPILLI_CHECK(choose());
  if (phase_ == Phase::read) LAPILLI_CHECK(read());
  return phase_ == Phase::search ? search(budget_us) : Status();
}

uint64_t OfflineTask::done() const { return static_cast<uint64_t>(std::count(over_.begin(), over_.end(), true)); }

// Starts a round with complete recordings.
Status OfflineTask::choose() {
  round_.clear();
  sources_.clear();
  for (size_t i = 0; i < over_.size() && round_.size() < kAtATime; ++i)
    if (!over_[i] && request_.recordings[i].samples) round_.push_back(i);
  if (done() == over_.size()) return end();
  set_hungry(round_.empty());
  if (!round_.empty()) phase_ = Phase::read;
  return {};
}

Status OfflineTask::read() {
  while (sources_.size() < round_.size()) {
    const size_t i = round_[sources_.size()];
    const OfflineSound& from = request_.recordings[i];
    Result<bool> done = false;
    if (auto s = begun_ ? Status() : reader_->begin({from.source.get(), *from.samples}); !s)
      done = std::move(s).error();
    else
      done = reader_->poll();
    begun_ = done && !*done;
    if (begun_) return {};
    if (done)
      sources_.push_back(reader_->features());
    else
      LAPILLI_CHECK(set_aside(i, std::move(done).error()));
  }
  phase_ = Phase::choose;
  return round_.empty() ? Status() : begin_search();
}

// Ends the recording that the error concerns; others go on.
Status OfflineTask::set_aside(size_t recording, Status status) {
  if (!concerns_one(status.error())) return status;
  over_[recording] = true;
  results().transcripts[recording].status = std::move(status);
  if (request_.on_end) request_.on_end(recording, results().transcripts[recording].status);
  std::erase(round_, recording);
  return {};
}

Status OfflineTask::begin_search() {
  GenerateRequest search;
  search.features = sources_;
  search.options = request_.options;
  search.deterministic = true;
  search.batch = request_.batch;
  search.steps_in_flight = request_.steps_in_flight;
  LAPILLI_TRY(auto checked, CheckedRequest::check(*model(), std::move(search)));
  batch_ = std::make_unique<Batch>(model(), std::move(checked));
  phase_ = Phase::search;
  return {};
}

Status OfflineTask::search(double budget_us) {
  if (!batch_->pump(budget_us)) return {};
  const auto batch = std::move(batch_);
  GenerateOutput& out = batch->output();
  const auto failed = [](const Status& error) { return !error.ok(); };
  if (!batch->status() && !std::all_of(out.errors.begin(), out.errors.end(), failed)) return batch->status();
  add_stats(results().stats, out.stats);
  phase_ = Phase::choose;
  return take_results(out);
}

Status OfflineTask::take_results(GenerateOutput& out) {
  const auto round = round_;
  for (size_t k = 0; k < round.size(); ++k)
    LAPILLI_CHECK(out.errors[k] ? deliver(round[k], out.hypotheses[k].front())
                                : set_aside(round[k], std::move(out.errors[k])));
  return {};
}

Result<Segment> OfflineTask::segment_of(size_t recording, const Hypothesis& hypothesis) const {
  Segment s;
  s.recording = recording;
  s.end = static_cast<double>(*request_.recordings[recording].samples) / rate_;
  s.ids.assign(hypothesis.ids.begin() + std::min<ptrdiff_t>(1, static_cast<ptrdiff_t>(hypothesis.ids.size())),
               hypothesis.ids.end());
  s.token_scores = hypothesis.token_scores;
  if (hypothesis.finish != Finish::length && !s.ids.empty()) s.ids.pop_back();
  if (s.token_scores.size() > s.ids.size()) s.token_scores.resize(s.ids.size());
  if (const Tokenizer* tokenizer = model()->tokenizer()) {
    LAPILLI_TRY(s.text, tokenizer->decode(s.ids));
  }
  return s;
}

Status OfflineTask::deliver(size_t recording, const Hypothesis& hypothesis) {
  LAPILLI_TRY(auto segment, segment_of(recording, hypothesis));
  over_[recording] = true;
  results().transcripts[recording].cut = hypothesis.finish == Finish::length;
  LAPILLI_CHECK(give(std::move(segment), request_.on_segment));
  if (request_.on_end) request_.on_end(recording, {});
  return {};
}

// ---- the end, and after a lost device ------------------------------------------------------------------------------

void OfflineTask::release() {
  phase_ = Phase::choose;
  begun_ = false;
  batch_.reset();
  sources_.clear();
  reader_.reset();
}

Status OfflineTask::begin_again(const FrontEnd& front) {
  LAPILLI_TRY(auto sound, sound_of(front));
  LAPILLI_TRY(reader_, OfflineRecordings::create(model(), std::move(sound)));
  return {};
}

}  // namespace lapilli::speech
