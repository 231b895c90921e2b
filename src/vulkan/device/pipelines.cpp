#include "vulkan/device/pipelines.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lapilli::vulkan {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;

// A module declares its capabilities first.
bool has_cooperative_matrices(const PipelineRequest& request) {
  constexpr uint32_t kHeader = 5, kOpCapability = 17, kLength = 2, kCooperativeMatrix = 6022;
  for (size_t i = kHeader; i + 1 < request.word_count && request.words[i] == (kLength << 16 | kOpCapability);
       i += kLength)
    if (request.words[i + 1] == kCooperativeMatrix) return true;
  return false;
}

bool is_spirv(const PipelineRequest& request) {
  return request.words && request.word_count >= 5 && request.words[0] == kSpirvMagic;
}

std::string describe(const PipelineRequest& request) {
  std::string s = std::string("shader '") + request.name + "'";
  for (size_t i = 0; i < request.constants.size(); ++i)
    s += (i ? ", " : " with constants ") + std::to_string(request.constants[i]);
  return s;
}

// Checks the header that Vulkan requires: some drivers crash on another's data instead of checking it.
bool is_of_driver(const Blob& data, const StoredIdentity& identity) {
  VkPipelineCacheHeaderVersionOne header{};
  if (data.size() < sizeof header) return false;
  std::memcpy(&header, data.data(), sizeof header);
  return header.headerSize >= sizeof header && header.headerSize <= data.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == identity.vendor_id &&
         header.deviceID == identity.device_id &&
         std::equal(identity.cache_uuid.begin(), identity.cache_uuid.end(), header.pipelineCacheUUID);
}

}  // namespace

struct PipelineStore::Job {
  const PipelineRequest* request = nullptr;
  Key key;
  VkShaderModule module = VK_NULL_HANDLE;
  std::vector<VkSpecializationMapEntry> entries;
  VkSpecializationInfo constants{};
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{};
  VkComputePipelineCreateInfo info{};
  std::unique_ptr<Pipeline> place = std::make_unique<Pipeline>();
  VkPipeline pipeline = VK_NULL_HANDLE;
  std::optional<Error> refused;
};

// Pipelines that one thread makes without holding the lock; given back at the end, made or not. Host allocations come
// first: if they fail, no device object leaks.
class PipelineStore::Claim {
 public:
  // Call with the lock held.
  Claim(PipelineStore& store, std::unique_lock<std::mutex>& lock) : store_(store), lock_(lock) {}
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (jobs.empty()) return;
    if (!lock_.owns_lock()) lock_.lock();
    for (Job& job : jobs) give_back(job);
    store_.released_.notify_all();
  }
  // False if it is known, or another thread is making it.
  bool take(const PipelineRequest& request, const Key& key) {
    if (store_.entries_.contains(key)) return false;
    Job& job = jobs.emplace_back();
    job.request = &request;
    job.key = key;
    job.place->name = request.name;
    store_.entries_.try_emplace(key);
    return true;
  }
  std::vector<Job> jobs;

 private:
  // Pipelines made stay even if a sibling failed: the caller may retry with another variant.
  void give_back(Job& job) {
    const auto it = store_.entries_.find(job.key);
    if (it == store_.entries_.end()) return;  // allocating the entry failed
    if (job.pipeline) {
      job.place->handle = std::exchange(job.pipeline, VkPipeline(VK_NULL_HANDLE));
      it->second.pipeline = std::move(job.place);
      ++store_.context_.pipelines_created;
    } else if (job.refused) {
      it->second.refused = std::move(job.refused);
    } else {
      store_.entries_.erase(it);
    }
  }
  PipelineStore& store_;
  std::unique_lock<std::mutex>& lock_;
};

// If the device is lost, the mark on the stored data stays: the next run does without it.
PipelineStore::~PipelineStore() {
  try {
    if (persistent_cache_ && context_.health()) persistent_cache_->end_trial();
  } catch (...) {  // no memory: the mark stays
  }
  for (auto& [key, entry] : entries_)
    if (entry.pipeline) context_.vk.DestroyPipeline(context_.device, entry.pipeline->handle, nullptr);
  if (cache_) context_.vk.DestroyPipelineCache(context_.device, cache_, nullptr);
  if (layout_) context_.vk.DestroyPipelineLayout(context_.device, layout_, nullptr);
  if (set_layout_) context_.vk.DestroyDescriptorSetLayout(context_.device, set_layout_, nullptr);
}

Status PipelineStore::init() {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t i = 0; i < kBindings; ++i)
    if (has_binding(context_.caps, i))
      bindings.push_back({i, descriptor_type(i), 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = static_cast<uint32_t>(bindings.size());
  set.pBindings = bindings.data();
  VkResult r = context_.vk.CreateDescriptorSetLayout(context_.device, &set, nullptr, &set_layout_);
  if (r != VK_SUCCESS) return set_layout_ = VK_NULL_HANDLE, context_.error(r, "making the descriptor set layout");

  VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, kPushBytes};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &push;
  r = context_.vk.CreatePipelineLayout(context_.device, &layout, nullptr, &layout_);
  if (r != VK_SUCCESS) return layout_ = VK_NULL_HANDLE, context_.error(r, "making the pipeline layout");

  make_cache();
  return {};
}

// A missing cache is no error.
void PipelineStore::make_cache() {
  Blob stored = persistent_cache_ ? persistent_cache_->take(StoredKind::pipelines) : Blob();
  const bool use = !stored.empty() && is_of_driver(stored, persistent_cache_->identity()) &&
                   persistent_cache_->begin_trial(StoredKind::pipelines, stored);
  if (use && create_cache(stored))
    context_.cache_bytes = stored.size();
  else
    create_cache({});
}

bool PipelineStore::create_cache(const Blob& stored) {
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = stored.size();
  info.pInitialData = stored.empty() ? nullptr : stored.data();
  if (context_.vk.CreatePipelineCache(context_.device, &info, nullptr, &cache_) == VK_SUCCESS && cache_) return true;
  cache_ = VK_NULL_HANDLE;
  return false;
}

// Empty if the driver does not return it.
Blob PipelineStore::cache_data() const {
  const auto get = context_.vk.GetPipelineCacheData;
  size_t bytes = 0;
  if (!cache_ || !get || get(context_.device, cache_, &bytes, nullptr) != VK_SUCCESS || bytes == 0) return {};
  Blob data(bytes);
  // Incomplete if another thread made more meanwhile: left for the next time.
  if (get(context_.device, cache_, &bytes, data.data()) != VK_SUCCESS || bytes > data.size()) return {};
  data.resize(bytes);
  return data;
}

void PipelineStore::keep() {
  if (!persistent_cache_ || !context_.health()) return;
  const std::lock_guard lock(keep_mutex_);
  persistent_cache_->end_trial();
  const uint64_t made = context_.pipelines_created;
  if (made == stored_pipelines_) return;
  const Blob data = cache_data();
  if (is_of_driver(data, persistent_cache_->identity())) persistent_cache_->keep(StoredKind::pipelines, data);
  stored_pipelines_ = made;
}

PipelineStore::Key PipelineStore::key_of(const PipelineRequest& request) {
  Key key{0xcbf29ce484222325ull, 0x9e3779b97f4a7c15ull, request.word_count, request.constants};
  for (size_t i = 0; i < request.word_count; ++i) {
    key.a = (key.a ^ request.words[i]) * 0x100000001b3ull;
    key.b = (key.b + request.words[i]) * 0xff51afd7ed558ccdull;
    key.b ^= key.b >> 32;
  }
  return key;
}

Result<std::vector<const Pipeline*>> PipelineStore::get(std::span<const PipelineRequest> requests) {
  LAPILLI_CHECK(context_.health());
  std::vector<Key> keys;
  for (const PipelineRequest& q : requests) {
    if (!is_spirv(q)) {
      return fail(ErrorCode::invalid_argument, "shader '%s' is not SPIR-V", q.name);
    }
    keys.push_back(key_of(q));
  }
  std::unique_lock lock(mutex_);
  while (true) {
    // Waits for other threads only while holding no claim, which prevents deadlocks.
    bool wait = false;
    {
      Claim claim(*this, lock);
      for (size_t i = 0; i < requests.size(); ++i) {
        if (claim.take(requests[i], keys[i])) continue;
        const Entry& entry = entries_.at(keys[i]);
        if (entry.refused) return *entry.refused;
        wait = wait || !entry.pipeline;
      }
      if (!claim.jobs.empty()) {
        lock.unlock();
        LAPILLI_CHECK(create(claim.jobs));
        continue;
      }
    }
    if (!wait) break;
    released_.wait(lock);
  }
  std::vector<const Pipeline*> found;
  for (const Key& key : keys) found.push_back(entries_.at(key).pipeline.get());
  return found;
}

void PipelineStore::make_ahead(const PipelineRequest& request) {
  if (!is_spirv(request) || !context_.health()) return;
  const Key key = key_of(request);
  std::unique_lock lock(mutex_);
  Claim claim(*this, lock);
  if (!claim.take(request, key)) return;
  lock.unlock();
  static_cast<void>(create(claim.jobs));
}

Status PipelineStore::create(std::vector<Job>& jobs) {
  struct Modules {
    Context& context;
    std::map<Key, VkShaderModule> all;
    ~Modules() {
      for (const auto& [key, module] : all) context.vk.DestroyShaderModule(context.device, module, nullptr);
    }
  } modules{context_, {}};
  // Longest first: threads that share a batch then end at about the same time.
  std::ranges::stable_sort(jobs, std::greater<>(), [](const Job& job) { return job.request->word_count; });
  LAPILLI_CHECK(create_modules(jobs, modules.all));
  return create_batch(jobs);
}

Status PipelineStore::create_modules(std::vector<Job>& jobs, std::map<Key, VkShaderModule>& modules) {
  for (Job& job : jobs) {
    Key key = job.key;
    key.constants.clear();
    VkShaderModule& module = modules[key];
    if (!module) {
      VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
      info.codeSize = job.request->word_count * 4;
      info.pCode = job.request->words;
      const VkResult r = context_.vk.CreateShaderModule(context_.device, &info, nullptr, &module);
      if (r != VK_SUCCESS || !module) {
        module = VK_NULL_HANDLE;
        modules.erase(key);
        return refusal(job, r == VK_SUCCESS ? VK_ERROR_UNKNOWN : r, "loading ");
      }
    }
    job.module = module;
  }
  for (Job& job : jobs) {
    const auto& constants = job.request->constants;
    for (uint32_t i = 0; i < constants.size(); ++i) job.entries.push_back({i, i * 4, 4});
    job.constants = {static_cast<uint32_t>(constants.size()), job.entries.data(), constants.size() * 4,
                     constants.data()};
    job.info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    job.info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    job.info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    job.info.stage.module = job.module;
    job.info.stage.pName = "main";
    job.info.stage.pSpecializationInfo = constants.empty() ? nullptr : &job.constants;
    job.info.layout = layout_;
    if (context_.caps.subgroup_size_control && has_cooperative_matrices(*job.request)) {
      job.subgroup = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
      job.subgroup.requiredSubgroupSize = cooperative_subgroup(context_.caps);
      job.info.stage.pNext = &job.subgroup;
    }
  }
  return {};
}

// Pipelines that no thread made, for whatever reason, are left to the calling thread. False: there were no threads.
bool PipelineStore::create_by_threads(std::vector<Job>& jobs) {
  return threads_.run(static_cast<uint32_t>(jobs.size()), [&](uint32_t index) {
    Job& job = jobs[index];
    const VkResult r =
        context_.vk.CreateComputePipelines(context_.device, cache_, 1, &job.info, nullptr, &job.pipeline);
    if (r == VK_ERROR_DEVICE_LOST) context_.lost.store(true, std::memory_order_relaxed);
  });
}

Status PipelineStore::create_batch(std::vector<Job>& jobs) {
  if (jobs.size() > 1 && create_by_threads(jobs)) {
    LAPILLI_CHECK(context_.health());
  } else {
    LAPILLI_CHECK(create_together(jobs));
  }
  // Some drivers report a failed batch without saying which, some succeed with a null handle: retries each alone.
  Status status;
  for (Job& job : jobs) {
    if (job.pipeline) continue;
    Status alone = create_alone(job);
    if (alone) continue;
    const bool refused = alone.error().code == ErrorCode::no_device;
    if (status || !refused) status = std::move(alone);
    if (!refused) break;  // nothing is known of the others
  }
  return status;
}

Status PipelineStore::create_together(std::vector<Job>& jobs) {
  std::vector<VkComputePipelineCreateInfo> infos;
  std::vector<VkPipeline> made(jobs.size(), VK_NULL_HANDLE);
  for (const Job& job : jobs) infos.push_back(job.info);
  VkResult r = context_.vk.CreateComputePipelines(context_.device, cache_, static_cast<uint32_t>(infos.size()),
                                                  infos.data(), nullptr, made.data());
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].pipeline = made[i];
  if (r == VK_ERROR_DEVICE_LOST) return context_.error(r, "making pipelines");
  return {};
}

Status PipelineStore::create_alone(Job& job) {
  const VkResult r = context_.vk.CreateComputePipelines(context_.device, cache_, 1, &job.info, nullptr, &job.pipeline);
  if (r == VK_SUCCESS && job.pipeline) return {};
  job.pipeline = VK_NULL_HANDLE;
  return refusal(job, r == VK_SUCCESS ? VK_ERROR_UNKNOWN : r, "making a pipeline of ");
}

// Neither the caller's fault nor too much for the device: this driver cannot run Lapilli's shader.
Failure PipelineStore::refusal(Job& job, VkResult result, const std::string& what) {
  Error e = context_.error(result, what + describe(*job.request));
  if (e.code != ErrorCode::internal) return e;
  e.code = ErrorCode::no_device;
  e.message +=
      "; the driver refuses this shader: update it, choose another device, or mask the feature "
      "(LAPILLI_CAPS=floor)";
  job.refused = e;
  return e;
}

}  // namespace lapilli::vulkan
