// A session with everything that is bound to it: what a search engine replays.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "generate/logits_pass.hpp"
#include "model/transformer.hpp"
#include "runtime/bind.hpp"
#include "runtime/session.hpp"
#include "runtime/upload.hpp"

namespace lapilli {

// What a workspace is made for. Equal keys share plans.
struct WorkspaceKey {
  model::SessionShape shape;
  uint32_t candidates = 1;
  bool sample = false, renormalize = false, capture = false, deterministic = false;
  bool narrow = false;  // steps for fewer sentences take over when so many have ended; not when capturing
  uint32_t steps_per_submit = 1;
  uint32_t encode_rows = 0;  // source ids that one admission brings at most
  uint32_t given_rows = 0;  // rows of given ids that are run at once; 0: none are given but the decoder start
  uint32_t given_passes = 0;  // of so many rows, that one admission may take
  uint32_t logits_rows = 0;  // rows of given ids whose logits one admission may ask for
  friend bool operator==(const WorkspaceKey&, const WorkspaceKey&) = default;
};
// Few distinct shapes keep plans few: lengths in steps that grow with the length.
uint32_t length_bucket(uint64_t n);
// Of a search for up to `running` sentences at a time, `waiting` more of which are prepared. The other fields of the shape
// are given; those that follow from them are filled in.
void complete_key(WorkspaceKey& key, uint32_t waiting);
// What a search for `sentences` sources of up to so many ids is made for, with the plainest options.
WorkspaceKey plain_key(uint32_t sentences, uint32_t beams, uint32_t source_positions, uint32_t target_positions);

struct WorkspacePlans {
  std::shared_ptr<const Plan> admit, start, step;
  std::vector<std::shared_ptr<const Plan>> encode;  // for encode_rows(), the most rows first
  std::shared_ptr<const Plan> given;  // null if no ids are given but the decoder start
  std::shared_ptr<const Plan> given_logits;  // null if nobody asks for logits
  graph::TensorId given_logits_out = graph::kNone;
  // The step for half the sentences, a quarter..., if the key wants them.
  std::vector<std::shared_ptr<const Plan>> narrow_steps;
  graph::TensorId logits = graph::kNone, scores = graph::kNone;  // kept if capturing
};

// A session's share of the device memory that a model may take; given back when the memory of its buffers is free again.
class MemoryShare {
 public:
  MemoryShare() = default;
  MemoryShare(std::shared_ptr<std::atomic<uint64_t>> held, uint64_t bytes) : held_(std::move(held)), bytes_(bytes) {}
  MemoryShare(MemoryShare&& other) noexcept : held_(std::move(other.held_)), bytes_(other.bytes_) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(held_, other.held_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryShare() {
    if (held_) held_->fetch_sub(bytes_);
  }

 private:
  std::shared_ptr<std::atomic<uint64_t>> held_;
  uint64_t bytes_ = 0;
};

// A session, the plans bound to it, and the areas by which the host sends it words.
struct Workspace {
  WorkspaceKey key;
  WorkspacePlans plans;
  std::unique_ptr<Session> session;
  std::unique_ptr<BoundPlan> admit, given, given_logits, start, step;
  std::vector<std::unique_ptr<BoundPlan>> encode;
  struct NarrowStep {
    std::unique_ptr<BoundPlan> plan;
    uint32_t sentences = 0;  // that it has room for
  };
  std::vector<NarrowStep> narrow_steps;
  // What is sent once, before anything else: step words, search state, grids.
  std::unique_ptr<UploadArea> first;
  std::vector<std::unique_ptr<UploadArea>> admissions, given_passes;
  std::vector<std::unique_ptr<LogitsPass>> logits_passes;
  // Where the session took over another one's sentences: the copy of what moved, and what must live until it is done.
  std::unique_ptr<vulkan::CommandRecording> move;
  std::unique_ptr<Workspace> moved_from;

  // The narrowest step with room for so many sentences, and encode plan with room for so many source ids.
  [[nodiscard]] const BoundPlan& step_for(uint32_t sentences) const;
  [[nodiscard]] const BoundPlan& encode_for(uint32_t rows) const;
};

}  // namespace lapilli
