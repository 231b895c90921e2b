// The members of a Model, for code that makes one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/shortlist.hpp"
#include "generate/generate.hpp"
#include "model/network.hpp"
#include "search/engine_pool.hpp"
#include "search/network_on_device.hpp"
#include "search/plan_cache.hpp"
#include "search/workspace.hpp"
#include "vulkan/device/memory_ledger.hpp"

namespace lapilli {

struct Model::Impl {
  NetworkOnDevice network;
  ModelInfo info;
  std::shared_ptr<const Tokenizer> tokenizer;
  Error tokenizer_error;
  GenerationConfig generation;
  std::vector<TaskParams> tasks;
  SpeechSettings speech;
  std::optional<Shortlist> shortlist;

  std::shared_ptr<vulkan::MemoryLedger> memory;
  // Created once the weights are loaded.
  struct Searches {
    Searches(const NetworkOnDevice& network, vulkan::MemoryLedger& memory)
        : plans(network), workspaces(network, plans, memory), engines(workspaces) {
      memory.set_make_room([this] { engines.drop_free(); });
    }
    PlanCache plans;
    WorkspaceFactory workspaces;
    EnginePool engines;
  };
  std::optional<Searches> searches;
};

ModelInfo describe_model(const model::Network& network, const std::string& checkpoint_format,
                         const std::string& directory);

}  // namespace lapilli
