#include "speech/transcribe.hpp"

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

}  // namespace lapilli::speech
