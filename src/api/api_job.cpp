// The C interface: jobs that are pumped.
#include <chrono>
#include <cmath>
#include <thread>

#include "api/job.hpp"
#include "base/clock.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;

struct lapilli_job {
  ~lapilli_job() {
    if (job) job->drop();
  }
  std::shared_ptr<lapilli::api::Job> job;  // the list of the model pumps it, too
};

namespace {

Status check_job(const lapilli_job* job, const char* function) {
  return job ? Status() : Status(fail(ErrorCode::invalid_argument, "%s: job is null", function));
}

Result<const lapilli::api::TranscriptSegment*> find_interim(const lapilli_job* job, size_t segment,
                                                            const char* function) {
  LAPILLI_CHECK(check_job(job, function));
  const auto interim = job->job->last_segments(LAPILLI_EVENT_INTERIM);
  if (segment < interim.size()) return &interim[segment];
  return fail(ErrorCode::invalid_argument, "%s: segment %u of %u of the last interim event", function, segment,
              interim.size());
}

void sleep(lapilli::api::Job& job, double left_us) {
  constexpr double kLongestSleepUs = 200;
  if (job.list().is_pumped())
    job.list().wait_for_end(job, left_us);
  else if (std::isinf(left_us))
    job.wait();
  else
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(std::min(left_us, kLongestSleepUs)));
}

// Pumps until the job ends or the time is up; false if the time was up. Leaves the pumping to another thread that pumps
// all jobs of the model.
bool pump_for(lapilli::api::Job& job, uint64_t timeout_us) {
  const auto since = lapilli::Clock::now();
  while (job.list().is_pumped() ? !job.has_ended() : !job.pump()) {
    if (job.is_hungry()) return false;  // the caller waits here, so it cannot supply the samples
    const double left = lapilli::api::microseconds_of(timeout_us) - lapilli::ms_since(since) * 1000;
    if (left <= 0) return false;
    sleep(job, left);
  }
  return true;
}

Status give_out(Result<std::unique_ptr<lapilli::api::Job>> started, lapilli_job** job) {
  auto handle = std::make_unique<lapilli_job>();
  LAPILLI_TRY(handle->job, std::move(started));
  handle->job->list().add(handle->job);
  *job = handle.release();
  return {};
}

}  // namespace

extern "C" {

lapilli_status lapilli_job_start(lapilli_model* model, const lapilli_input* inputs, size_t count,
                                 const lapilli_options* options, lapilli_job** job) {
  if (job) *job = nullptr;
  return guarded([&]() -> Status {
    if (!job) return fail(ErrorCode::invalid_argument, "lapilli_job_start: job is null");
    return give_out(lapilli::api::Job::start_with_events({"lapilli_job_start", model, inputs, count, options}), job);
  });
}

lapilli_status lapilli_job_prepare(lapilli_model* model, const lapilli_shape* shape, lapilli_job** job) {
  if (job) *job = nullptr;
  return guarded([&]() -> Status {
    if (!job) return fail(ErrorCode::invalid_argument, "lapilli_job_prepare: job is null");
    return give_out(lapilli::api::Job::prepare("lapilli_job_prepare", model, shape), job);
  });
}

lapilli_status lapilli_model_prepare(lapilli_model* model, const lapilli_shape* shape) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const auto job, lapilli::api::Job::prepare("lapilli_model_prepare", model, shape));
    while (!job->pump()) job->wait();
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

lapilli_status lapilli_model_pump(lapilli_model* model, uint64_t budget_us, size_t* running) {
  if (running) *running = 0;
  return guarded([&]() -> Status {
    if (!model) return fail(ErrorCode::invalid_argument, "lapilli_model_pump: model is null");
    const size_t left = model->jobs->pump(lapilli::api::microseconds_of(budget_us));
    if (running) *running = left;
    return {};
  });
}

lapilli_status lapilli_model_wait(lapilli_model* model, uint64_t timeout_us) {
  return guarded([&]() -> Status {
    if (!model) return fail(ErrorCode::invalid_argument, "lapilli_model_wait: model is null");
    model->jobs->wait(lapilli::api::microseconds_of(timeout_us));
    return {};
  });
}

lapilli_status lapilli_job_resume(lapilli_job* job, lapilli_model* model) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_resume"));
    LAPILLI_CHECK(job->job->resume("lapilli_job_resume", model));
    job->job->list().add(job->job);
    if (&job->job->list() != model->jobs.get()) model->jobs->add(job->job);
    return {};
  });
}

lapilli_status lapilli_job_append_samples(lapilli_job* job, size_t input, const float* samples, size_t count) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_append_samples"));
    if (!samples && count != 0)
      return fail(ErrorCode::invalid_argument, "lapilli_job_append_samples: %u samples at a null pointer", count);
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

lapilli_status lapilli_job_wants_samples(const lapilli_job* job, int32_t* wants) {
  if (wants) *wants = 0;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_wants_samples"));
    if (!wants) return fail(ErrorCode::invalid_argument, "lapilli_job_wants_samples: wants is null");
    *wants = job->job->is_hungry() ? 1 : 0;
    return {};
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
    const auto segments = job->job->last_segments(LAPILLI_EVENT_SEGMENT);
    const auto words = segments.empty() ? std::span<const lapilli::speech::Word>() : segments.front().segment.words;
    return lapilli::api::write_word("lapilli_job_get_word", words, word, out);
  });
}

lapilli_status lapilli_job_get_interim(const lapilli_job* job, size_t segment, lapilli_segment* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const auto* found, find_interim(job, segment, "lapilli_job_get_interim"));
    return lapilli::api::write_struct(lapilli::api::c_segment(*found), out, "lapilli_segment");
  });
}

lapilli_status lapilli_job_get_interim_word(const lapilli_job* job, size_t segment, size_t word, lapilli_word* out) {
  return guarded([&]() -> Status {
    LAPILLI_TRY(const auto* found, find_interim(job, segment, "lapilli_job_get_interim_word"));
    return lapilli::api::write_word("lapilli_job_get_interim_word", found->segment.words, word, out);
  });
}

lapilli_status lapilli_job_draw_attention(lapilli_job* job, const lapilli_attention_drawing* drawing,
                                          const uint8_t** file, size_t* bytes) {
  if (file) *file = nullptr;
  if (bytes) *bytes = 0;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_job(job, "lapilli_job_draw_attention"));
    if (!file || !bytes) return fail(ErrorCode::invalid_argument, "lapilli_job_draw_attention: file or bytes is null");
    auto drawn = job->job->draw_attention(drawing);
    if (!drawn) return std::move(drawn).error().in("lapilli_job_draw_attention");
    *file = reinterpret_cast<const uint8_t*>((*drawn)->data());
    *bytes = (*drawn)->size();
    return {};
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
