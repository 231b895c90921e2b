// A search over the windows of some recordings, with its results: ids, probabilities, times.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "generate/batch.hpp"
#include "generate/forward_run.hpp"
#include "speech/transcribe.hpp"
#include "speech/word_times.hpp"

namespace lapilli::speech {

// Ids that end a window's text.
std::vector<int32_t> end_ids(const Model& model, const GenerationConfig& options);
// Ids from here on are not text: the first end id.
int32_t first_special(const Model& model, const GenerationConfig& options);

// A recording's window on its way through the attempts.
struct WindowSource {
  std::shared_ptr<const model::Features> features;
  std::shared_ptr<const EncodedSource> encoded;  // after the first search
  std::vector<int32_t> decoder_ids;
  uint32_t start_at = 0;     // index of the decoder start among them
  uint32_t sequence = 0;     // selects its random draws
  uint32_t frames = 0;       // of the recording
  int64_t timed_frames = 0;  // frames that ids get times in; negative: the window begins this far after their end
};

struct WindowResult {
  Status status;             // an error of this window alone, which has no other results then
  std::vector<int32_t> ids;  // new ids, with the end token
  std::vector<float> scores;
  std::vector<double> times;         // seconds from the window's start, if asked for
  std::vector<float> probabilities;  // of ids among text ids, if words are asked for
  AttentionRows attention;           // the mean of the alignment heads, a row for each id but the first, if asked for
  std::optional<double> no_speech, average;
};

// A request's searches of its windows, as a state machine that never waits for the device. For one thread.
class WindowSearch {
 public:
  // The request must outlive it.
  WindowSearch(std::shared_ptr<Model> model, const TranscribeRequest& request);
  // Measures that thresholds need: without them, the logits of the start and the scores of every step are not read.
  struct Wanted {
    std::optional<double> temperature;
    bool no_speech = false;
    bool average = false;
    bool keep_encoded = false;
  };
  // The sources must live until the end; if wanted, their encoded form is kept in them.
  void begin(std::vector<WindowSource*> sources, const Wanted& wanted);
  // As Search's. True: results() are valid.
  Result<bool> poll(double budget_us = std::numeric_limits<double>::infinity());
  Status wait();
  // By window, in order.
  [[nodiscard]] std::vector<WindowResult>& results() { return results_; }
  // Covers the searches since the last begin().
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
  size_t part_ = 0;  // windows searched at a time
  bool steps_ = false, fills_beams_ = false;
  std::unique_ptr<Batch> batch_;
  // For the reference's padding of batches with beams (fill_batches): the ids of the first window's first beam, by
  // step.
  std::vector<std::vector<int32_t>> first_beam_;
  size_t timed_ = 0;  // windows with times so far
  std::vector<AttentionQueries> queries_;
  std::unique_ptr<ForwardRun> forward_;
};

}  // namespace lapilli::speech
