// Inside of Model: what jobs share, and the engines that run their searches.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "formats/checkpoint.hpp"
#include "formats/task_params.hpp"
#include "generate/generate.hpp"
#include "generate/search_options.hpp"
#include "generate/workspace.hpp"
#include "model/transformer.hpp"
#include "runtime/bind.hpp"
#include "runtime/session.hpp"
#include "runtime/weights.hpp"

namespace lapilli {

class SearchEngine;

struct Model::Impl {
  std::shared_ptr<vulkan::Device> device;
  ModelInfo info;
  model::Network network;  // without the checkpoint: parts are dropped after loading
  std::shared_ptr<const Weights> weights;
  std::unique_ptr<Tokenizer> tokenizer;
  Error tokenizer_error;
  GenerationConfig generation;
  std::vector<TaskParams> tasks;  // of config.json
  uint64_t memory_limit = 0;

  // The engine of a search for so many sentences of this kind: one that has room, or a new one; out_of_memory if neither
  // the memory limit nor the device has room for one, even without those that nobody uses. Engines that nobody uses are
  // kept for the next job of their kind; the oldest are dropped. Thread-safe.
  Result<std::shared_ptr<SearchEngine>> take_engine(const WorkspaceKey& key, uint32_t sentences);
  // Room for the source ids of one admission, where the sources of a job have so many in all.
  [[nodiscard]] uint32_t encode_room(uint32_t running, uint32_t source_positions, uint64_t all_ids) const;
  [[nodiscard]] bool narrow_pays(const model::SessionShape& shape) const;
  // Drops the engines that nobody uses, to make room.
  void drop_free();
  Result<std::unique_ptr<Workspace>> make_workspace(const WorkspaceKey& key);
  // The same search with more positions: `old` hands its sentences over. `key` differs in positions alone. If there is no
  // memory for larger caches, `old` is as it was; if it fails later, `old` is gone, and the search with it.
  Result<std::unique_ptr<Workspace>> grow_workspace(std::unique_ptr<Workspace>& old, const WorkspaceKey& key);
  // Positions that searches of sources of this bucket have needed, at least.
  uint32_t known_positions(uint32_t source_bucket);
  void remember_positions(uint32_t source_bucket, uint32_t positions);
  // Counters of engines that are made from now on start there; for tests of their wrapping.
  std::atomic<uint32_t> first_counter{0};
  // Rows from which a search with several beams is given narrower steps; 0: every search, for tests of them.
  std::atomic<uint32_t> narrow_from{256};
  // Counts `bytes` of a session against the memory limit; out_of_memory if there is no room, even without the free
  // workspaces. Thread-safe.
  Result<MemoryShare> reserve(uint64_t bytes);
  [[nodiscard]] MemoryMap weight_map() const;

 private:
  Result<WorkspacePlans> plans(const WorkspaceKey& key);
  Result<std::shared_ptr<SearchEngine>> make_engine(const WorkspaceKey& key);
  [[nodiscard]] WorkspaceKey wider(WorkspaceKey key, uint32_t others) const;
  Status bind(Workspace& w);
  static Status write_step_grids(Workspace& w);
  std::shared_ptr<std::atomic<uint64_t>> session_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);  // of all sessions
  Status prepare_pipelines(const WorkspaceKey& key);
  [[nodiscard]] std::vector<std::shared_ptr<const Plan>> probe_plans(const WorkspaceKey& key,
                                                                     const Verdicts& verdicts) const;
  std::mutex mutex_;
  std::vector<WorkspaceKey> prepared_;                        // kinds of jobs whose pipelines are there for every size
  std::list<std::pair<WorkspaceKey, WorkspacePlans>> plans_;  // newest first
  std::list<std::shared_ptr<SearchEngine>> engines_;          // newest first
  std::map<uint32_t, uint32_t> positions_;                    // see known_positions()
};

// The model's network as weight sources, reading from the checkpoint when their turn comes.
Result<std::vector<WeightSource>> weight_sources(const model::Network& network);

// The network of a published directory, or of a shape ("shape:small,layers=1"), without loading any weight.
Result<model::Network> read_network(const std::string& directory_or_shape);

// The graphs of a workspace; also for `lapilli plan` and the reference interpreter.
struct StepGraph {
  graph::Graph graph;
  graph::TensorId logits = graph::kNone, scores = graph::kNone;
};
graph::Graph admit_graph(const model::Network& network, const model::SessionShape& shape);
// `rows` source ids at most; 0: as many as the key has room for.
graph::Graph encode_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows = 0);
graph::Graph given_graph(const model::Network& network, const WorkspaceKey& key);
// The same rows up to their logits.
StepGraph given_logits_graph(const model::Network& network, const WorkspaceKey& key);
graph::Graph start_graph(const model::Network& network, const model::SessionShape& shape);
// `rows` live rows at most; 0: all that run at a time.
StepGraph step_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows = 0);
// Sentences of the narrower steps of a search, widest first: half of those that run at a time, a quarter... down to one.
std::vector<uint32_t> narrow_sentences(const WorkspaceKey& key);
// Source ids that the encode plans have room for, the most first.
std::vector<uint32_t> encode_rows(const WorkspaceKey& key);

}  // namespace lapilli
