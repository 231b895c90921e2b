// Texts (or ids) on their way to texts and ids: what translate() pumps. Tokenizes, gives the pieces to a BatchJob, and
// puts what comes back together, a slice a call.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "generate/batch_job.hpp"
#include "generate/pieces.hpp"
#include "generate/translate.hpp"
#include "search/search_options.hpp"
#include "search/token_stream.hpp"

namespace lapilli {

// What jobs will need at a time: sentences, ids of the longest source, end token included, and new ids of the longest
// target. 0: chosen.
struct JobShape {
  uint32_t inputs = 0, source_tokens = 0, target_tokens = 0;
};

// Of one thread at a time; cancel() may come from any.
class TranslationJob {
 public:
  // Of no inputs: the model becomes ready for jobs of this shape with the request's options (Job::prepare).
  static Result<std::unique_ptr<TranslationJob>> prepare(std::shared_ptr<Model> model, TranslateRequest request,
                                                         const JobShape& shape);
  // Refuses what concerns all inputs: options, a model without a tokenizer. What the inputs point to must outlive the
  // job. TranslateRequest::progress is for who pumps.
  static Result<std::unique_ptr<TranslationJob>> start(std::shared_ptr<Model> model, TranslateRequest request);

  // As Job's. The budget also bounds the time that is spent on texts, but for one input or piece.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  void rest();
  // Ends at the next pump(), with what was finished.
  void cancel() { cancelled_ = true; }
  // Of all inputs, or sentences of those that are split.
  [[nodiscard]] uint64_t done() const;
  [[nodiscard]] uint64_t total() const;
  // Ids that were streamed.
  [[nodiscard]] uint64_t tokens() const { return tokens_; }
  // After the end: what concerns the whole job; a job that was cancelled has ended well.
  [[nodiscard]] const Status& status() const { return status_; }
  // After the end: the result, once.
  Result<TranslateOutput> take();

 private:
  // A piece of an input.
  struct Unit {
    size_t input = 0, piece = 0;
    bool streamed = false;
  };
  struct Input {
    InputPieces pieces;
    std::vector<std::vector<TextSequence>> said;  // per piece
    size_t left = 0;                              // pieces that are not done
    bool told = false;                            // that it has ended
    std::optional<InputStream> stream;
  };
  enum class Phase : uint8_t { prepare, tokenize, keep, search, ended };

  TranslationJob(std::shared_ptr<Model> model, TranslateRequest request);
  Status read_options();
  Status read_inputs();

  Result<GenerateRequest> prepared_request(const JobShape& shape);

  Status step(double budget_us);
  Status go_on_preparing(double budget_us);
  Status tokenize(double budget_us);
  Status tokenize_one(size_t index);
  void add_units(size_t input);
  Status keep(double budget_us);
  [[nodiscard]] GenerateRequest plain_request(size_t sources) const;
  [[nodiscard]] GenerateRequest request();
  Status search(double budget_us);
  bool harvest_one();
  Status conclude();
  void count(const GenerateStats& made);

  [[nodiscard]] const InputPiece& source(size_t unit) const;
  void finish_unit(size_t unit, Status status);
  void join(size_t input);
  void tell(size_t input);
  void finish_search(std::vector<Hypothesis>& hypotheses, size_t unit);
  void collect(std::vector<TextSequence> sequences, size_t unit);
  [[nodiscard]] TextSequence kept_sequence(size_t unit) const;
  Result<TextSequence> make_sequence(Hypothesis& hypothesis, size_t unit);
  [[nodiscard]] bool loops(std::span<const int32_t> ids) const;
  Status pass_on(size_t unit, std::span<const int32_t> ids);
  Status hand_out(size_t input, const InputStream::Output& out);

  std::shared_ptr<Model> model_;
  TranslateRequest request_;
  const uint64_t total_;
  Clock::time_point started_ = Clock::now();
  Phase phase_ = Phase::tokenize;
  std::atomic<bool> cancelled_{false};
  bool stopped_ = false, taken_ = false;  // stopped: by the sink of the stream
  Status status_;

  Conventions conventions_;
  PieceOptions how_;
  GenerationConfig options_;
  std::shared_ptr<const ResolvedOptions> resolved_;
  SearchOptions search_;
  int32_t start_ = -1;
  std::vector<int32_t> prompt_;  // without the start token
  uint64_t failed_ = 0, units_done_ = 0, tokens_ = 0;
  std::vector<Input> inputs_;
  std::vector<Unit> units_;
  std::vector<size_t> order_, kept_;  // units that run, in this order, and those that do not
  size_t next_input_ = 0, next_kept_ = 0, next_ended_ = 0;
  std::optional<OnceStream> stream_;
  std::unique_ptr<Job> preparation_;
  std::unique_ptr<BatchJob> batch_;
  TranslateOutput out_;
};

}  // namespace lapilli
