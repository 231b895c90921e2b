#include "runtime/check/expected_pipelines.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "runtime/plan/json_blob.hpp"

namespace lapilli {

namespace {

using Json = nlohmann::json;

constexpr size_t kMostNetworks = 64;
constexpr size_t kMostPipelines = 256;  // per network; a search with every option has some 60

bool read_network(const std::string& text, uint64_t& network) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, network, 16);
  return error == std::errc() && at == end;
}

bool read_pipelines(const Json& list, std::vector<PlannedPipeline>& pipelines) {
  if (!list.is_array() || list.size() > kMostPipelines) return false;
  return std::all_of(list.begin(), list.end(),
                     [&](const Json& entry) { return read_kernel(entry, pipelines.emplace_back()); });
}

}  // namespace

// {"network": [kernel...]}
Blob blob_of(const PipelinesByNetwork& expected) {
  Json json = Json::object();
  for (const auto& [network, pipelines] : expected) {
    Json& list = json[format("%x", network)] = Json::array();
    for (const PlannedPipeline& p : pipelines) list.push_back(kernel_json(p));
  }
  return json_blob(json);
}

PipelinesByNetwork expected_pipelines_of(const Blob& blob) {
  const Json json = json_of(blob);
  if (!json.is_object() || json.size() > kMostNetworks) return {};
  PipelinesByNetwork expected;
  for (const auto& [name, list] : json.items()) {
    uint64_t network = 0;
    if (!read_network(name, network) || !read_pipelines(list, expected[network])) return {};
  }
  return expected;
}

std::shared_ptr<ExpectedPipelines> ExpectedPipelines::of(vulkan::Device& device) {
  const auto make = [&] {
    auto made = std::make_shared<ExpectedPipelines>();
    vulkan::PersistentCache* const cache = device.persistent_cache();
    made->of_use_ = cache && device.has_lent_threads();
    if (made->of_use_) made->known_ = expected_pipelines_of(cache->take(vulkan::StoredKind::expected));
    return made;
  };
  return std::static_pointer_cast<ExpectedPipelines>(
      device.companion(make, vulkan::Device::Companion::expected_pipelines));
}

void ExpectedPipelines::note(uint64_t network, std::span<const PlannedPipeline> pipelines) {
  const std::lock_guard lock(mutex_);
  if (!of_use_ || !noted_.insert(network).second) return;
  std::vector<PlannedPipeline> once;
  for (const PlannedPipeline& p : pipelines)
    if (once.size() < kMostPipelines && std::ranges::find(once, p) == once.end()) once.push_back(p);
  const auto at = known_.find(network);
  if (at != known_.end() && at->second == once) return;
  if (at == known_.end() && known_.size() >= kMostNetworks) known_.erase(known_.begin());
  known_[network] = std::move(once);
  fresh_ = true;
}

std::vector<PlannedPipeline> ExpectedPipelines::find(uint64_t network) const {
  const std::lock_guard lock(mutex_);
  const auto at = known_.find(network);
  return at == known_.end() ? std::vector<PlannedPipeline>() : at->second;
}

void ExpectedPipelines::keep(vulkan::PersistentCache& cache) {
  PipelinesByNetwork known;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(fresh_, false)) return;
    known = known_;
  }
  cache.keep(vulkan::StoredKind::expected, blob_of(known));
}

}  // namespace lapilli
