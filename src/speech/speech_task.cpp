#include "speech/speech_task.hpp"

#include <utility>

namespace lapilli::speech {

Result<SoundConfig> sound_of(const FrontEnd& front) {
  if (front.sound) return *front.sound;
  return fail(ErrorCode::invalid_argument, "the job cannot continue with this model, which takes no sound");
}

Result<std::shared_ptr<SoundFeatures>> make_features(const Model& model, const FrontEnd& front) {
  LAPILLI_TRY(const auto sound, sound_of(front));
  LAPILLI_TRY(auto features, SoundFeatures::create(model.device(), sound));
  return std::shared_ptr<SoundFeatures>(std::move(features));
}

Status SpeechTask::give(Segment segment, const std::function<Status(const Segment& segment)>& on_segment) {
  tokens_ += segment.ids.size();
  if (on_segment) LAPILLI_CHECK(on_segment(segment));
  segment.attention.reset();
  out_.transcripts[segment.recording].segments.push_back(std::move(segment));
  return {};
}

}  // namespace lapilli::speech
