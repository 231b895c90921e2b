// The plans of searches, compiled once for each key; their kernels are proven on the device before.
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

// What plans were compiled by that may be otherwise by now.
struct PlanBasis {
  WorkLimit cut{0};      // their dispatches and segments; see Pace::limit
  size_t refusals = 0;   // verdicts that were known
  bool indirect = true;  // the device can be relied on with indirect dispatches

  static PlanBasis of(vulkan::Device& device);
  bool operator==(const PlanBasis&) const = default;
};

struct WorkspacePlans {
  PlanBasis basis;
  std::shared_ptr<const Plan> admit, start, step;
  std::vector<std::shared_ptr<const Plan>> encode;  // for encode_rows(), the most rows first
  std::shared_ptr<const Plan> given;                // null if no ids are given but the decoder start
  std::shared_ptr<const Plan> given_logits;         // null if nobody asks for logits
  graph::TensorId given_logits_out = graph::kNone;
  // The step for half the sentences, a quarter..., if the key wants them.
  std::vector<std::shared_ptr<const Plan>> narrow_steps;
  graph::TensorId logits = graph::kNone, scores = graph::kNone;  // kept if capturing
  [[nodiscard]] std::vector<std::shared_ptr<const Plan>> all() const;
};

// Thread-safe.
class PlanCache {
 public:
  // The network outlives the cache.
  explicit PlanCache(const NetworkOnDevice& network) : network_(network) {}

  // The plans of a search on their way to being proven: they are compiled, and those of their kernels that the device
  // has no verdict of yet are made in one batch and tested. What no plan at hand runs is neither made nor tested. Of
  // one thread; may be dropped at any time, and does not outlive the cache.
  class Preparation {
   public:
    Preparation(PlanCache& cache, const WorkspaceKey& key) : cache_(cache), key_(key) {}
    [[nodiscard]] const WorkspaceKey& key() const { return key_; }
    // True once plans() has them. Does not wait for the device.
    Result<bool> poll();
    // Waits, bounded, for what poll() was waiting for.
    Status wait() { return run_ ? run_->wait() : Status(); }
    // What that is, for who may not wait here; none if it is not submitted yet, or another thread's.
    [[nodiscard]] std::optional<vulkan::Ticket> ticket() const { return run_ ? run_->ticket() : std::nullopt; }

   private:
    PlanCache& cache_;
    WorkspaceKey key_;
    WorkspacePlans plans_;
    std::optional<SelfTest::Run> run_;
  };
  // A preparation to its end, waiting if the kernels are not proven yet.
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
