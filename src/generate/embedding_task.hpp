// Vectors of texts, by an encoder alone. Texts of any lengths share a pass, one behind the other, without padding.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "generate/forward_run.hpp"
#include "generate/task.hpp"
#include "generate/text_encoder.hpp"
#include "generate/translate.hpp"

namespace lapilli {

struct EmbeddingOptions {
  PromptChoice prompt;
  uint32_t dimensions = 0;     // the first columns alone (Matryoshka: Kusupati et al. 2022); 0: all
  bool normalize = false;      // to Euclidean length 1, also where the directory's steps do not
  uint32_t batch = 0;          // limit on texts in one pass; 0: automatic
  bool deterministic = false;  // a text has the same bits whatever runs beside it
};

struct EmbeddingResult {
  Status status;  // the reason if there is no vector
  std::vector<float> values;
  uint32_t tokens = 0;  // with those that the tokenizer adds
  bool cut = false;     // the text was longer than the model reads
};

struct EmbeddingRequest {
  std::vector<TextInput> inputs;  // their memory lives as long as the task
  EmbeddingOptions options;
  // Called with each result in the calling thread, in order.
  std::function<void(size_t input, const EmbeddingResult& result)> on_result;
};

// Counts inputs.
class EmbeddingTask : public Task {
 public:
  // Refuses a model that makes no vectors of texts, and options that do not fit it.
  static Result<std::unique_ptr<EmbeddingTask>> start(std::shared_ptr<Model> model, const SentenceSettings& settings,
                                                      EmbeddingRequest request);

  [[nodiscard]] TaskProgress progress() const override { return {done_, results_.size(), tokens_}; }
  [[nodiscard]] const GenerateStats& stats() const { return stats_; }
  // After the end, once: a result for each input; ErrorCode::cancelled for those that had not ended.
  std::vector<EmbeddingResult> take() { return std::move(results_); }

 private:
  // Texts that share a pass.
  struct Round {
    std::vector<size_t> inputs;
    std::vector<std::vector<int32_t>> ids;
    uint32_t rows = 0, longest = 0;
    bool full = false;
  };
  EmbeddingTask(std::shared_ptr<Model> model, EmbeddingRequest request);
  Status read_options(const SentenceSettings& settings);
  Status step(double budget_us) override;
  Status wait_for_device() override;
  Status begin_again(const FrontEnd& front) override;
  void release() override;
  [[nodiscard]] bool is_in_flight() const { return !round_.inputs.empty(); }
  bool gather(double budget_us);
  void gather_one();
  Result<EncodedText> ids_of(size_t input) const;
  bool add(size_t input, EncodedText& text);
  Status begin();
  [[nodiscard]] PassRoom room() const;
  Status collect();
  Status keep_vectors(const ForwardTensor& vectors);
  [[nodiscard]] Status finish_vector(EmbeddingResult& result) const;
  void finish(size_t input, Status status);

  EmbeddingRequest request_;
  std::optional<TextEncoder> encoder_;
  uint32_t width_ = 0;            // of the model's vectors
  size_t next_ = 0;               // the next input to encode
  std::optional<EncodedText> held_;  // of the input `next_`, which did not fit the round before
  Round coming_, round_;          // being gathered; in flight
  std::unique_ptr<ForwardRun> pass_;
  PassRoom pass_room_;
  uint64_t done_ = 0, tokens_ = 0;
  GenerateStats stats_;
  std::vector<bool> over_;
  std::vector<EmbeddingResult> results_;
};

// The width of the model's vectors; 0: it makes none of texts.
uint32_t embedding_width(const model::Config& config);

}  // namespace lapilli
