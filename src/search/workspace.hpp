// A session with everything that is bound to it, as a search engine replays it.
#pragma once

#include <memory>
#include <vector>

#include "runtime/run/bind.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/upload.hpp"
#include "search/logits_pass.hpp"
#include "search/plan_cache.hpp"
#include "vulkan/device/memory_ledger.hpp"

namespace lapilli {

// A session, the plans bound to it, and the areas by which the host sends it words.
struct Workspace {
  WorkspaceKey key;
  WorkspacePlans plans;
  std::shared_ptr<vulkan::MemoryShare> share;  // of the session's memory
  std::unique_ptr<Session> session;
  std::unique_ptr<BoundPlan> admit, prompt, prompt_logits, start, step;
  std::vector<std::unique_ptr<BoundPlan>> encode;
  struct NarrowStep {
    std::unique_ptr<BoundPlan> plan;
    uint32_t sentences = 0;  // room for sentences
  };
  std::vector<NarrowStep> narrow_steps;
  // Sent once, before anything else: step words, search state, grids.
  std::unique_ptr<UploadArea> first;
  std::vector<std::unique_ptr<UploadArea>> admissions, prompt_passes;
  std::vector<std::unique_ptr<LogitsPass>> logits_passes;
  // For a session that took over another's sentences: the copy, and the old workspace until it is done.
  std::unique_ptr<vulkan::CommandRecording> move;
  std::unique_ptr<Workspace> moved_from;

  // The narrowest step with room for this many sentences, and encode plan with room for this many source ids.
  [[nodiscard]] const BoundPlan& step_for(uint32_t sentences) const;
  // Null: there is no encoder.
  [[nodiscard]] const BoundPlan* encode_for(uint32_t rows) const;
};

// Makes workspaces: plans from the cache, memory from the ledger. Thread-safe as these are.
class WorkspaceFactory {
 public:
  // All outlive the factory and what it makes.
  WorkspaceFactory(const NetworkOnDevice& network, PlanCache& plans, vulkan::MemoryLedger& memory)
      : network_(network), plans_(plans), memory_(memory) {}
  [[nodiscard]] const NetworkOnDevice& network() const { return network_; }
  [[nodiscard]] PlanCache& plans() const { return plans_; }
  [[nodiscard]] vulkan::MemoryLedger& memory() const { return memory_; }

  // The session's counters start at `first_counter`. Unproven kernels are tested first, waiting.
  Result<std::unique_ptr<Workspace>> make(const WorkspaceKey& key, uint32_t first_counter = 0);
  // Moves `old`'s sentences to a session with more positions; `key` differs in positions alone. If there is no memory
  // for larger caches, `old` is unchanged; on a later failure, `old` and its search are gone.
  Result<std::unique_ptr<Workspace>> grow(std::unique_ptr<Workspace>& old, const WorkspaceKey& key);

 private:
  Result<std::unique_ptr<Workspace>> begin(const WorkspaceKey& key, const Workspace* from = nullptr);
  Status bind(Workspace& w);
  static Status write_step_grids(Workspace& w);

  const NetworkOnDevice& network_;
  PlanCache& plans_;
  vulkan::MemoryLedger& memory_;
};

}  // namespace lapilli
