// The base of the tasks that transcribe recordings: it holds their output and gives segments out.
#pragma once

#include "generate/task.hpp"
#include "speech/sound_features.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::speech {

// The sound settings of a model that continues a task; refuses one without.
Result<SoundConfig> sound_of(const FrontEnd& front);
// Features for it, on its device.
Result<std::shared_ptr<SoundFeatures>> make_features(const Model& model, const FrontEnd& front);

class SpeechTask : public Task {
 public:
  // The results so far.
  [[nodiscard]] const TranscribeOutput& output() const { return out_; }
  // After the end: the result, once; after an error, what was finished before.
  TranscribeOutput take() { return std::move(out_); }

 protected:
  SpeechTask(std::shared_ptr<Model> model, size_t recordings) : Task(std::move(model)) {
    out_.transcripts.resize(recordings);
  }
  void conclude() override { out_.cancelled = is_cut_short(); }
  // Passes a segment on and keeps it, without its looks: a long recording has too many.
  Status give(Segment segment, const std::function<Status(const Segment& segment)>& on_segment);
  [[nodiscard]] uint64_t tokens() const { return tokens_; }
  [[nodiscard]] TranscribeOutput& results() { return out_; }

 private:
  TranscribeOutput out_;
  uint64_t tokens_ = 0;
};

}  // namespace lapilli::speech
