// A network with everything that a search over it needs, put together by hand: plans, a session and weights on a
// device, and the same values in the reference interpreter. For tests that look below Model and Search.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generate/published.hpp"
#include "generate/weight_sources.hpp"
#include "runtime/check/interpreter.hpp"
#include "search/plan_cache.hpp"
#include "search/search_graph.hpp"
#include "search/search_options.hpp"

namespace lapilli::testing_support {

// The network, and the checkpoint that its parts point into.
struct LoadedNetwork {
  model::Network network;
  std::unique_ptr<Checkpoint> checkpoint;  // null for random networks
};
Result<LoadedNetwork> load_network(const std::string& directory);
// A network of random weights; or "data/NAME": a model of the tests' data.
Result<LoadedNetwork> make_network(const std::string& shape, uint64_t seed = 1);

// The mark of all sessions that are put together here.
constexpr uint32_t kSessionMark = 77;
// The inputs of one search.
struct SearchInput {
  std::vector<std::vector<int32_t>> sources;
  std::vector<std::vector<uint32_t>> global_positions;  // of networks with windows
  std::vector<std::vector<int32_t>> prompt;             // decoder ids behind the decoder start, of the first sentences
  SearchOptions options;
};
// `count` sources of the given lengths with ids below `vocabulary`, from a seeded generator.
std::vector<std::vector<int32_t>> random_sources(const std::vector<uint32_t>& lengths, uint32_t vocabulary,
                                                 uint32_t seed);
// As a job would choose it, without buckets: exactly what the input needs.
WorkspaceKey exact_key(const SearchInput& input);

// Values as the device's kernels see them, in double precision.
Result<HostTensor> host_weight(const WeightSource& source);
// Weights and the host-written states of a search.
Result<Interpreter> make_interpreter(const model::Network& network, const WorkspaceKey& key, const SearchInput& input);
// The states that the host writes before a job, by id; grids as the plans want them, if there are any.
std::map<uint32_t, std::vector<uint32_t>> host_states(const model::Network& network, const WorkspaceKey& key,
                                                      const SearchInput& input, const WorkspacePlans* plans);

// The plans of a workspace for some capabilities.
Result<WorkspacePlans> compile_plans(const model::Network& network, const WorkspaceKey& key, const Capabilities& caps,
                                     const CompileOptions& options = {});
// Those that a search runs, in order; the narrower steps are left out.
std::vector<std::shared_ptr<const Plan>> in_order(const WorkspacePlans& plans);

}  // namespace lapilli::testing_support
