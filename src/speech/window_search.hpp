// One search over the windows of some recordings, and what it says of each: ids, probabilities, when ids were heard.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "generate/batch_job.hpp"
#include "generate/forward_job.hpp"
#include "speech/transcribe.hpp"
#include "speech/word_times.hpp"

namespace lapilli::speech {

// What ends a window's text.
std::vector<int32_t> end_ids(const Model& model, const GenerationConfig& options);
// Ids from here on are no text: the first end.
int32_t first_special(const Model& model, const GenerationConfig& options);

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
  Status status;             // an error of this window alone: there is nothing else then
  std::vector<int32_t> ids;  // new ones, the end token included
  std::vector<float> scores;
  std::vector<double> times;         // seconds from the window's start, if asked for
  std::vector<float> probabilities;  // of ids among those of text, if words are asked for
  AttentionRows looks;               // the mean of the alignment heads, a row for each id but the first, if asked for
  std::optional<double> no_speech, average;
};

// What of a request the searches of its windows go by. A state machine that never waits for the device; of one thread.
class WindowSearch {
 public:
  // The request must outlive it.
  WindowSearch(std::shared_ptr<Model> model, const TranscribeRequest& request);
  // Measures that thresholds ask for: without them the logits of the start and the scores of every step are not looked
  // at.
  struct Wanted {
    std::optional<double> temperature;
    bool no_speech = false;
    bool average = false;
    bool keep_encoded = false;
  };
  // The sources must live until the end; those that were not encoded are then, if that is wanted.
  void begin(std::vector<WindowSource*> sources, const Wanted& wanted);
  // As Job's. True: results() are there.
  Result<bool> poll(double budget_us = std::numeric_limits<double>::infinity());
  Status rest();
  // Each window's, in order.
  [[nodiscard]] std::vector<WindowResult>& results() { return results_; }
  // Of what begin() began last.
  [[nodiscard]] const GenerateStats& stats() const { return stats_; }

 private:
  [[nodiscard]] GenerateRequest request_for(std::span<WindowSource* const> sources) const;
  [[nodiscard]] std::span<WindowSource* const> part() const {
    return std::span(sources_).subspan(results_.size(), part_);
  }
  Status begin_part();
  Status end_part();
  Result<WindowResult> result_of(GenerateOutput& out, size_t number);
  Result<bool> poll_times();
  [[nodiscard]] std::optional<ForwardRequest> times_request(size_t number) const;
  Status end_times();
  [[nodiscard]] std::vector<float> probabilities_of(const ForwardTensor& logits) const;

  std::shared_ptr<Model> model_;
  const TranscribeRequest& request_;
  std::vector<WindowSource*> sources_;
  Wanted wanted_;
  std::vector<WindowResult> results_;
  GenerateStats stats_;
  size_t part_ = 0;  // windows that are searched at a time
  bool steps_ = false, fills_beams_ = false;
  std::unique_ptr<BatchJob> batch_;
  // As the reference fills rows of batches with beams (fill_batches): the ids of the first window's first beam, a step
  // each.
  std::vector<std::vector<int32_t>> first_beam_;
  size_t timed_ = 0;  // windows whose times are there
  std::vector<AttentionQueries> queries_;
  std::unique_ptr<ForwardJob> forward_;
};

}  // namespace lapilli::speech
