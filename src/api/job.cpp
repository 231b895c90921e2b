#include "api/job.hpp"

#include <utility>

#include "base/log.hpp"
#include "runtime/self_test.hpp"

#if !defined(_WIN32)
#include <sys/resource.h>
#endif

namespace lapilli::api {

namespace {

// Peak resident memory of the process in bytes; 0 where the system does not tell simply.
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

Status unknown_kind(const char* function, size_t index, int32_t kind) {
  if (kind == 0) {
    return fail(ErrorCode::invalid_argument,
                "%s: the kind of input %zu is not set; lapilli_text() and lapilli_tokens() make inputs", function,
                index);
  }
  // Of what later versions may bring, the names are settled (lapilli.h).
  const char* name = kind == 3 ? "audio" : kind == 4 ? "an image" : "of a kind that is not known";
  return fail(ErrorCode::unsupported, "%s: input %zu is %s (%d); this version (%s) takes text (%d) and ids (%d)",
              function, index, name, kind, lapilli_version(), LAPILLI_INPUT_TEXT, LAPILLI_INPUT_IDS);
}

Result<TextInput> read_input(const char* function, size_t index, const lapilli_input& from) {
  TextInput to;
  switch (from.kind) {
    case LAPILLI_INPUT_TEXT:
      if (!from.text) return fail(ErrorCode::invalid_argument, "%s: text of input %zu is null", function, index);
      to.text = from.text_bytes == LAPILLI_ZERO_TERMINATED ? std::string_view(from.text)
                                                           : std::string_view(from.text, from.text_bytes);
      return to;
    case LAPILLI_INPUT_IDS:
      if (!from.ids.ids && from.ids.count != 0) {
        return fail(ErrorCode::invalid_argument, "%s: ids of input %zu are at a null pointer", function, index);
      }
      to.has_ids = true;
      to.ids = {from.ids.ids, from.ids.count};
      return to;
    default: return unknown_kind(function, index, from.kind).error();
  }
}

// `model`: null if its device was lost.
lapilli_stats collect_stats(const lapilli::Model* model, double load_ms, const lapilli::TranslateStats& from) {
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
  return to;
}

}  // namespace

// ---- events -------------------------------------------------------------------------------------------------------

static_assert(sizeof(lapilli_event::of) == sizeof(lapilli_event::of.reserved), "no kind of event is larger");

// Progress that nobody has asked for yet is told anew behind what comes now, but for the end.
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

}  // namespace

void EventQueue::add_input(size_t input, const Status& status) {
  drop_progress();
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
  told_ = std::move(waiting_.front());
  waiting_.pop_front();
  auto& of = told_.event.of;
  switch (told_.event.kind) {
    case LAPILLI_EVENT_TEXT:
      of.text.text = told_.text.c_str();
      of.text.text_bytes = told_.text.size();
      of.text.ids = {told_.ids.data(), told_.ids.size()};
      break;
    case LAPILLI_EVENT_INPUT: of.input.message = told_.text.c_str(); break;
    case LAPILLI_EVENT_ERROR: of.error.message = told_.text.c_str(); break;
    default: break;
  }
  out = told_.event;
  return true;
}

// ---- jobs ---------------------------------------------------------------------------------------------------------

namespace {

// Two ways to be told the same would be one too many.
Status refuse_functions(const char* function, const lapilli_options* options) {
  lapilli_options given = lapilli_default_options();
  LAPILLI_CHECK(read_struct(options, given, "lapilli_options"));
  if (!given.progress && !given.stream) return {};
  return fail(ErrorCode::invalid_argument,
              "%s: a job calls no functions; leave lapilli_options.%s null and ask for events", function,
              given.stream ? "stream" : "progress");
}

}  // namespace

Status Job::read(const Call& call, TranslateRequest& request) {
  if (!call.model) return fail(ErrorCode::invalid_argument, "%s: model is null", call.function);
  const auto read_one = [&](size_t index, const lapilli_input& from) -> Status {
    LAPILLI_TRY(const auto input, read_input(call.function, index, from));
    request.inputs.push_back(input);
    return {};
  };
  LAPILLI_CHECK(read_array(call.inputs, call.count, "lapilli_input", read_one));
  LAPILLI_CHECK(read_options(call.options, request));
  copy_inputs(request);
  progress_ = std::move(request.progress);
  auto held = call.model->place->held();
  LAPILLI_CHECK(check_running(*held.model->device(), call.function));
  use(*call.model, std::move(held));
  return {};
}

// The model's handle may be freed while this runs.
void Job::use(const lapilli_model& model, ReplaceableModel::Held held) {
  place_ = model.place;
  held_ = std::move(held);
  log_ = held_.model->device()->log_sink();
  load_ms_ = model.load_ms;
  cancellations_ = model.cancellations;
  cancellations_before_ = cancellations_->load();
}

void Job::copy_inputs(TranslateRequest& request) {
  for (const TextInput& input : request.inputs) {
    texts_.emplace_back(input.text);
    ids_.emplace_back(input.ids.begin(), input.ids.end());
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    request.inputs[i].text = texts_[i];
    request.inputs[i].ids = ids_[i];
  }
}

Result<std::unique_ptr<Job>> Job::start(const Call& call) {
  auto job = std::make_unique<Job>();
  TranslateRequest request;
  LAPILLI_CHECK(job->read(call, request));
  const LogScope log(job->log_);
  LAPILLI_TRY(job->work_, TranslationJob::start(job->held_.model, std::move(request)));
  return job;
}

Result<std::unique_ptr<Job>> Job::start_with_events(const Call& call) {
  auto job = std::make_unique<Job>();
  TranslateRequest request;
  LAPILLI_CHECK(job->read(call, request));
  const LogScope log(job->log_);
  LAPILLI_CHECK(refuse_functions(call.function, call.options));
  job->make_events(request);
  LAPILLI_TRY(job->work_, TranslationJob::start(job->held_.model, std::move(request)));
  return job;
}

Result<std::unique_ptr<Job>> Job::prepare(const char* function, lapilli_model* model, const lapilli_shape* shape) {
  lapilli_shape given = lapilli_default_shape();
  LAPILLI_CHECK(read_struct(shape, given, "lapilli_shape"));
  auto job = std::make_unique<Job>();
  TranslateRequest request;
  LAPILLI_CHECK(job->read({function, model, nullptr, 0, given.options}, request));
  const LogScope log(job->log_);
  LAPILLI_CHECK(refuse_functions(function, given.options));
  job->make_events(request);
  const JobShape wanted{given.inputs, given.source_tokens, given.target_tokens};
  LAPILLI_TRY(job->work_, TranslationJob::prepare(job->held_.model, std::move(request), wanted));
  return job;
}

void Job::make_events(TranslateRequest& request) {
  has_events_ = true;
  request.stream = [this](size_t input, std::string_view text, std::span<const int32_t> ids) {
    events_.add_text(input, text, ids);
    return true;
  };
  request.input_ended = [this](size_t input, const Status& status) { events_.add_input(input, status); };
}

bool Job::pump(double budget_us) {
  if (ended_) return true;
  const LogScope log(log_);
  try {
    step(budget_us);
  } catch (...) {  // there is no memory: what was begun cannot be gone on with
    end(fail(ErrorCode::out_of_memory, "out of memory"));
    throw;
  }
  return ended_;
}

void Job::step(double budget_us) {
  if (!held_.model) return recover(budget_us);
  if (cancelled_) work_->cancel();
  const bool over = work_->pump(budget_us);
  if (!over || work_->status()) ask();
  if (!over) return;
  if (work_->is_interrupted())
    lose();
  else
    finish();
}

void Job::rest() {
  if (ended_) return;
  if (held_.model)
    work_->rest();
  else
    place_->rest();
}

void Job::ask() {
  if (has_events_) events_.add_progress({work_->done(), work_->total(), work_->tokens()});
  const bool wanted = cancellations_->load() == cancellations_before_;
  if (wanted && (!progress_ || progress_(work_->done(), work_->total()))) return;
  cancelled_ = true;
  work_->cancel();
}

// ---- a lost device ------------------------------------------------------------------------------------------------

// Nothing of the lost device is held any more: whose it is may destroy it. A job goes on once by itself, as what takes
// the device again and again may be the job.
void Job::lose() {
  held_.model = nullptr;
  const Error& lost = work_->status().error();
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
    if (auto s = work_->abandon(); !s) return end(std::move(s));
    return finish();
  }
  auto other = place_->replace(held_.generation, budget_us);
  if (!other) return end(with_advice(work_->status().error(), other.error()));
  if (!*other) return;
  if (auto s = work_->resume((*other)->model); !s) return end(std::move(s));
  held_ = std::move(**other);
}

Status Job::resume(const char* function, lapilli_model* model) {
  if (!model) return fail(ErrorCode::invalid_argument, "%s: model is null", function);
  if (!ended_ || !work_)
    return fail(ErrorCode::invalid_argument, "%s: the job has not ended because its device was lost", function);
  auto held = model->place->held();
  LAPILLI_CHECK(check_running(*held.model->device(), function));
  const LogScope log(held.model->device()->log_sink());
  if (auto s = work_->resume(held.model); !s) return std::move(s).error().in(function);
  use(*model, std::move(held));
  events_.take_back_end();
  ended_ = replaced_ = false;
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
  end(output_->cancelled ? Status(fail(ErrorCode::cancelled, "cancelled")) : Status());
}

void Job::end(Status status) {
  ended_ = true;
  status_ = std::move(status);
  if (work_ && !work_->is_interrupted()) work_.reset();
  if (work_) place_.reset();
  if (has_events_) events_.add_end(status_);
}

Status Job::take(lapilli_result** result) {
  if (!ended_) return fail(ErrorCode::invalid_argument, "the job has not ended; pump it until it is finished");
  if (taken_) return fail(ErrorCode::invalid_argument, "the result of the job was taken already");
  if (!output_) return status_;
  auto handle = std::make_unique<lapilli_result>();
  handle->stats = collect_stats(held_.model.get(), load_ms_, output_->stats);
  handle->output = std::move(*output_);
  handle->sources = std::move(texts_);
  taken_ = true;
  *result = handle.release();
  return status_;
}

}  // namespace lapilli::api
