// A recording cut into chunks, which a ChunksTask transcribes to its end.
#pragma once

#include <span>
#include <utility>

#include "speech/chunks_task.hpp"

namespace lapilli::speech {

// Transcribes one recording, in the language of its first window if none is given. A chunk longer than its first window
// is processed like a recording of its own. Segments come in order, once all chunks of a group are done.
// Refuses conditioning on earlier text.
inline Result<TranscribeOutput> transcribe_chunks(const std::shared_ptr<Model>& model, const TranscribeRequest& request,
                                                  std::span<const Chunk> chunks, uint32_t at_a_time) {
  if (request.recordings.size() != 1)
    return fail(ErrorCode::invalid_argument, "%u recordings: one is transcribed in chunks", request.recordings.size());
  ChunksRequest wanted;
  wanted.how = request;
  wanted.how.recordings.clear();
  wanted.recordings.push_back({request.recordings.front().frames, {chunks.begin(), chunks.end()}, nullptr, 0});
  wanted.at_a_time = at_a_time;
  LAPILLI_TRY(const auto job, ChunksTask::start(model, std::move(wanted)));
  LAPILLI_CHECK(job->run(request.progress));
  TranscribeOutput out = job->take();
  if (out.cancelled) return fail(ErrorCode::cancelled, "cancelled");
  LAPILLI_CHECK(Status(out.transcripts.front().status));
  return out;
}

}  // namespace lapilli::speech
