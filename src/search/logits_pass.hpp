// Logits at prompt ids: the requested rows go through the decoder once more, up to the logits, which are copied to host
// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/run/bind.hpp"
#include "runtime/run/upload.hpp"

namespace lapilli {

// Writes these rows, at most as many as the plan has, to the states of a pass over prompt ids (StateKind::prompt,
// prompt_grids).
void put_prompt_rows(UploadArea& area, const Plan& plan, std::span<const uint32_t> rows);

// One such pass with its areas; may be submitted again once `busy` is not set.
class LogitsPass {
 public:
  // `given` is bound to the session's admission arena; `logits` is its output. Both outlive the pass.
  static Result<std::unique_ptr<LogitsPass>> create(const Session& session, const BoundPlan& prompt,
                                                    graph::TensorId logits);
  UploadArea& area() { return *area_; }
  // Runs after the plan: copies the logits to the host.
  [[nodiscard]] const vulkan::CommandRecording& copy() const { return *copy_; }
  // Once the pass is done: row `row` of those put into area(), one number per word of the vocabulary.
  [[nodiscard]] Result<std::span<const float>> read(size_t row) const;

  bool busy = false;  // maintained by the owner

 private:
  LogitsPass() = default;
  std::unique_ptr<UploadArea> area_;
  vulkan::Buffer logits_;
  uint64_t rows_ = 0, words_ = 0, stride_ = 0;
  std::unique_ptr<vulkan::CommandRecording> copy_;
};

}  // namespace lapilli
