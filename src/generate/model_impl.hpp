// Inside of Model: what jobs share, and the workspaces that they take and give back.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "formats/checkpoint.hpp"
#include "formats/task_params.hpp"
#include "generate/generate.hpp"
#include "generate/search_options.hpp"
#include "model/transformer.hpp"
#include "runtime/bind.hpp"
#include "runtime/session.hpp"
#include "runtime/weights.hpp"

namespace lapilli {

// What a workspace is made for. Equal keys share plans; a workspace serves one job at a time.
struct WorkspaceKey {
  model::SessionShape shape;
  uint32_t candidates = 1;
  bool sample = false, renormalize = false, capture = false;
  uint32_t steps_per_submit = 1;
  friend bool operator==(const WorkspaceKey&, const WorkspaceKey&) = default;
};

struct WorkspacePlans {
  std::shared_ptr<const Plan> encode, init, step;
  // The step for half the sentences, a quarter..., for when so many have ended. Capturing jobs have none.
  std::vector<std::shared_ptr<const Plan>> narrow_steps;
  graph::TensorId logits = graph::kNone, scores = graph::kNone;  // kept if capturing
};

// A session's share of the device memory that a model may take; given back when the session goes.
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

// A session with the three plans of a job bound to it.
struct Workspace {
  WorkspaceKey key;
  MemoryShare share;  // outlives the session
  WorkspacePlans plans;
  std::unique_ptr<Session> session;
  std::unique_ptr<BoundPlan> encode, init, step;
  std::vector<std::pair<std::unique_ptr<BoundPlan>, uint32_t>> narrow_steps;  // and the rows that each has room for
  // Search state, as the host reads it when the search has ended: copied by `fetch` where the device's is not mapped.
  vulkan::Buffer found;
  std::unique_ptr<vulkan::CommandRecording> fetch;
};

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

  // A free workspace for the key, or a new one; out_of_memory if neither the memory limit nor the device has room for
  // one, even without the free ones of other shapes. Thread-safe.
  Result<std::unique_ptr<Workspace>> take_workspace(const WorkspaceKey& key);
  // Kept for the next job of its shape; the oldest are dropped.
  void give_back(std::unique_ptr<Workspace> workspace);
  // Drops all free workspaces, to make room.
  void drop_free();
  // Counts `bytes` of a session against the memory limit; out_of_memory if there is no room, even without the free
  // workspaces. Thread-safe.
  Result<MemoryShare> reserve(uint64_t bytes);
  [[nodiscard]] MemoryMap weight_map() const;

 private:
  Result<WorkspacePlans> plans(const WorkspaceKey& key);
  Result<std::unique_ptr<Workspace>> make_workspace(const WorkspaceKey& key);
  Status bind(Workspace& w);
  std::shared_ptr<std::atomic<uint64_t>> session_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);  // of all sessions
  Status prepare_pipelines(const WorkspaceKey& key);
  [[nodiscard]] std::vector<std::shared_ptr<const Plan>> probe_plans(const WorkspaceKey& key,
                                                                     const Verdicts& verdicts) const;
  std::mutex mutex_;
  std::vector<WorkspaceKey> prepared_;                        // kinds of jobs whose pipelines are there for every size
  std::list<std::pair<WorkspaceKey, WorkspacePlans>> plans_;  // newest first
  std::list<std::unique_ptr<Workspace>> free_;                // newest first
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
graph::Graph encode_graph(const model::Network& network, const model::SessionShape& shape);
graph::Graph init_graph(const model::Network& network, const model::SessionShape& shape);
// `rows` live rows at most; 0: all slots.
StepGraph step_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows = 0);
// Rows of the narrower steps of a job, widest first: half the sentences, a quarter... down to one.
std::vector<uint32_t> narrow_rows(const WorkspaceKey& key);

}  // namespace lapilli
