// Pipelines by content, created in batches, each by one thread: others wait for it only if they want the same one. Also
// the one set layout and pipeline layout that every kernel uses.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "vulkan/caps/bindings.hpp"
#include "vulkan/caps/persistent_cache.hpp"
#include "vulkan/device/context.hpp"
#include "vulkan/device/device.hpp"
#include "vulkan/device/lent_threads.hpp"

namespace lapilli::vulkan {

inline constexpr uint32_t kPushBytes = 128;  // guaranteed by every Vulkan device

inline VkDescriptorType descriptor_type(uint32_t binding) {
  if (is_texels(binding)) return VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
  return is_uniform(binding) ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

class Pipeline {
 public:
  VkPipeline handle = VK_NULL_HANDLE;
  std::string name;
};

class PipelineStore {
 public:
  // `kept` may be null; both outlive this.
  PipelineStore(Context& context, PersistentCache* persistent_cache, LentThreads& threads)
      : context_(context), persistent_cache_(persistent_cache), threads_(threads) {}
  ~PipelineStore();
  Status init();
  Result<std::vector<const Pipeline*>> get(std::span<const PipelineRequest> requests);
  // Makes a pipeline for a later request, which gets the error if it is refused. Never waits: pipelines that another
  // thread is making are skipped.
  void make_ahead(const PipelineRequest& request);
  // See Device::keep_pipelines().
  void keep();
  [[nodiscard]] VkPipelineLayout layout() const { return layout_; }
  [[nodiscard]] VkDescriptorSetLayout set_layout() const { return set_layout_; }

 private:
  // Two hashes of the words, their count, and the constants.
  struct Key {
    uint64_t a = 0, b = 0;
    size_t words = 0;
    std::vector<uint32_t> constants;
    // Not <=>, which libc++ has for vectors only since version 17.
    bool operator<(const Key& o) const {
      return std::tie(a, b, words, constants) < std::tie(o.a, o.b, o.words, o.constants);
    }
  };
  // Neither set: a thread is making it.
  struct Entry {
    std::unique_ptr<Pipeline> pipeline;
    std::optional<Error> refused;  // the driver refuses it, permanently
  };
  struct Job;
  class Claim;
  static Key key_of(const PipelineRequest& request);
  Status create_modules(std::vector<Job>& jobs, std::map<Key, VkShaderModule>& modules);
  Status create_batch(std::vector<Job>& jobs);
  Status create_together(std::vector<Job>& jobs);
  bool create_by_threads(std::vector<Job>& jobs);
  Status create_alone(Job& job);
  Status create(std::vector<Job>& jobs);
  Failure refusal(Job& job, VkResult result, const std::string& what);
  void make_cache();
  bool create_cache(const Blob& stored);
  [[nodiscard]] Blob cache_data() const;

  Context& context_;
  PersistentCache* const persistent_cache_;
  LentThreads& threads_;
  std::mutex keep_mutex_;
  uint64_t stored_pipelines_ = 0;  // number made when the cache was last stored
  std::mutex mutex_;
  std::condition_variable released_;  // a thread has given back its claim
  std::map<Key, Entry> entries_;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
};

}  // namespace lapilli::vulkan
