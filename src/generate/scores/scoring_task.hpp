// Given texts through a model that writes them: the logarithm of the probability that it gives each id behind those
// before it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "generate/forward_run.hpp"
#include "generate/scores/score_windows.hpp"
#include "generate/task.hpp"

namespace lapilli {

// The decoder's ids are scored. With an encoder, the first is the decoder's start, and `source` what it reads.
struct TextToScore {
  std::vector<int32_t> source, ids;
  bool marked = false;  // see score_windows()
};

struct TextScores {
  std::vector<float> log_probabilities;  // of each id; NaN: it has none, as nothing stands before it
  uint32_t windows = 0;
};

struct ScoringRequest {
  size_t texts = 0;
  // Fails for that text alone. Called in order; after a lost device, again for those that had not ended.
  std::function<Result<TextToScore>(size_t text)> text;
  // Called once for each text, in any order. An error is the text's.
  std::function<void(size_t text, Result<TextScores> scores)> on_result;
  ScoreWindowOptions windows;  // of a decoder alone; by default as long as the model reads, at most kScoreWindow
  uint32_t batch = 0;          // limit on windows in one pass; 0: automatic
  bool deterministic = false;  // a text has the same bits whatever runs beside it
};
constexpr uint32_t kScoreWindow = 2048;

// Counts texts.
class ScoringTask : public Task {
 public:
  // Refuses a model that writes no text, and windows that it does not read.
  static Result<std::unique_ptr<ScoringTask>> start(std::shared_ptr<Model> model, ScoringRequest request);

  [[nodiscard]] TaskProgress progress() const override { return {done_, over_.size(), tokens_}; }
  [[nodiscard]] const GenerateStats& stats() const { return stats_; }

 private:
  // A window that waits for its pass, or is in one.
  struct Piece {
    size_t text = 0;
    ScoreWindow window;
    std::vector<int32_t> source, ids;
    [[nodiscard]] size_t longest() const { return std::max(source.size(), ids.size()); }
  };
  // A text whose windows are not all back.
  struct Pending {
    TextScores scores;
    size_t missing = 0;
  };
  ScoringTask(std::shared_ptr<Model> model, ScoringRequest request);
  Status step(double budget_us) override;
  Status wait_for_device() override;
  Status begin_again(const FrontEnd& front) override;
  void release() override;
  [[nodiscard]] bool is_in_flight() const { return !round_.empty(); }
  bool gather(double budget_us);
  void cut(size_t text, Result<TextToScore> made);
  [[nodiscard]] Status check(const TextToScore& text) const;
  [[nodiscard]] uint32_t length_class(size_t ids) const;
  [[nodiscard]] uint32_t at_a_time(uint32_t longest) const;
  Status begin();
  Status begin_pass();
  Status retry(Status failed);
  void take_round();
  Status collect();
  void keep(const Piece& piece, std::span<const float> scores);
  void finish(size_t text, Result<TextScores> scores);

  ScoringRequest request_;
  size_t next_ = 0;             // the next text to cut
  std::vector<Piece> waiting_;  // the longest first, once gathered
  bool sorted_ = false;
  std::vector<Piece> round_;
  std::map<size_t, Pending> pending_;  // by text
  uint32_t most_rows_;                 // of a pass
  Clock::time_point begun_;            // of the round in flight
  std::unique_ptr<ForwardRun> pass_;
  PassRoom pass_room_, room_;  // of the pass, and for the round
  uint64_t done_ = 0, tokens_ = 0;
  GenerateStats stats_;
  std::vector<bool> over_;
};

}  // namespace lapilli
