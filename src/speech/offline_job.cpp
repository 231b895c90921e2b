#include "speech/offline_job.hpp"

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

OfflineJob::OfflineJob(std::shared_ptr<Model> model, std::shared_ptr<OfflineRecordings> reader, OfflineRequest request)
    : model_(std::move(model)),
      info_(model_->info()),
      reader_(std::move(reader)),
      rate_(reader_->limits().config().sampling_rate),
      request_(std::move(request)),
      over_(request_.recordings.size()) {
  out_.transcripts.resize(request_.recordings.size());
  request_.options = with_length(std::move(request_.options), *model_);
}

Result<std::unique_ptr<OfflineJob>> OfflineJob::start(std::shared_ptr<Model> model,
                                                      std::shared_ptr<OfflineRecordings> reader,
                                                      OfflineRequest request) {
  LAPILLI_CHECK(resolve_options(model->generation_config(), request.options, model->on_device().config()));
  return std::unique_ptr<OfflineJob>(new OfflineJob(std::move(model), std::move(reader), std::move(request)));
}

// ---- one step after the other --------------------------------------------------------------------------------------

bool OfflineJob::pump(double budget_us) {
  if (phase_ == Phase::ended) return true;
  if (cancelled_) {
    out_.cancelled = true;
    end({});
  } else if (!model_->device()->is_paused()) {
    if (auto s = step(budget_us); !s) stop(std::move(s));
  }
  return phase_ == Phase::ended;
}

void OfflineJob::rest() {
  if (phase_ == Phase::ended) return;
  if (model_->device()->is_paused()) {
    (void)model_->device()->wait_while_paused(vulkan::kPauseRound);
    return;
  }
  if (batch_) return batch_->rest();
  if (!begun_) return;
  if (auto s = reader_->rest(); !s) stop(std::move(s));
}

Status OfflineJob::step(double budget_us) {
  if (phase_ == Phase::choose) LAPILLI_CHECK(choose());
  if (phase_ == Phase::read) LAPILLI_CHECK(read());
  return phase_ == Phase::search ? search(budget_us) : Status();
}

uint64_t OfflineJob::done() const { return static_cast<uint64_t>(std::count(over_.begin(), over_.end(), true)); }

// Starts a round with complete recordings.
Status OfflineJob::choose() {
  round_.clear();
  sources_.clear();
  for (size_t i = 0; i < over_.size() && round_.size() < kAtATime; ++i)
    if (!over_[i] && request_.recordings[i].samples) round_.push_back(i);
  hungry_ = round_.empty() && done() < total();
  if (done() == total())
    end({});
  else if (!hungry_)
    phase_ = Phase::read;
  return {};
}

Status OfflineJob::read() {
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
Status OfflineJob::set_aside(size_t recording, Status status) {
  if (!concerns_one(status.error())) return status;
  over_[recording] = true;
  out_.transcripts[recording].status = std::move(status);
  if (request_.on_end) request_.on_end(recording, out_.transcripts[recording].status);
  std::erase(round_, recording);
  return {};
}

Status OfflineJob::begin_search() {
  GenerateRequest search;
  search.features = sources_;
  search.options = request_.options;
  search.deterministic = true;
  search.batch = request_.batch;
  search.steps_in_flight = request_.steps_in_flight;
  LAPILLI_TRY(auto checked, CheckedRequest::check(*model_, std::move(search)));
  batch_ = std::make_unique<BatchJob>(model_, std::move(checked));
  phase_ = Phase::search;
  return {};
}

Status OfflineJob::search(double budget_us) {
  if (!batch_->pump(budget_us)) return {};
  const auto batch = std::move(batch_);
  GenerateOutput& out = batch->output();
  const auto failed = [](const Status& error) { return !error.ok(); };
  if (!batch->status() && !std::all_of(out.errors.begin(), out.errors.end(), failed)) return batch->status();
  add_stats(out_.stats, out.stats);
  phase_ = Phase::choose;
  return take_results(out);
}

Status OfflineJob::take_results(GenerateOutput& out) {
  const auto round = round_;
  for (size_t k = 0; k < round.size(); ++k)
    LAPILLI_CHECK(out.errors[k] ? deliver(round[k], out.hypotheses[k].front())
                                : set_aside(round[k], std::move(out.errors[k])));
  return {};
}

Result<Segment> OfflineJob::segment_of(size_t recording, const Hypothesis& said) const {
  Segment s;
  s.recording = recording;
  s.end = static_cast<double>(*request_.recordings[recording].samples) / rate_;
  s.ids.assign(said.ids.begin() + std::min<ptrdiff_t>(1, static_cast<ptrdiff_t>(said.ids.size())), said.ids.end());
  s.token_scores = said.token_scores;
  if (said.finish != Finish::length && !s.ids.empty()) s.ids.pop_back();
  if (s.token_scores.size() > s.ids.size()) s.token_scores.resize(s.ids.size());
  if (const Tokenizer* tokenizer = model_->tokenizer()) {
    LAPILLI_TRY(s.text, tokenizer->decode(s.ids));
  }
  return s;
}

Status OfflineJob::deliver(size_t recording, const Hypothesis& said) {
  LAPILLI_TRY(auto segment, segment_of(recording, said));
  over_[recording] = true;
  out_.transcripts[recording].cut = said.finish == Finish::length;
  if (request_.on_segment) LAPILLI_CHECK(request_.on_segment(segment));
  out_.transcripts[recording].segments.push_back(std::move(segment));
  if (request_.on_end) request_.on_end(recording, {});
  return {};
}

// ---- the end, and after a lost device ------------------------------------------------------------------------------

void OfflineJob::let_go() {
  phase_ = Phase::ended;
  hungry_ = begun_ = false;
  batch_.reset();
  sources_.clear();
  reader_.reset();
  model_.reset();
}

void OfflineJob::stop(Status status) {
  if (status.error().code != ErrorCode::device_lost) return end(std::move(status));
  interrupted_ = true;
  status_ = std::move(status);
  let_go();
}

void OfflineJob::end(Status status) {
  status_ = std::move(status);
  let_go();
  request_.recordings.clear();
}

Status OfflineJob::resume(std::shared_ptr<Model> model, std::shared_ptr<OfflineRecordings> reader) {
  if (!interrupted_) return fail(ErrorCode::invalid_argument, "the job has not ended because of a lost device");
  LAPILLI_CHECK(check_same_model(model->info(), info_));
  model_ = std::move(model);
  reader_ = std::move(reader);
  status_ = {};
  interrupted_ = false;
  phase_ = Phase::choose;
  return {};
}

Status OfflineJob::abandon() {
  if (!interrupted_) return fail(ErrorCode::invalid_argument, "the job has not ended because of a lost device");
  interrupted_ = false;
  out_.cancelled = true;
  end({});
  return {};
}

}  // namespace lapilli::speech
