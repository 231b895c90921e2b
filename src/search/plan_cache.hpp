// The plans of searches, compiled once for each key, with kernels proven on the device.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/check/self_test.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/run/pace.hpp"
#include "search/network_on_device.hpp"
#include "search/workspace_key.hpp"

namespace lapilli {

// Inputs of a compilation that may change later.
struct PlanBasis {
  WorkLimit cut{0};      // limit on dispatches and segments; see Pace::limit
  size_t refusals = 0;   // number of verdicts known
  bool indirect = true;  // the device's indirect dispatches are reliable

  static PlanBasis of(vulkan::Device& device);
  bool operator==(const PlanBasis&) const = default;
};

struct WorkspacePlans {
  PlanBasis basis;
  std::shared_ptr<const Plan> admit, start, step;
  std::vector<std::shared_ptr<const Plan>> encode;  // for encode_rows(), the most rows first
  std::shared_ptr<const Plan> prompt;               // null if only the decoder start is given
  std::shared_ptr<const Plan> prompt_logits;        // null if no logits are asked for
  graph::TensorId prompt_logits_out = graph::kNone;
  // The step for half the sentences, a quarter..., if the key asks for them.
  std::vector<std::shared_ptr<const Plan>> narrow_steps;
  graph::TensorId logits = graph::kNone, scores = graph::kNone;  // set when capturing
  [[nodiscard]] std::vector<std::shared_ptr<const Plan>> all() const;
};

// Thread-safe.
class PlanCache {
 public:
  // The network outlives the cache.
  explicit PlanCache(const NetworkOnDevice& network) : network_(network) {}

  // Compiles a search's plans and proves their kernels: those without a verdict on this device are built in one batch
  // and tested. Kernels that none of these plans use are neither built nor tested. For one thread; may be dropped at
  // any time, and must not outlive the cache.
  class Preparation {
   public:
    Preparation(PlanCache& cache, const WorkspaceKey& key) : cache_(cache), key_(key) {}
    [[nodiscard]] const WorkspaceKey& key() const { return key_; }
    // True once plans() has them. Does not wait for the device.
    Result<bool> poll();
    // Waits, bounded, for what poll() was waiting for.
    Status wait() { return run_ ? run_->wait() : Status(); }
    // The submission that wait() waits for, for callers that may not block; none if it is not submitted yet, or belongs
    // to another thread.
    [[nodiscard]] std::optional<vulkan::Ticket> ticket() const { return run_ ? run_->ticket() : std::nullopt; }

   private:
    PlanCache& cache_;
    WorkspaceKey key_;
    WorkspacePlans plans_;
    std::optional<SelfTest::Run> run_;
  };
  // Runs a preparation to its end, waiting if the kernels are not proven yet.
  Result<WorkspacePlans> plans(const WorkspaceKey& key);

 private:
  [[nodiscard]] std::optional<WorkspacePlans> find(const WorkspaceKey& key);
  [[nodiscard]] Result<WorkspacePlans> compile_all(const WorkspaceKey& key) const;
  void remember(const WorkspaceKey& key, const WorkspacePlans& plans);
  const NetworkOnDevice& network_;
  std::mutex mutex_;
  std::list<std::pair<WorkspaceKey, WorkspacePlans>> plans_;  // newest first
};

}  // namespace lapilli
