#include "generate/picture_task.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "search/network_on_device.hpp"
#include "search/search_options.hpp"

namespace lapilli {

namespace {

// Limit on pictures that are held and described together.
constexpr size_t kAtATime = 64;

}  // namespace

PictureTask::PictureTask(std::shared_ptr<const PictureReader> reader, PictureTaskRequest request)
    : Task(reader->model()),
      reader_(std::move(reader)),
      request_(std::move(request)),
      over_(request_.pictures),
      results_(request_.pictures) {
  for (PictureResult& r : results_) r.status = fail(ErrorCode::cancelled, "cancelled before it was finished");
}

Result<std::unique_ptr<PictureTask>> PictureTask::start(std::shared_ptr<const PictureReader> reader,
                                                        PictureTaskRequest request) {
  std::unique_ptr<PictureTask> job(new PictureTask(std::move(reader), std::move(request)));
  LAPILLI_CHECK(job->read_options());
  return job;
}

Status PictureTask::read_options() {
  const Model& model = *reader_->model();
  if (reader_->classifies()) return {};
  const PictureOptions& options = request_.options;
  LAPILLI_CHECK(resolve_options(model.generation_config(), options.generation, model.on_device().config()));
  if (options.prompt.empty()) return {};
  if (!model.tokenizer()) return model.tokenizer_error();
  EncodeOptions bare;
  bare.side = TextSide::target;
  bare.add_special = false;
  LAPILLI_TRY(prompt_, model.tokenizer()->encode(options.prompt, bare));
  return {};
}

// ---- one step after the other --------------------------------------------------------------------------------------

Status PictureTask::wait_for_device() {
  if (phase_ == Phase::classify) return pass_->wait();
  if (phase_ == Phase::write) batch_->wait();
  return {};
}

Status PictureTask::step(double budget_us) {
  if (phase_ == Phase::prepare) LAPILLI_CHECK(prepare(budget_us));
  if (phase_ == Phase::write) return write(budget_us);
  return phase_ == Phase::classify ? classify() : Status();
}

size_t PictureTask::at_a_time() const {
  constexpr size_t kClassified = 8;
  const uint32_t batch = request_.options.batch;
  if (!reader_->classifies()) return kAtATime;
  return batch == 0 ? kClassified : std::min<size_t>(batch, kAtATime);
}

Status PictureTask::prepare(double budget_us) {
  const auto since = Clock::now();
  const size_t most = at_a_time();
  while (next_ < request_.pictures && round_.size() < most) {
    prepare_one();
    if (next_ < request_.pictures && round_.size() < most && ms_since(since) * 1000 >= budget_us) return {};
  }
  return round_.empty() ? end() : begin();
}

void PictureTask::prepare_one() {
  const size_t picture = next_++;
  if (over_[picture]) return;
  auto source = request_.source(*reader_, picture);
  if (!source) {
    PictureResult failed;
    failed.status = std::move(source).error();
    return finish(picture, std::move(failed));
  }
  round_.push_back(picture);
  sources_.push_back(std::move(*source));
}

void PictureTask::finish(size_t picture, PictureResult result) {
  ++done_;
  over_[picture] = true;
  tokens_ += result.ids.size();
  results_[picture] = std::move(result);
  if (request_.on_result) request_.on_result(picture, results_[picture]);
}

Status PictureTask::begin() { return reader_->classifies() ? begin_classifying() : begin_writing(); }

// ---- in words ------------------------------------------------------------------------------------------------------

Status PictureTask::begin_writing() {
  GenerateRequest request;
  request.features = std::move(sources_);
  request.options = request_.options.generation;
  request.batch = request_.options.batch;
  request.steps_in_flight = request_.options.steps_in_flight;
  request.deterministic = request_.options.deterministic;
  if (!prompt_.empty()) {
    request.decoder_ids.assign(round_.size(), prompt_);
    request.exact_decoder_ids = reader_->writes_fields();
  }
  LAPILLI_TRY(auto checked, CheckedRequest::check(*reader_->model(), std::move(request)));
  batch_ = std::make_unique<Batch>(reader_->model(), std::move(checked));
  phase_ = Phase::write;
  return {};
}

Status PictureTask::write(double budget_us) {
  if (!batch_->pump(budget_us)) return {};
  const auto batch = std::move(batch_);
  GenerateOutput& out = batch->output();
  const auto failed = [](const Status& error) { return !error.ok(); };
  if (!batch->status() && !std::all_of(out.errors.begin(), out.errors.end(), failed)) return batch->status();
  for (Status& error : out.errors)
    if (!error && !concerns_one(error.error())) return std::move(error);
  add_stats(stats_, out.stats);
  for (size_t k = 0; k < round_.size(); ++k) finish(round_[k], result_of(out, k));
  round_.clear();
  sources_.clear();
  phase_ = Phase::prepare;
  return {};
}

PictureResult PictureTask::result_of(GenerateOutput& out, size_t row) const {
  PictureResult r;
  r.status = std::move(out.errors[row]);
  if (!r.status || out.hypotheses[row].empty()) return r;
  Hypothesis& best = out.hypotheses[row].front();
  auto text = reader_->text_of(best.ids);
  if (!text) {
    r.status = std::move(text).error();
    return r;
  }
  r.text = std::move(*text);
  r.score = best.score;
  r.finish = best.finish;
  r.start = best.ids.empty() ? 0 : best.ids.front();
  r.ids.assign(best.ids.begin() + (best.ids.empty() ? 0 : 1), best.ids.end());
  r.token_scores = std::move(best.token_scores);
  return r;
}

// ---- in classes ----------------------------------------------------------------------------------------------------

Status PictureTask::begin_classifying() {
  ForwardRequest request;
  request.features = sources_;
  if (!pass_ || round_.size() > pass_sources_) {
    pass_.reset();
    pass_sources_ = round_.size();
    LAPILLI_TRY(pass_, ForwardRun::start(reader_->model(), std::move(request)));
  } else {
    request.features.resize(pass_sources_, sources_.back());
    LAPILLI_CHECK(pass_->again(std::move(request)));
  }
  phase_ = Phase::classify;
  return {};
}

Status PictureTask::classify() {
  LAPILLI_TRY(const bool done, pass_->poll());
  if (!done) return {};
  LAPILLI_CHECK(pass_->take([this](const ForwardTensor& f) -> Status {
    if (f.name != "logits") return {};
    const size_t classes = f.shape[1];
    for (size_t k = 0; k < round_.size(); ++k) {
      PictureResult r;
      const auto scores = std::span(f.values).subspan(k * classes, classes);
      r.classes = best_classes(scores, request_.options.top, reader_->settings().labels);
      finish(round_[k], std::move(r));
    }
    return {};
  }));
  stats_.searches += 1;
  round_.clear();
  sources_.clear();
  phase_ = Phase::prepare;
  return {};
}

// ---- the end, and after a lost device ------------------------------------------------------------------------------

// Pictures that were being processed are prepared again after a lost device.
void PictureTask::release() {
  phase_ = Phase::prepare;
  if (!round_.empty()) next_ = round_.front();
  batch_.reset();
  pass_.reset();
  round_.clear();
  sources_.clear();
  reader_.reset();
}

Status PictureTask::begin_again(const FrontEnd& front) {
  if (!front.pictures)
    return fail(ErrorCode::invalid_argument, "the job cannot go on with this model, which reads no pictures");
  reader_ = std::make_shared<const PictureReader>(model(), *front.pictures);
  return {};
}

}  // namespace lapilli
