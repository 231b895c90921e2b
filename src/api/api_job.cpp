// The C interface: jobs that are pumped.
#include <chrono>
#include <thread>

#include "api/job.hpp"
#include "base/clock.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Status;
using lapilli::api::guarded;

struct lapilli_job {
  std::unique_ptr<lapilli::api::Job> job;
};

namespace {

Status check_job(const lapilli_job* job, const char* function) {
  return job ? Status() : Status(fail(ErrorCode::invalid_argument, "%s: job is null", function));
}

// Pumps until the end or the time; false: it was the time.
bool pump_for(lapilli::api::Job& job, uint64_t timeout_us) {
  constexpr double kLongestSleepUs = 200;
  const auto since = lapilli::Clock::now();
  while (!job.pump()) {
    if (job.is_hungry()) return false;  // whoever has the samples is waiting here
    const double left = lapilli::api::microseconds_of(timeout_us) - lapilli::ms_since(since) * 1000;
    if (left <= 0) return false;
    if (timeout_us == LAPILLI_UNLIMITED)
      job.rest();
    else
      std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(std::min(left, kLongestSleepUs)));
  }
  return true;
}

}  // namespace

extern "C" {

lapilli_status lapilli_job_start(lapilli_model* model, const lapilli_input* inputs, size_t count,
                                 const lapilli_options* options, lapilli_job** job) {
  if (job) *job = nullptr;
  return guarded([&]() -> Status {
    if (!job) return fail(ErrorCode::invalid_argument, "lapilli_job_start: job is null");
    auto handle = std::make_unique<lapilli_job>();
    LAPILLI_TRY(handle->job,
                lapilli::api::Job::start_with_events({"lapilli_job_start", model, inputs, count, options}));
    *job = handle.release();
    return {};
  });
}

lapilli_status lapilli_job_prepare(lapilli_model* model, const lapilli_shape* shape, lapilli_job** job) {
  if (job) *job = nullptr;
  return guarded([&]() -> Status {
    if (!job) return fail(ErrorCode::invalid_argument, "lapilli_job_prepare: job is null");
    auto handle = std::make_unique<lapilli_job>();
    LAPILLI_TRY(handle->job, lapilli::api::Job::prepare("lapilli_job_prepare", model, shape));
    *job = handle.release();
    return {};
  });
}

lapilli_status lapilli_model_prepare(lapilli_model* model, const lapilli_shape* shape) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const auto job, lapilli::api::Job::prepare("lapilli_model_prepare", model, shape));
    while (!job->pump()) job->rest();
    job->keep();
    lapilli_result* nothing = nullptr;
    const Status status = job->take(&nothing);
    lapilli_result_free(nothing);
    return status;
  });
}

lapilli_status lapilli_job_pump(lapilli_job* job, uint64_t budget_us, int32_t* finished) {
  if (finished) *finished = 0;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_pump"));
    const bool over = job->job->pump(lapilli::api::microseconds_of(budget_us));
    if (finished) *finished = over ? 1 : 0;
    return {};
  });
}

lapilli_status lapilli_job_wait(lapilli_job* job, uint64_t timeout_us, int32_t* finished) {
  if (finished) *finished = 0;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_wait"));
    const bool over = pump_for(*job->job, timeout_us);
    if (finished) *finished = over ? 1 : 0;
    return {};
  });
}

lapilli_status lapilli_job_resume(lapilli_job* job, lapilli_model* model) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_resume"));
    return job->job->resume("lapilli_job_resume", model);
  });
}

lapilli_status lapilli_job_append_samples(lapilli_job* job, size_t input, const float* samples, size_t count) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_append_samples"));
    if (!samples && count != 0)
      return fail(ErrorCode::invalid_argument, "lapilli_job_append_samples: %zu samples at a null pointer", count);
    LAPILLI_CHECK(lapilli::api::check_sample_count("lapilli_job_append_samples", count));
    return job->job->append("lapilli_job_append_samples", input, {samples, count});
  });
}

lapilli_status lapilli_job_end_samples(lapilli_job* job, size_t input) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_end_samples"));
    return job->job->end_recording("lapilli_job_end_samples", input);
  });
}

void lapilli_job_cancel(lapilli_job* job) {
  if (job) job->job->cancel();
}

lapilli_status lapilli_job_next_event(lapilli_job* job, lapilli_event* event, int32_t* has) {
  if (has) *has = 0;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_next_event"));
    if (!event || !has) return fail(ErrorCode::invalid_argument, "lapilli_job_next_event: event or has is null");
    LAPILLI_CHECK(lapilli::api::check_size(event->struct_size, "lapilli_event"));
    lapilli_event next{};
    if (!job->job->next_event(next)) return {};
    *has = 1;
    return lapilli::api::write_struct(next, event, "lapilli_event");
  });
}

lapilli_status lapilli_job_get_word(const lapilli_job* job, size_t word, lapilli_word* out) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_get_word"));
    return lapilli::api::write_word("lapilli_job_get_word", job->job->words(), word, out);
  });
}

lapilli_status lapilli_job_take(lapilli_job* job, lapilli_result** result) {
  if (result) *result = nullptr;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_take"));
    if (!result) return fail(ErrorCode::invalid_argument, "lapilli_job_take: result is null");
    return job->job->take(result);
  });
}

void lapilli_job_free(lapilli_job* job) { delete job; }

}  // extern "C"
