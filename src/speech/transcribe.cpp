#include "speech/transcribe.hpp"

#include <algorithm>

#include "speech/languages.hpp"
#include "speech/transcription_job.hpp"

namespace lapilli::speech {

Result<TranscribeOutput> transcribe(const std::shared_ptr<Model>& model, const TranscribeRequest& request) {
  if (request.recordings.empty()) return fail(ErrorCode::invalid_argument, "no recordings");
  LAPILLI_TRY(const auto job, TranscriptionJob::start(model, request));
  const auto ask = [&] {
    if (request.progress && !request.progress(job->frames_done(), job->frames())) job->cancel();
  };
  ask();
  while (!job->pump()) {
    if (job->is_hungry()) return fail(ErrorCode::invalid_argument, "a recording has not come to its end");
    ask();
    job->rest();
  }
  LAPILLI_CHECK(Status(job->status()));
  TranscribeOutput out = job->take();
  if (out.cancelled) return fail(ErrorCode::cancelled, "cancelled");
  for (Transcript& t : out.transcripts) LAPILLI_CHECK(std::move(t.status));
  ask();
  return out;
}

namespace {

Result<std::shared_ptr<const model::Features>> first_window(const ModelInfo& info, const Recording& recording) {
  auto f = std::make_shared<model::Features>();
  f->rows = info.feature_rows;
  f->width = info.feature_width;
  f->values.assign(uint64_t{f->rows} * f->width, 0.0f);
  const uint64_t there = std::min<uint64_t>(f->rows, recording.frames->extent().frames);
  for (;;) {
    LAPILLI_TRY(const bool done, recording.frames->read(0, std::span(f->values).first(there * f->width)));
    if (done) return std::shared_ptr<const model::Features>(std::move(f));
    LAPILLI_CHECK(recording.frames->rest());
  }
}

}  // namespace

Result<std::vector<int32_t>> detect_languages(const std::shared_ptr<Model>& model,
                                              std::span<const Recording> recordings) {
  LAPILLI_CHECK(check_transcribes(*model));
  std::vector<std::shared_ptr<const model::Features>> windows;
  for (const Recording& r : recordings) {
    LAPILLI_TRY(windows.emplace_back(), first_window(model->info(), r));
  }
  LAPILLI_TRY(const auto request, language_request(*model, windows));
  LAPILLI_TRY(const auto out, generate(model, request));
  std::vector<int32_t> found;
  for (size_t i = 0; i < recordings.size(); ++i) {
    LAPILLI_CHECK(Status(out.errors[i]));
    LAPILLI_TRY(found.emplace_back(), likeliest_language(model->speech(), out.logits[i].front()));
  }
  return found;
}

}  // namespace lapilli::speech
