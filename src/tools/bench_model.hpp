// Shared by `lapilli bench`, its --per-op and `tune`: limits of the request, the model on its device, random sources.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generate/generate.hpp"
#include "tools/tools.hpp"

namespace lapilli::tools {

struct BenchModel {
  std::string name;
  std::shared_ptr<vulkan::Device> device;
  std::shared_ptr<Model> model;
  double load_ms = 0;
};
// Refuses ids and sentences that are out of range, by name.
Status check_searches(const SearchesRequest& request);
// Does the same before loading the model. `options` opens the device, except for the choice of it.
Result<BenchModel> load_for_searches(const SearchesRequest& request, vulkan::DeviceOptions options = {});
// Loads a model for timing.
Result<BenchModel> load_bench_model(const BenchRequest& request);
// Call at the end: writes the trace if one is wanted; if that fails, reports why through trace_failed.
void end_trace(const BenchRequest& request, const vulkan::Device& device);

// Sources of `request.source` ids each, or prompts for a decoder alone; the same at every call.
std::vector<std::vector<int32_t>> random_sources(const SearchesRequest& request, const Model& model, unsigned count);
// Does the same for models whose sources are features: with the model's fixed number of rows, or `request.source`.
std::vector<std::shared_ptr<const model::Features>> random_features(const SearchesRequest& request, const Model& model,
                                                                    unsigned count);
// Exactly `steps` new ids for every source.
GenerationConfig exact_steps(unsigned beams, unsigned steps);

}  // namespace lapilli::tools
