// One search over the windows of some recordings, and what it says of each: ids, probabilities, when ids were heard.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "speech/transcribe.hpp"

namespace lapilli::speech {

// A window of one recording, on its way through the attempts.
struct WindowSource {
  std::shared_ptr<const model::Features> features;
  std::shared_ptr<const EncodedSource> encoded;  // after the first search
  std::vector<int32_t> decoder_ids;
  uint32_t start_at = 0;  // where the decoder's start stands among them
  uint32_t sequence = 0;  // the number that its draws go by
  uint32_t frames = 0;    // of the recording
  int64_t heard = 0;      // that times of ids lie in; below 0: the window begins so far behind their end
};

struct WindowResult {
  std::vector<int32_t> ids;  // new ones, the end token included
  std::vector<float> scores;
  std::vector<double> times;  // seconds from the window's start, if asked for
  std::optional<double> no_speech, average;
};

// What of a request the searches of its windows go by.
class WindowSearch {
 public:
  WindowSearch(std::shared_ptr<Model> model, const TranscribeRequest& request);
  // Measures that thresholds ask for: without them the logits of the start and the scores of every step are not looked
  // at.
  struct Wanted {
    std::optional<double> temperature;
    bool no_speech = false;
    bool average = false;
    bool keep_encoded = false;
  };
  // Each window's result, in order; sources that were not encoded are then.
  Result<std::vector<WindowResult>> run(std::span<WindowSource*> sources, const Wanted& wanted) const;

 private:
  [[nodiscard]] GenerateRequest request_for(std::span<WindowSource* const> sources, const Wanted& wanted) const;
  Status search(std::span<WindowSource*> sources, const Wanted& wanted, std::vector<WindowResult>& results) const;
  Status add_times(std::span<WindowSource* const> sources, std::vector<WindowResult>& results) const;
  Result<std::vector<double>> times_of(const WindowSource& source, const std::vector<int32_t>& ids) const;

  std::shared_ptr<Model> model_;
  const TranscribeRequest& request_;
};

}  // namespace lapilli::speech
