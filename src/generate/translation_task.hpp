// The translation of texts (or ids), as translate() pumps it. Tokenizes, passes the parts to a Batch, and joins the
// results, a slice per call. If the device is lost, the job can continue with another model of the same files: finished
// results stay, and partial output is neither repeated nor contradicted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "generate/batch.hpp"
#include "generate/input_parts.hpp"
#include "generate/task.hpp"
#include "generate/translate.hpp"
#include "search/search_options.hpp"
#include "search/token_stream.hpp"

namespace lapilli {

// Sizes that jobs will need at a time: sentences, ids of the longest source with its end token, and new ids of the
// longest target. 0: automatic.
struct JobShape {
  uint32_t inputs = 0, source_tokens = 0, target_tokens = 0;
};

// Counts inputs, or sentences of split inputs. The budget of pump() also bounds the time spent on texts, except for one
// input or part.
class TranslationTask : public Task {
 public:
  // A job without inputs that prepares the model for jobs of this shape with the request's options (Search::prepare).
  static Result<std::unique_ptr<TranslationTask>> prepare(std::shared_ptr<Model> model, TranslateRequest request,
                                                          const JobShape& shape);
  // Refuses errors that concern all inputs: options, a model without a tokenizer. The inputs' memory must outlive the
  // job. Does not call TranslateRequest::progress, which is left to the caller of pump().
  static Result<std::unique_ptr<TranslationTask>> start(std::shared_ptr<Model> model, TranslateRequest request);

  [[nodiscard]] TaskProgress progress() const override;
  // After the end: the result, once.
  Result<TranslateOutput> take();

 private:
  // A part of an input.
  struct Unit {
    size_t input = 0, part = 0;
    bool streamed = false;
    bool done = false;
    bool stopped = false;   // by a stop text
    bool departed = false;  // its second search differs from what was given out
  };
  struct Input {
    InputParts parts;
    std::vector<std::vector<TextSequence>> results;  // per part
    size_t left = 0;                                 // parts that are not done
    bool reported = false;                           // input_ended was called
    std::optional<InputStream> stream;
  };
  enum class Phase : uint8_t { prepare, tokenize, keep, search };

  TranslationTask(std::shared_ptr<Model> model, TranslateRequest request);
  Status read_options();
  Status read_inputs();

  Result<GenerateRequest> prepared_request() const;
  Status begin_preparation();

  Status step(double budget_us) override;
  Status step_cancelled(double budget_us) override;
  Status wait_for_device() override;
  // The search idles, and texts are read meanwhile.
  [[nodiscard]] bool idles_in_pauses() const override { return false; }
  Status begin_again(const FrontEnd& front) override;
  void conclude() override;
  void release() override;
  Status go_on_preparing(double budget_us);
  Status tokenize(double budget_us);
  Result<InputParts> checked_parts(const TextInput& input);
  Status tokenize_one(size_t index);
  void add_units(size_t input);
  Status keep(double budget_us);
  Result<InputParts> chat_parts(const TextInput& input);
  Status read_chat();
  void tell_undrawn() const;
  [[nodiscard]] std::vector<int32_t> chat_ends() const;
  [[nodiscard]] bool watches() const { return request_.stream || !request_.answer.stops.empty(); }
  void stop_if_all_are_stopped();
  void finish_stopped();
  [[nodiscard]] GenerateRequest plain_request(size_t sources) const;
  [[nodiscard]] GenerateRequest request();
  [[nodiscard]] std::vector<int32_t> before_output(size_t unit) const;
  void set_prompts(GenerateRequest& g) const;
  void force_prompt(GenerateRequest& g) const;
  Status begin_search();
  Status begin_search_again();
  Status search(double budget_us);
  Status take_ids(size_t unit, std::span<const int32_t> ids);
  bool harvest_one();
  bool departs(const std::vector<Hypothesis>& hypotheses, size_t unit);
  bool finish_if_complete(size_t unit);
  void rewind();
  void count(const GenerateStats& made);

  [[nodiscard]] const InputPart& source(size_t unit) const;
  void finish_unit(size_t unit, Status status);
  void join(size_t input);
  void tell(size_t input);
  void finish_search(std::vector<Hypothesis>& hypotheses, size_t unit);
  void collect(std::vector<TextSequence> sequences, size_t unit);
  [[nodiscard]] TextSequence kept_sequence(size_t unit) const;
  Result<TextSequence> make_sequence(Hypothesis& hypothesis, size_t unit);
  Status cut_at_stop(TextSequence& sequence) const;
  [[nodiscard]] bool loops(std::span<const int32_t> ids) const;
  Status pass_on(size_t unit, std::span<const int32_t> ids);
  Status hand_out(size_t input, const InputStream::Output& out);

  const std::shared_ptr<const Tokenizer> tokenizer_;
  TranslateRequest request_;
  const uint64_t total_;
  Clock::time_point started_ = Clock::now();
  Phase phase_ = Phase::tokenize;
  bool stopped_ = false, taken_ = false;  // stopped: by the stream's sink
  bool stopping_ = false;                 // every text that runs has come to a stop text
  const bool alone_;                      // the model is a decoder alone, which continues the inputs

  Conventions conventions_;
  PartOptions how_;
  GenerationConfig options_;
  std::shared_ptr<const ResolvedOptions> resolved_;
  SearchOptions search_;
  int32_t start_ = -1;
  uint32_t default_new_ = 0;     // new ids of an answer, if nobody says how many; 0: the model's own
  JobShape shape_;               // of a preparation
  std::vector<int32_t> prompt_;  // without the start token
  uint64_t failed_ = 0, units_done_ = 0, tokens_ = 0;
  std::vector<Input> inputs_;
  std::vector<Unit> units_;
  std::vector<size_t> order_, kept_;  // units that run, in this order, and those that do not
  size_t next_input_ = 0, next_kept_ = 0, next_ended_ = 0;
  uint64_t done_before_ = 0;  // units, when the search began
  bool resumed_ = false;
  bool forced_ = false;           // this search continues after what was given out
  std::vector<size_t> departed_;  // units to be searched that way
  std::optional<OnceStream> stream_;
  std::unique_ptr<Search> preparation_;
  std::unique_ptr<Batch> batch_;
  TranslateOutput out_;
};

}  // namespace lapilli
