// What `lapilli bench`, its --per-op and `tune` share: the request's limits, the model on its device, random sources.
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
// Refuses by name what is out of range: ids, sentences.
Status check_searches(const SearchesRequest& request);
// The same, before anything is loaded. The device is opened with `options`, but for which one it is.
Result<BenchModel> load_for_searches(const SearchesRequest& request, vulkan::DeviceOptions options = {});
// The same for what is timed.
Result<BenchModel> load_bench_model(const BenchRequest& request);
// Behind the last of it: writes the trace, if one is wanted, and tells who asked why it cannot be.
void end_trace(const BenchRequest& request, const vulkan::Device& device);

// One of `request.source` ids each; the same at every call.
std::vector<std::vector<int32_t>> random_sources(const SearchesRequest& request, const Model& model, unsigned count);
// The same for models whose sources are features: with as many rows as they all have, or `request.source`.
std::vector<std::shared_ptr<const model::Features>> random_features(const SearchesRequest& request, const Model& model,
                                                                    unsigned count);
// Exactly `steps` new ids for every source.
GenerationConfig exact_steps(unsigned beams, unsigned steps);

}  // namespace lapilli::tools
