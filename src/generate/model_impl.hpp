// The members of a Model, for code that makes one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generate/generate.hpp"
#include "model/network.hpp"
#include "search/engine_pool.hpp"
#include "search/memory_ledger.hpp"
#include "search/network_on_device.hpp"
#include "search/plan_cache.hpp"
#include "search/workspace.hpp"

namespace lapilli {

struct Model::Impl {
  NetworkOnDevice network;
  ModelInfo info;
  std::shared_ptr<const Tokenizer> tokenizer;
  Error tokenizer_error;
  GenerationConfig generation;
  std::vector<TaskParams> tasks;
  SpeechSettings speech;

  // Created once the weights are loaded.
  struct Searches {
    Searches(const NetworkOnDevice& network, uint64_t memory_limit)
        : memory(memory_limit, network.weights->bytes()),
          plans(network),
          workspaces(network, plans, memory),
          engines(workspaces) {
      memory.make_room = [this] { engines.drop_free(); };
    }
    MemoryLedger memory;
    PlanCache plans;
    WorkspaceFactory workspaces;
    EnginePool engines;
  };
  std::optional<Searches> searches;
};

ModelInfo describe_model(const model::Network& network, const std::string& checkpoint_format,
                         const std::string& directory);

}  // namespace lapilli
