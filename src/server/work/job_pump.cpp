#include "server/work/job_pump.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

#include "server/http/message.hpp"

namespace lapilli::server {

namespace {

using Clock = std::chrono::steady_clock;

// With several models at work, the device time that each gets in a turn.
constexpr uint64_t kTurnUs = 20000;
// The device tells nobody that it is done. A round looks at each job, so with many jobs it comes less often.
constexpr auto kPause = std::chrono::microseconds(200), kPauseOfJob = std::chrono::microseconds(10);
constexpr auto kIdleRound = std::chrono::milliseconds(100);
constexpr unsigned kReaders = 2;
// Texts of more bytes take longer to tokenize than a round may.
constexpr uint64_t kMuchText = 64 << 10;

int64_t now_ns() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

bool is_late(const Work& work) { return work.deadline && Clock::now() > *work.deadline; }

uint64_t bytes_of(const lapilli_input& input) {
  return (input.text ? input.text_bytes : 0) + (input.pair ? input.pair_bytes : 0);
}

// Recordings and pictures are decoded as the job goes on.
bool reads_much(const Work& work) {
  uint64_t bytes = 0;
  for (const lapilli_input& input : work.inputs) {
    if (input.kind != LAPILLI_INPUT_TEXT && input.kind != LAPILLI_INPUT_IDS) return true;
    bytes += input.kind == LAPILLI_INPUT_TEXT ? bytes_of(input) : 0;
  }
  return bytes > kMuchText;
}

Usage usage_of(const Results& results) {
  Usage usage;
  usage.read_tokens = results.stats().source_tokens;
  usage.written_tokens = results.stats().generated_tokens;
  return usage;
}

Error late_error() { return Error(lapilli::Status::cancelled, "the request took longer than the server allows"); }

}  // namespace

void set_texts(Work& work, std::vector<std::string> texts) {
  const auto kept = std::make_shared<const std::vector<std::string>>(std::move(texts));
  work.inputs = detail::inputs_of(*kept);
  work.kept = kept;
}

void set_pairs(Work& work, std::vector<std::pair<std::string, std::string>> pairs) {
  const auto kept = std::make_shared<const std::vector<std::pair<std::string, std::string>>>(std::move(pairs));
  work.inputs = detail::inputs_of(*kept);
  work.kept = kept;
}

int http_status(lapilli::Status status) {
  switch (status) {
    case lapilli::Status::ok: return 200;
    case lapilli::Status::invalid_argument:
    case lapilli::Status::invalid_data:
    case lapilli::Status::unsupported: return 400;
    case lapilli::Status::not_found: return 404;
    case lapilli::Status::out_of_memory:
    case lapilli::Status::no_device:
    case lapilli::Status::device_lost:
    case lapilli::Status::timeout:
    case lapilli::Status::cancelled: return 503;
    default: return 500;
  }
}

JobPump::JobPump(ModelShelf& shelf, Pool& pool)
    : shelf_(shelf), pool_(pool), readers_(kReaders), last_round_ns_(now_ns()), thread_([this] { loop(); }) {}

JobPump::~JobPump() { close(); }

void JobPump::close() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  woken_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void JobPump::start(std::shared_ptr<Work> work) {
  const auto model = cancel_all_ ? nullptr : shelf_.get(work->model);
  if (model && expect_job()) return give_out(work, model);
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) new_.push_back(std::exchange(work, nullptr));
  }
  woken_.notify_all();
  if (!work) return;
  Outcome outcome;
  outcome.error = Error(lapilli::Status::cancelled, "the server stops");
  outcome.status = 503;
  work->done(std::move(outcome));
}

int JobPump::left_status() const { return cancel_all_ ? 503 : kClientLeft; }

Error JobPump::left_error() const {
  return Error(lapilli::Status::cancelled, cancel_all_ ? "the server stops" : "the client has left");
}

void JobPump::wake() {
  {
    const std::lock_guard lock(mutex_);
    changed_ = true;
  }
  woken_.notify_all();
}

void JobPump::cancel_all() {
  {
    const std::lock_guard lock(mutex_);
    cancel_all_ = changed_ = true;
  }
  woken_.notify_all();
}

JobPump::Counts JobPump::counts() const { return {running_count_, waiting_count_, ended_, tokens_, steps_}; }

double JobPump::quiet_s() const { return 1e-9 * static_cast<double>(now_ns() - last_round_ns_); }

void JobPump::loop() {
  for (;;) {
    last_round_ns_ = now_ns();
    take_new();
    begin_waiting();
    stop_left();
    pump_models();
    read_events();
    end_jobs();
    {
      const std::lock_guard lock(mutex_);
      closed_ = over_ && running_.empty() && waiting_.empty() && new_.empty() && begun_.empty() && beginning_ == 0;
      if (closed_) return;
    }
    sleep();
  }
}

void JobPump::take_new() {
  const std::lock_guard lock(mutex_);
  for (auto& work : new_) waiting_.push_back(std::move(work));
  new_.clear();
  for (Running& one : begun_) running_.push_back(std::move(one));
  begun_.clear();
  changed_ = false;
  if (over_) cancel_all_ = true;
  if (!cancel_all_) return;
  for (auto& work : waiting_) work->cancelled = true;
  for (Running& one : running_) one.work->cancelled = true;
}

void JobPump::begin_waiting() {
  Failures failures;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    bool begun = true;
    const std::shared_ptr<Work> work = *it;
    if (!survives(work, [&] { begun = begin(work, failures); }))
      refuse(work, Error(lapilli::Status::internal, "the request could not begin"), 500);
    it = begun ? waiting_.erase(it) : std::next(it);
  }
  waiting_count_ = waiting_.size();
  shelf_.drop_idle();
}

// A failure of one request (there is no memory for its events) ends that request alone.
template <class Step>
bool JobPump::survives(const std::shared_ptr<Work>& work, Step step) {
  try {
    step();
    return true;
  } catch (const std::exception& e) {
    work->cancelled = true;
    std::fprintf(stderr, "lapilli: a request failed: %s\n", e.what());
    return false;
  }
}

// False: its model is being loaded. All that wait for a model share the failure of its load; a later request tries
// again.
bool JobPump::begin(const std::shared_ptr<Work>& work, Failures& failures) {
  if (work->cancelled) return refuse(work, left_error(), left_status()), true;
  if (is_late(*work)) return refuse(work, late_error(), 504), true;
  if (!failures.contains(work->model)) {
    if (const auto model = shelf_.get(work->model)) {
      if (expect_job()) pool_.run([this, work, model] { give_out(work, model); });
      return true;
    }
    const auto failure = shelf_.take_failure(work->model);
    if (!failure) return false;
    failures.emplace(work->model, *failure);
  }
  const Error& why = failures.at(work->model);
  refuse(work, why, why.status() == lapilli::Status::out_of_memory ? 503 : 500);
  return true;
}

// False once there is no thread that would take the job.
bool JobPump::expect_job() {
  const std::lock_guard lock(mutex_);
  if (!closed_) ++beginning_;
  return !closed_;
}

void JobPump::give_out(const std::shared_ptr<Work>& work, const std::shared_ptr<const Model>& model) {
  if (!reads_much(*work)) return start_job(work, model);
  readers_.run([this, work, model] { start_job(work, model); });
}

// The first pump reads texts and submits little.
void JobPump::start_job(const std::shared_ptr<Work>& work, const std::shared_ptr<const Model>& model) {
  std::optional<Running> begun;
  const bool survived = survives(work, [&] {
    auto job = model->start_inputs(work->inputs, work->options);
    if (!job) return refuse(work, job.error(), http_status(job.error().status()));
    begun = Running{work, model, std::make_shared<Job>(std::move(*job)), reads_much(*work)};
    (void)begun->job->pump(begun->reads_much ? kTurnUs : LAPILLI_UNLIMITED);
  });
  if (!survived) refuse(work, Error(lapilli::Status::internal, "the request could not begin"), 500);
  join(survived ? std::move(begun) : std::nullopt);
}

void JobPump::join(std::optional<Running> begun) {
  {
    const std::lock_guard lock(mutex_);
    --beginning_;
    if (begun) begun_.push_back(std::move(*begun));
  }
  woken_.notify_all();
}

void JobPump::stop_left() {
  for (Running& one : running_) {
    if (is_late(*one.work)) one.late = true;
    if ((!one.late && !one.work->cancelled) || std::exchange(one.told_to_stop, true)) continue;
    one.job->cancel();
  }
}

std::vector<std::shared_ptr<const Model>> JobPump::models_at_work() const {
  std::vector<std::shared_ptr<const Model>> models;
  for (const Running& one : running_)
    if (std::ranges::find(models, one.model) == models.end()) models.push_back(one.model);
  return models;
}

void JobPump::pump_models() {
  const auto models = models_at_work();
  for (const auto& model : models) pump_jobs(model, models.size() > 1 ? std::optional(kTurnUs) : std::nullopt);
}

// Jobs that began first are pumped first.
void JobPump::pump_jobs(const std::shared_ptr<const Model>& model, std::optional<uint64_t> turn_us) {
  const int64_t begin = now_ns();
  for (Running& one : running_) {
    if (one.model != model || *one.away) continue;
    const auto passed_us = static_cast<uint64_t>((now_ns() - begin) / 1000);
    const uint64_t left_us = turn_us ? *turn_us - std::min(*turn_us, passed_us) : LAPILLI_UNLIMITED;
    one.reads_much ? pump_away(one) : void(one.job->pump(left_us));
  }
}

void JobPump::pump_away(Running& one) {
  *one.away = true;
  readers_.run([job = one.job, away = std::shared_ptr<void>(nullptr, [flag = one.away](void*) { *flag = false; })] {
    (void)job->pump(kTurnUs);
  });
}

void JobPump::read_events() {
  for (Running& one : running_)
    if (!*one.away) (void)survives(one.work, [&] { read_events(one); });
}

void JobPump::read_events(Running& one) {
  for (;;) {
    auto event = one.job->next_event();
    if (!event || !*event) return;
    const EventKind kind = (*event)->kind;
    if (kind == EventKind::end) one.ended = true;
    const auto& told = kind == EventKind::progress ? one.work->on_progress : one.work->on_event;
    if (kind != EventKind::end && told) told(**event);
  }
}

void JobPump::end_jobs() {
  for (auto it = running_.begin(); it != running_.end();) {
    if (it->ended) shelf_.touch(it->work->model);
    if (it->ended) hand_over(*it);
    it = it->ended ? running_.erase(it) : std::next(it);
  }
  running_count_ = running_.size();
}

// Results are copied, and answers written, on the pool's threads.
void JobPump::hand_over(const Running& one) {
  ++ended_;
  pool_.run([this, one] {
    Outcome outcome;
    outcome.model = one.model;
    auto results = one.job->take();
    const bool stopped = !results || results->cancelled();
    if (stopped && one.late) {
      outcome.error = late_error();
      outcome.status = 504;
    } else if (stopped) {
      outcome.error = results ? left_error() : results.error();
      outcome.status = results ? left_status() : http_status(outcome.error->status());
    } else {
      tokens_ += results->stats().generated_tokens;
      if (one.work->account) one.work->account->add(usage_of(*results));
      steps_ += results->stats().decoder_steps;
      outcome.results = std::move(*results);
    }
    one.work->done(std::move(outcome));
  });
}

void JobPump::refuse(const std::shared_ptr<Work>& work, const Error& error, int status) {
  pool_.run([work, error, status] {
    Outcome outcome;
    outcome.error = error;
    outcome.status = status;
    work->done(std::move(outcome));
  });
}

void JobPump::sleep() {
  const auto pause = running_.empty() ? std::chrono::microseconds(kIdleRound)
                                      : kPause + static_cast<int64_t>(running_.size()) * kPauseOfJob;
  std::unique_lock lock(mutex_);
  (void)woken_.wait_for(lock, pause, [this] { return changed_ || over_ || !new_.empty() || !begun_.empty(); });
}

}  // namespace lapilli::server
