// Texts through an encoder alone, to what one of its heads makes of them. Texts of any lengths share a pass, one behind
// the other, without padding.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "generate/encoders/text_encoder.hpp"
#include "generate/forward_run.hpp"
#include "generate/task.hpp"

namespace lapilli {

struct EncodingRequest {
  size_t sources = 0;
  model::HeadKind head = model::HeadKind::sentences;
  // Makes the ids of a source, or fails for that source alone. Called in order; after a lost device, again for those
  // that had not ended.
  std::function<Result<EncodedText>(size_t source)> source;
  // Called once for each source with the head's numbers: one row, or one for each id. An error is the source's.
  std::function<void(size_t source, Result<std::vector<float>> numbers)> on_result;
  uint32_t most_ids = 0;       // of a source; 0: any number
  uint32_t prompt_rows = 0;    // see ForwardRequest
  uint32_t batch = 0;          // limit on sources in one pass; 0: automatic
  bool deterministic = false;  // a source has the same bits whatever runs beside it
};

// Counts sources.
class EncodingTask : public Task {
 public:
  // Refuses a model without such a head.
  static Result<std::unique_ptr<EncodingTask>> start(std::shared_ptr<Model> model, EncodingRequest request);

  [[nodiscard]] TaskProgress progress() const override { return {done_, over_.size(), tokens_}; }
  [[nodiscard]] const GenerateStats& stats() const { return stats_; }

 private:
  // Sources that share a pass.
  struct Round {
    std::vector<size_t> sources;
    std::vector<std::vector<int32_t>> ids;
    std::vector<std::vector<uint32_t>> types;
    std::vector<uint32_t> lengths;  // of the ids
    uint32_t rows = 0, longest = 0;
    bool full = false;
    [[nodiscard]] PassRoom need() const { return {static_cast<uint32_t>(sources.size()), rows, longest}; }
  };
  EncodingTask(std::shared_ptr<Model> model, EncodingRequest request);
  Status step(double budget_us) override;
  Status wait_for_device() override;
  Status begin_again(const FrontEnd& front) override;
  void release() override;
  [[nodiscard]] bool is_in_flight() const { return !round_.sources.empty(); }
  [[nodiscard]] uint32_t at_a_time() const;
  bool gather(double budget_us);
  void gather_one();
  bool add(size_t source, EncodedText& text);
  Status begin();
  [[nodiscard]] PassRoom room() const;
  Status collect();
  Status hand_over(const ForwardTensor& output);
  void finish(size_t source, Result<std::vector<float>> numbers);

  EncodingRequest request_;
  size_t next_ = 0;                  // the next source to encode
  std::optional<EncodedText> held_;  // of the source `next_`, which did not fit the round before
  Round coming_, round_;             // being gathered; in flight
  std::unique_ptr<ForwardRun> pass_;
  PassRoom pass_room_;
  uint64_t done_ = 0, tokens_ = 0;
  GenerateStats stats_;
  std::vector<bool> over_;
};

// Fails for a model that has no such head; the error names the commands that serve it.
Status check_head(const model::Config& config, model::HeadKind kind);
// The width of the model's vectors of texts; 0: it makes none.
uint32_t embedding_width(const model::Config& config);

}  // namespace lapilli
