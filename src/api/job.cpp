#include "api/job.hpp"

#include <utility>

#include "base/log.hpp"
#include "runtime/check/self_test.hpp"

#if !defined(_WIN32)
#include <sys/resource.h>
#endif

namespace lapilli::api {

namespace {

// Peak resident memory of the process in bytes; 0 where the system has no simple call.
uint64_t host_bytes_peak() {
#if defined(_WIN32)
  return 0;
#else
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
  return static_cast<uint64_t>(usage.ru_maxrss);
#else
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
#endif
#endif
}

// `model`: null if its device was lost.
lapilli_stats collect_stats(const lapilli::Model* model, double load_ms, const WorkOutput& output) {
  const lapilli::TranslateStats& from = output.text.stats;
  const auto counters = model ? model->device()->counters() : vulkan::DeviceCounters();
  lapilli_stats to{};
  to.batches = from.batches;
  to.load_ms = load_ms;
  to.encode_ms = from.encode_ms;
  to.decode_ms = from.decode_ms;
  to.total_ms = from.total_ms;
  to.source_tokens = from.source_tokens;
  to.generated_tokens = from.generated_tokens;
  to.decoder_steps = from.decoder_steps;
  to.submissions = from.submissions;
  to.pipelines = counters.pipelines_created;
  to.device_bytes_peak = counters.device_bytes_peak;
  to.host_bytes_peak = host_bytes_peak();
  to.self_test_cases = model ? SelfTest::of(*model->device())->cases() : 0;
  to.pipeline_cache_bytes = counters.cache_bytes;
  to.read_ms = output.read_ms;
  to.tuned_nodes = from.tuned_nodes;
  to.prompt_rows = from.prompt_rows;
  to.saved_prompt_rows = from.saved_prompt_rows;
  return to;
}

}  // namespace

// ---- events -------------------------------------------------------------------------------------------------------

static_assert(sizeof(lapilli_event::of) == sizeof(lapilli_event::of.size), "no kind of event is larger");

// Drops queued progress before another event; it is reported again after that event, unless that is the end.
void EventQueue::drop_progress() {
  if (waiting_.empty() || waiting_.back().event.kind != LAPILLI_EVENT_PROGRESS) return;
  waiting_.pop_back();
  progress_ = {};
}

EventQueue::Waiting& EventQueue::add(int32_t kind) {
  Waiting& added = waiting_.emplace_back();
  added.event.struct_size = sizeof(lapilli_event);
  added.event.kind = kind;
  return added;
}

void EventQueue::add_text(size_t input, std::string_view text, std::span<const int32_t> ids) {
  drop_progress();
  const bool joins = !waiting_.empty() && waiting_.back().event.kind == LAPILLI_EVENT_TEXT &&
                     waiting_.back().event.of.text.input == input;
  Waiting& to = joins ? waiting_.back() : add(LAPILLI_EVENT_TEXT);
  to.event.of.text.input = input;
  to.text += text;
  to.ids.insert(to.ids.end(), ids.begin(), ids.end());
}

void EventQueue::add_segment(size_t input, size_t number, const TranscriptSegment& segment) {
  drop_progress();
  drop_interim(input);
  Waiting& added = add(LAPILLI_EVENT_SEGMENT);
  added.event.of.segment.input = input;
  added.event.of.segment.segment = number;
  added.segments = {segment};
}

// Drops a queued interim result that is void or replaced.
void EventQueue::drop_interim(size_t input) {
  std::erase_if(waiting_, [&](const Waiting& w) {
    return w.event.kind == LAPILLI_EVENT_INTERIM && w.event.of.interim.input == input;
  });
}

void EventQueue::add_interim(size_t input, std::vector<TranscriptSegment> segments) {
  drop_progress();
  drop_interim(input);
  Waiting& added = add(LAPILLI_EVENT_INTERIM);
  added.event.of.interim.input = input;
  added.event.of.interim.segments = segments.size();
  added.segments = std::move(segments);
}

void EventQueue::add_progress(const lapilli_event_progress& progress) {
  const auto& last = progress_;
  if (progress.done == last.done && progress.total == last.total && progress.tokens == last.tokens) return;
  drop_progress();
  add(LAPILLI_EVENT_PROGRESS).event.of.progress = progress;
  progress_ = progress;
}

namespace {

lapilli_status code_of(const Status& status) {
  return status ? LAPILLI_OK : static_cast<lapilli_status>(status.error().code);
}

std::string message_of(const Status& status) { return status ? "" : status.error().message; }

void show(const TranscriptSegment& from, lapilli_event_segment& to) {
  const lapilli_segment s = c_segment(from);
  to.begin = s.begin;
  to.end = s.end;
  to.text = s.text;
  to.text_bytes = s.text_bytes;
  to.ids = s.ids;
  to.language = s.language;
  to.words = s.words;
  to.log_probability = s.log_probability;
  to.no_speech_probability = s.no_speech_probability;
}

}  // namespace

void EventQueue::add_input(size_t input, const Status& status) {
  drop_progress();
  drop_interim(input);
  Waiting& added = add(LAPILLI_EVENT_INPUT);
  added.event.of.input.input = input;
  added.event.of.input.status = code_of(status);
  added.text = message_of(status);
}

void EventQueue::add_end(const Status& status) {
  if (!status) {
    Waiting& added = add(LAPILLI_EVENT_ERROR);
    added.event.of.error.status = code_of(status);
    added.text = message_of(status);
  }
  add(LAPILLI_EVENT_END).event.of.end.status = code_of(status);
}

void EventQueue::take_back_end() {
  const auto is_end = [](int32_t kind) { return kind == LAPILLI_EVENT_ERROR || kind == LAPILLI_EVENT_END; };
  while (!waiting_.empty() && is_end(waiting_.back().event.kind)) waiting_.pop_back();
}

bool EventQueue::next(lapilli_event& out) {
  if (waiting_.empty()) return false;
  last_ = std::move(waiting_.front());
  waiting_.pop_front();
  auto& of = last_.event.of;
  switch (last_.event.kind) {
    case LAPILLI_EVENT_TEXT:
      of.text.text = last_.text.c_str();
      of.text.text_bytes = last_.text.size();
      of.text.ids = {last_.ids.data(), last_.ids.size()};
      break;
    case LAPILLI_EVENT_SEGMENT: show(last_.segments.front(), of.segment); break;
    case LAPILLI_EVENT_INPUT: of.input.message = last_.text.c_str(); break;
    case LAPILLI_EVENT_ERROR: of.error.message = last_.text.c_str(); break;
    default: break;
  }
  out = last_.event;
  return true;
}

// ---- jobs ---------------------------------------------------------------------------------------------------------

namespace {

// A job reports by events only; callbacks as well would be redundant.
Status refuse_functions(const char* function, const lapilli_options& given) {
  if (!given.progress && !given.stream) return {};
  return fail(ErrorCode::invalid_argument,
              "%s: a job calls no functions; leave lapilli_options.%s null and ask for events", function,
              given.stream ? "stream" : "progress");
}

}  // namespace

Status Job::read(const Call& call, WorkRequest& request) {
  if (!call.model) return fail(ErrorCode::invalid_argument, "%s: model is null", call.function);
  LAPILLI_TRY(request.inputs, read_inputs(call.function, call.inputs, call.count));
  request.function = call.function;
  LAPILLI_TRY(request.options, CallOptions::read(call.options));
  copy_texts(request.inputs);
  progress_ = progress_of(request.options.general);
  auto held = call.model->place->held();
  LAPILLI_CHECK(check_running(*held.model->device(), call.function));
  use(*call.model, std::move(held));
  request.model = held_.model;
  request.front = front_;
  return {};
}

// Shares what it needs: the model's handle may be freed while this runs.
void Job::use(const lapilli_model& model, ReplaceableModel::Held held) {
  if (!list_) list_ = model.jobs;
  place_ = model.place;
  held_ = std::move(held);
  log_ = held_.model->device()->log_sink();
  load_ms_ = model.load_ms;
  front_ = model.front;
  cancellations_ = model.cancellations;
  cancellations_before_ = cancellations_->load();
}

// Results refer to them.
void Job::copy_texts(std::vector<Input>& inputs) {
  texts_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].text = texts_[i] = inputs[i].text;
}

Result<std::unique_ptr<Job>> Job::start(const Call& call) {
  auto job = std::make_unique<Job>();
  WorkRequest request;
  LAPILLI_CHECK(job->read(call, request));
  for (size_t i = 0; i < request.inputs.size(); ++i)
    if (request.inputs[i].more_samples)
      return fail(ErrorCode::invalid_argument,
                  "%s: input %u continues, and only a job can wait for its samples: lapilli_job_start", call.function,
                  i);
  if (request.options.general.keep_attention != 0 && job->front_->sound)
    return fail(ErrorCode::invalid_argument,
                "%s: lapilli_options.keep_attention: only a job draws the attention of recordings: lapilli_job_start",
                call.function);
  const LogScope log(job->log_);
  request.sinks.text = stream_of(request.options.general);
  LAPILLI_TRY(job->work_, start_work(std::move(request)));
  return job;
}

Result<std::unique_ptr<Job>> Job::start_with_events(const Call& call) {
  auto job = std::make_unique<Job>();
  WorkRequest request;
  LAPILLI_CHECK(job->read(call, request));
  const LogScope log(job->log_);
  LAPILLI_CHECK(refuse_functions(call.function, request.options.general));
  for (Input& input : request.inputs) job->copies_.keep(input);
  job->make_events(request);
  LAPILLI_TRY(job->work_, start_work(std::move(request)));
  return job;
}

Result<std::unique_ptr<Job>> Job::prepare(const char* function, lapilli_model* model, const lapilli_shape* shape) {
  lapilli_shape given = lapilli_default_shape();
  LAPILLI_CHECK(read_struct(shape, given, "lapilli_shape"));
  auto job = std::make_unique<Job>();
  WorkRequest request;
  LAPILLI_CHECK(job->read({function, model, nullptr, 0, given.options}, request));
  const LogScope log(job->log_);
  LAPILLI_CHECK(refuse_functions(function, request.options.general));
  job->make_events(request);
  const JobShape wanted{given.inputs, given.source_tokens, given.target_tokens};
  LAPILLI_TRY(job->work_, prepare_work(std::move(request), wanted));
  return job;
}

void Job::make_events(WorkRequest& request) {
  has_events_ = true;
  request.sinks.text = [this](size_t input, std::string_view text, std::span<const int32_t> ids) {
    events_.add_text(input, text, ids);
    return true;
  };
  request.sinks.segment = [this](size_t input, size_t number, const TranscriptSegment& segment) {
    events_.add_segment(input, number, segment);
  };
  request.sinks.input_ended = [this](size_t input, const Status& status) { events_.add_input(input, status); };
  request.sinks.interim = [this](size_t input, std::vector<TranscriptSegment> segments) {
    events_.add_interim(input, std::move(segments));
  };
}

Result<const std::string*> Job::draw_attention(const lapilli_attention_drawing* how) {
  const auto segments = last_segments(LAPILLI_EVENT_SEGMENT);
  if (segments.empty()) return fail(ErrorCode::invalid_argument, "the last event is no LAPILLI_EVENT_SEGMENT");
  LAPILLI_TRY(drawing_, draw_segment(how, segments.front().segment));
  return &drawing_;
}

// ---- appended samples ----------------------------------------------------------------------------------------------

Status Job::check_takes_samples(const char* function) const {
  if (work_) return {};
  return fail(ErrorCode::invalid_argument, "%s: the job has ended%s%s", function, status_ ? "" : ": ",
              status_ ? "" : status_.error().message.c_str());
}

Status Job::append(const char* function, size_t input, std::span<const float> samples) {
  std::unique_lock lock(mutex_);
  LAPILLI_CHECK(check_takes_samples(function));
  const LogScope log(log_);
  if (auto s = work_->append(input, samples); !s) return std::move(s).error().in(function);
  lock.unlock();
  list_->wake();
  return {};
}

Status Job::end_recording(const char* function, size_t input) {
  std::unique_lock lock(mutex_);
  LAPILLI_CHECK(check_takes_samples(function));
  const LogScope log(log_);
  if (auto s = work_->end_recording(input); !s) return std::move(s).error().in(function);
  lock.unlock();
  list_->wake();
  return {};
}

bool Job::is_hungry() const {
  const std::lock_guard lock(mutex_);
  return is_hungry_locked();
}

bool Job::is_hungry_locked() const { return !ended_ && held_.model && work_->task().is_hungry(); }

// ---- progress -----------------------------------------------------------------------------------------------------

bool Job::pump(double budget_us) {
  const std::lock_guard lock(mutex_);
  return pump_locked(budget_us);
}

Job::Pumped Job::try_pump(double budget_us) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return Pumped::at_work;
  if (pump_locked(budget_us)) return Pumped::ended;
  const bool paused = held_.model && held_.model->device()->is_paused();
  return paused || is_hungry_locked() ? Pumped::idle : Pumped::at_work;
}

bool Job::pump_locked(double budget_us) {
  if (ended_) return true;
  const LogScope log(log_);
  try {
    step(budget_us);
  } catch (...) {  // no memory: the work cannot continue
    end(fail(ErrorCode::out_of_memory, "out of memory"));
    throw;
  }
  return ended_;
}

void Job::step(double budget_us) {
  if (!held_.model) return recover(budget_us);
  Task& task = work_->task();
  if (cancelled_) task.cancel();
  const bool over = task.pump(budget_us);
  if (!over || task.status()) ask();
  if (!over) return;
  if (task.is_interrupted())
    lose();
  else
    finish();
}

void Job::wait() {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  if (held_.model)
    work_->task().wait();
  else
    place_->wait();
}

void Job::cancel() {
  cancelled_ = true;
  list_->wake();
}

bool Job::next_event(lapilli_event& out) {
  const std::lock_guard lock(mutex_);
  return events_.next(out);
}

void Job::ask() {
  const TaskProgress now = work_->task().progress();
  if (has_events_) events_.add_progress({now.done, now.total, now.tokens});
  const bool wanted = cancellations_->load() == cancellations_before_;
  if (wanted && (!progress_ || progress_(now.done, now.total))) return;
  cancelled_ = true;
  work_->task().cancel();
}

// ---- a lost device ------------------------------------------------------------------------------------------------

// Drops everything of the lost device, so that its owner may destroy it. A job continues by itself only once, as the
// job itself may be what loses the device.
void Job::lose() {
  held_.model = nullptr;
  const Error& lost = work_->task().status().error();
  if (replaced_)
    return end(with_advice(lost, fail(ErrorCode::device_lost,
                                      "that was the second time for this job: if the work is too much for the device, "
                                      "try with a smaller max_submit_us or batch; else again once the device works")));
  if (const Status can = place_->replaceable(); !can) return end(with_advice(lost, can.error()));
  replaced_ = true;
}

void Job::recover(double budget_us) {
  ask();
  if (cancelled_) {
    if (auto s = work_->task().abandon(); !s) return end(std::move(s));
    return finish();
  }
  auto other = place_->replace(held_.generation, budget_us);
  if (!other) return end(with_advice(work_->task().status().error(), other.error()));
  if (!*other) return;
  if (auto s = work_->task().resume((*other)->model, *front_); !s) return end(std::move(s));
  held_ = std::move(**other);
}

Status Job::resume(const char* function, lapilli_model* model) {
  if (!model) return fail(ErrorCode::invalid_argument, "%s: model is null", function);
  const std::lock_guard lock(mutex_);
  if (!ended_ || !work_)
    return fail(ErrorCode::invalid_argument, "%s: the job has not ended because its device was lost", function);
  auto held = model->place->held();
  LAPILLI_CHECK(check_running(*held.model->device(), function));
  const LogScope log(held.model->device()->log_sink());
  if (auto s = work_->task().resume(held.model, *model->front); !s) return std::move(s).error().in(function);
  use(*model, std::move(held));
  events_.take_back_end();
  replaced_ = false;
  ended_ = false;
  status_ = {};
  return {};
}

void Job::keep() noexcept {
  if (held_.model) api::keep(*held_.model->device());
}

// ---- the end ------------------------------------------------------------------------------------------------------

void Job::finish() {
  auto taken = work_->take();
  if (!taken) return end(std::move(taken).error());
  output_ = std::move(taken).value();
  end(output_->text.cancelled ? Status(fail(ErrorCode::cancelled, "cancelled")) : Status());
}

void Job::end(Status status) {
  status_ = std::move(status);
  if (work_ && !work_->task().is_interrupted()) work_.reset();
  if (work_) place_.reset();
  if (has_events_) events_.add_end(status_);
  ended_ = true;
}

void Job::drop() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  work_.reset();
  held_ = {};
  place_.reset();
}

Status Job::take(lapilli_result** result) {
  const std::lock_guard lock(mutex_);
  if (!ended_) return fail(ErrorCode::invalid_argument, "the job has not ended; pump it until it is finished");
  if (taken_) return fail(ErrorCode::invalid_argument, "the result of the job was taken already");
  if (!output_) return status_;
  auto handle = std::make_unique<lapilli_result>();
  handle->stats = collect_stats(held_.model.get(), load_ms_, *output_);
  handle->output = std::move(output_->text);
  handle->segments = std::move(output_->segments);
  handle->classes = std::move(output_->classes);
  handle->encoded = std::move(output_->encoded);
  handle->overlay_inputs = std::move(output_->overlay_inputs);
  handle->sources = std::move(texts_);
  taken_ = true;
  *result = handle.release();
  return status_;
}

}  // namespace lapilli::api
