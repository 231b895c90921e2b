// Texts through an encoder alone, to what one of its heads makes of them. Texts of any lengths share a pass, one behind
// the other, without padding.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "generate/encoders/text_encoder.hpp"
#include "generate/forward_run.hpp"
#include "generate/task.hpp"

namespace lapilli {

// The head's numbers for each text of a source: one row, or one for each id, or for each that was chosen.
using HeadNumbers = std::vector<std::vector<float>>;

struct EncodingRequest {
  size_t sources = 0;
  model::HeadKind head = model::HeadKind::sentences;
  // Makes the texts of a source, at least one: windows of a long text, or pairs with each label. Fails for that source
  // alone. Called in order; after a lost device, again for those that had not ended.
  std::function<Result<std::vector<EncodedText>>(size_t source)> source;
  // Called once for each source. An error is the source's.
  std::function<void(size_t source, Result<HeadNumbers> numbers)> on_result;
  uint32_t most_ids = 0;       // of a text; 0: any number
  uint32_t prompt_rows = 0;    // see ForwardRequest
  uint32_t batch = 0;          // limit on texts in one pass; 0: automatic
  bool deterministic = false;  // a source has the same bits whatever runs beside it
};

// The texts of a source that is one text.
Result<std::vector<EncodedText>> one_text(Result<EncodedText> text);

// Counts sources.
class EncodingTask : public Task {
 public:
  // Refuses a model without such a head.
  static Result<std::unique_ptr<EncodingTask>> start(std::shared_ptr<Model> model, EncodingRequest request);

  [[nodiscard]] TaskProgress progress() const override { return {done_, over_.size(), tokens_}; }
  [[nodiscard]] const GenerateStats& stats() const { return stats_; }

 private:
  // A text of a source in a round.
  struct Piece {
    size_t source = 0, number = 0;
    uint32_t rows = 0, head_rows = 0;  // its ids, and the chosen ones
  };
  // Texts that share a pass.
  struct Round {
    std::vector<Piece> pieces;
    std::vector<std::vector<int32_t>> ids;
    std::vector<std::vector<uint32_t>> types, head_rows;
    PassRoom need;
    bool full = false;
  };
  // A source whose texts are not all back.
  struct Pending {
    HeadNumbers numbers;
    size_t missing = 0;
  };
  EncodingTask(std::shared_ptr<Model> model, EncodingRequest request);
  Status step(double budget_us) override;
  Status wait_for_device() override;
  Status begin_again(const FrontEnd& front) override;
  void release() override;
  [[nodiscard]] bool is_in_flight() const { return !round_.pieces.empty(); }
  [[nodiscard]] uint32_t at_a_time() const;
  bool gather(double budget_us);
  void gather_one();
  bool hold();
  [[nodiscard]] bool has_room_for(const EncodedText& text) const;
  void add(EncodedText& text);
  Status begin();
  ForwardRequest take_round();
  [[nodiscard]] PassRoom room() const;
  Status collect();
  Status hand_over(const ForwardTensor& output);
  void keep(const Piece& piece, std::vector<float> numbers);
  void finish(size_t source, Result<HeadNumbers> numbers);

  EncodingRequest request_;
  uint32_t head_rows_at_most_ = 0;     // in a pass
  size_t next_ = 0;                    // the next source to encode
  std::vector<EncodedText> held_;      // texts of the source `next_`, with
  size_t held_from_ = 0;               // the first that is in no round yet
  std::map<size_t, Pending> pending_;  // by source
  Round coming_, round_;               // being gathered; in flight
  Clock::time_point begun_;            // of the round in flight
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
