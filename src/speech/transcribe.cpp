#include "speech/transcribe.hpp"

#include <limits>

#include "speech/language_detection.hpp"
#include "speech/transcription_task.hpp"

namespace lapilli::speech {

Result<TranscribeOutput> transcribe(const std::shared_ptr<Model>& model, const TranscribeRequest& request) {
  if (request.recordings.empty()) return fail(ErrorCode::invalid_argument, "no recordings");
  LAPILLI_TRY(const auto job, TranscriptionTask::start(model, request));
  LAPILLI_CHECK(job->run(request.progress));
  TranscribeOutput out = job->take();
  if (out.cancelled) return fail(ErrorCode::cancelled, "cancelled");
  for (Transcript& t : out.transcripts) LAPILLI_CHECK(std::move(t.status));
  return out;
}

Result<std::vector<int32_t>> detect_languages(const std::shared_ptr<Model>& model,
                                              std::span<const Recording> recordings) {
  LAPILLI_CHECK(check_transcribes(*model));
  LanguageDetection detection(model, {recordings.begin(), recordings.end()});
  for (;;) {
    LAPILLI_TRY(const bool done, detection.poll(std::numeric_limits<double>::infinity()));
    if (done) return detection.found();
    LAPILLI_CHECK(detection.wait());
  }
}

}  // namespace lapilli::speech
