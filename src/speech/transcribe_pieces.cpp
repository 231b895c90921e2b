#include "speech/transcribe_pieces.hpp"

#include "speech/pieces_job.hpp"

namespace lapilli::speech {

Result<TranscribeOutput> transcribe_pieces(const std::shared_ptr<Model>& model, const TranscribeRequest& request,
                                           std::span<const Piece> pieces, uint32_t at_a_time) {
  LAPILLI_TRY(const auto job, PiecesJob::start(model, request, {pieces.begin(), pieces.end()}, at_a_time));
  while (!job->pump()) {
    if (request.progress && !request.progress(job->frames_done(), job->frames())) job->cancel();
    job->rest();
  }
  LAPILLI_CHECK(Status(job->status()));
  TranscribeOutput out = job->take();
  if (out.cancelled) return fail(ErrorCode::cancelled, "cancelled");
  LAPILLI_CHECK(Status(out.transcripts.front().status));
  return out;
}

}  // namespace lapilli::speech
