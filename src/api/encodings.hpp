// Work on texts by an EncodingTask. One class for each task; they differ in the texts that they make of an input, and
// in its result.
#pragma once

#include <optional>
#include <vector>

#include "api/work.hpp"
#include "base/clock.hpp"
#include "generate/encoders/encoding_task.hpp"

namespace lapilli::api {

class Encodings : public Work {
 public:
  [[nodiscard]] Task& task() const override { return *task_; }
  Result<WorkOutput> take() override;

 protected:
  // Refuses options that the task does not read, and models without such a head.
  Status begin(WorkRequest from, EncoderTask task, model::HeadKind head);
  // The texts of input `i`: itself, unless a class makes others of it. Sets `tokens` and `cut` of its result.
  virtual Result<std::vector<EncodedText>> texts_of(size_t i);
  // Turns the numbers of input `i` into its result.
  virtual Status use(size_t i, HeadNumbers numbers) = 0;
  // Forgets what texts_of() has kept of an input that has ended.
  virtual void forget(size_t) {}

  [[nodiscard]] const Input& input(size_t i) const { return inputs_[i]; }
  [[nodiscard]] EncodedInput& result(size_t i) { return results_[i]; }
  [[nodiscard]] const lapilli_encoder_options& options() const { return options_; }
  [[nodiscard]] const TextEncoder& encoder() const { return *encoder_; }

 private:
  EncodingRequest request_for(const WorkRequest& from, model::HeadKind head);
  Result<std::vector<EncodedText>> source_of(size_t i);
  void keep(size_t i, Result<HeadNumbers> numbers);
  Status checked(size_t i, HeadNumbers numbers);
  void tell_end(size_t i);

  std::optional<TextEncoder> encoder_;
  lapilli_encoder_options options_{};  // its pointers are those of the call, and end with it
  std::vector<Input> inputs_;
  WorkSinks sinks_;
  std::vector<bool> reported_;
  std::vector<EncodedInput> results_;
  Clock::time_point started_ = Clock::now();
  std::unique_ptr<EncodingTask> task_;
};

// Classes that the model was not trained for: options.labels.
Result<std::unique_ptr<Work>> start_by_labels(WorkRequest request);
Result<std::unique_ptr<Work>> start_tags(WorkRequest request);
Result<std::unique_ptr<Work>> start_answers(WorkRequest request);
Result<std::unique_ptr<Work>> start_fills(WorkRequest request);

}  // namespace lapilli::api
