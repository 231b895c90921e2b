// The engines of a model's searches: searches of one kind share them, and unused ones are kept for the next search.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "search/engine.hpp"
#include "search/prefix_cache.hpp"
#include "search/workspace.hpp"

namespace lapilli {

// Thread-safe.
class EnginePool {
 public:
  // The factory outlives the pool.
  explicit EnginePool(WorkspaceFactory& workspaces)
      : workspaces_(workspaces), prefixes_(workspaces.network(), workspaces.memory()) {}

  struct Wanted {
    WorkspaceKey key;
    uint32_t sentences = 0;
    // Keeps the engine as long as the pool lives, for searches of this many sources at a time: searches that fit it
    // find it whatever other engines there are.
    std::optional<uint32_t> reserve_for;
  };
  // Gets a search an engine: one with room, or a new one, whose kernels are proven first. Unused engines are kept for
  // the next search of their kind; the oldest are dropped. For one thread; may be dropped at any time, and must not
  // outlive the pool.
  class Taking {
   public:
    Taking(EnginePool& pool, const Wanted& wanted);
    // Null: kernels are on trial. Does not wait for the device. out_of_memory if the memory limit or the device has no
    // room, even without the unused engines.
    Result<std::shared_ptr<SearchEngine>> poll();
    // Waits, bounded, for what poll() was waiting for.
    Status wait() { return preparation_->wait(); }

   private:
    void prepare(const WorkspaceKey& key);
    void widen(uint32_t others);
    bool narrow();
    Result<std::shared_ptr<SearchEngine>> make();
    [[nodiscard]] bool widened() const { return !narrower_.empty(); }
    EnginePool& pool_;
    const Wanted wanted_;
    std::vector<WorkspaceKey> narrower_;  // to be tried next where a session with room for others is too large
    bool may_widen_, made_room_ = false;
    std::optional<PlanCache::Preparation> preparation_;
  };
  // Drops unused engines to make room, except reserved ones, and kept prompts.
  void drop_free();
  [[nodiscard]] PrefixCache& prefixes() { return prefixes_; }
  // Makes reserved engines ordinary ones.
  void forget_reserved();
  // Sources at a time for a search that does not say: those of the engine reserved last, `otherwise` without one.
  [[nodiscard]] uint32_t usual_sources(uint32_t otherwise) const;

  // Room for the source ids of one admission, for a search whose sources have `all_ids` in all.
  [[nodiscard]] uint32_t encode_room(uint32_t running, uint32_t source_positions, uint64_t all_ids) const;
  [[nodiscard]] bool narrow_pays(const SessionShape& shape) const;
  [[nodiscard]] uint32_t known_positions(uint32_t bucket) const { return known_.of(bucket); }

  // First counter value of engines made from now on; lets tests reach the wrap-around.
  std::atomic<uint32_t> first_counter{0};
  // Limit on the rows of prompt ids in one pass, for tests.
  std::atomic<uint32_t> most_prompt_rows{model::kMostPromptRows};
  // Rows from which a search with several beams gets narrower steps; 0: every search does, for tests.
  std::atomic<uint32_t> narrow_from{256};

 private:
  Result<std::shared_ptr<SearchEngine>> make(const WorkspaceKey& key);
  Result<std::shared_ptr<SearchEngine>> make_in_any_case(const WorkspaceKey& key);
  void make_room();
  using Engines = std::list<std::shared_ptr<SearchEngine>>;
  [[nodiscard]] std::vector<std::weak_ptr<SearchEngine>> there(const Engines& engines);
  template <class Ask>
  std::shared_ptr<SearchEngine> first_that(const Engines& engines, Ask ask);
  [[nodiscard]] std::shared_ptr<SearchEngine> busiest(const WorkspaceKey& key, uint32_t sentences);
  [[nodiscard]] std::shared_ptr<SearchEngine> find(const Wanted& wanted);
  [[nodiscard]] std::shared_ptr<SearchEngine> find_reserved(const WorkspaceKey& key);
  [[nodiscard]] uint32_t others_at_work(const WorkspaceKey& key);
  void reserve(const std::shared_ptr<SearchEngine>& engine);
  void forget_failed();
  void forget_outdated();
  [[nodiscard]] WorkspaceKey wider(WorkspaceKey key, uint32_t others, bool prepares) const;

  WorkspaceFactory& workspaces_;
  PrefixCache prefixes_;
  KnownPositions known_;
  std::mutex mutex_;
  Engines engines_;  // newest first
  Engines reserved_;
  std::atomic<uint32_t> reserved_sources_{0};  // of the engine reserved last
};

}  // namespace lapilli
