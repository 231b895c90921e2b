// The plans of searches, compiled once for each key; their kernels are proven on the device before.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/plan.hpp"
#include "runtime/self_test.hpp"
#include "search/network_on_device.hpp"
#include "search/workspace_key.hpp"

namespace lapilli {

struct WorkspacePlans {
  WorkLimit cut{0};  // their dispatches and segments; see Pace::limit
  std::shared_ptr<const Plan> admit, start, step;
  std::vector<std::shared_ptr<const Plan>> encode;  // for encode_rows(), the most rows first
  std::shared_ptr<const Plan> given;                // null if no ids are given but the decoder start
  std::shared_ptr<const Plan> given_logits;         // null if nobody asks for logits
  graph::TensorId given_logits_out = graph::kNone;
  // The step for half the sentences, a quarter..., if the key wants them.
  std::vector<std::shared_ptr<const Plan>> narrow_steps;
  graph::TensorId logits = graph::kNone, scores = graph::kNone;  // kept if capturing
};

// Thread-safe.
class PlanCache {
 public:
  // The network outlives the cache.
  explicit PlanCache(const NetworkOnDevice& network) : network_(network) {}

  // The kernels of one kind of jobs on their way to being proven. The first job of a kind pays for the pipelines of all
  // its sizes, made in one batch, and for their self-test: a second bucket then creates none. Of one thread; may be
  // dropped at any time, and does not outlive the cache.
  class Preparation {
   public:
    Preparation(PlanCache& cache, const WorkspaceKey& key) : cache_(cache), kind_(kind_of(key)) {}
    // True once plans() of this kind need no test any more. Does not wait for the device.
    Result<bool> poll();
    // Waits, bounded, for what poll() was waiting for.
    Status wait() { return run_ ? run_->wait() : Status(); }

   private:
    PlanCache& cache_;
    WorkspaceKey kind_;
    std::optional<SelfTest::Run> run_;
  };
  // A preparation to its end, waiting.
  Status prepare(const WorkspaceKey& key);
  Result<WorkspacePlans> plans(const WorkspaceKey& key);

 private:
  [[nodiscard]] bool is_prepared(const WorkspaceKey& kind);
  [[nodiscard]] std::vector<std::shared_ptr<const Plan>> probe_plans(const WorkspaceKey& kind) const;
  const NetworkOnDevice& network_;
  std::mutex mutex_;
  std::vector<WorkspaceKey> prepared_;                        // kinds of jobs whose pipelines are there for every size
  std::list<std::pair<WorkspaceKey, WorkspacePlans>> plans_;  // newest first
};

}  // namespace lapilli
