#include <deque>
#include <map>
#include <tuple>

#include "vulkan/device/device_impl.hpp"

namespace lapilli::vulkan {

struct DescriptorArena::Impl {
  std::shared_ptr<Device> device;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  uint32_t max_sets = 0;
  std::deque<DescriptorSet> sets;  // a deque keeps addresses stable
  // By buffer, offset and size: creating one may make drivers wait for running work.
  std::map<std::tuple<VkBuffer, uint64_t, uint64_t>, VkBufferView> views;
  std::unique_ptr<Retired> retired = std::make_unique<Retired>();

  Result<VkBufferView> view_of(const BufferBinding& b) {
    VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
    info.buffer = b.buffer->impl()->handle;
    info.format = VK_FORMAT_R32G32B32A32_UINT;
    info.offset = b.offset;
    info.range = b.size;
    VkBufferView& view = views[{info.buffer, b.offset, b.size}];
    if (view) return view;
    Context& context = device->impl()->context;
    const VkResult r = context.vk.CreateBufferView(context.device, &info, nullptr, &view);
    if (r == VK_SUCCESS) return view;
    view = VK_NULL_HANDLE;
    return context.error(r, "making a view of a buffer");
  }

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (!pool) return;
    retired->descriptors = pool;
    retired->views = std::move(views);
    device->impl()->context.retire(std::move(retired));
  }
};

DescriptorArena::DescriptorArena(DescriptorArena&&) noexcept = default;
DescriptorArena& DescriptorArena::operator=(DescriptorArena&&) noexcept = default;
DescriptorArena::~DescriptorArena() = default;

Result<DescriptorArena> DescriptorArena::create(std::shared_ptr<Device> device, uint32_t max_sets) {
  if (!device || max_sets == 0) return fail(ErrorCode::invalid_argument, "a descriptor arena needs a device and sets");
  if (max_sets > 1000000) return fail(ErrorCode::invalid_argument, "%u descriptor sets are too many", max_sets);
  Context& context = device->impl()->context;
  LAPILLI_CHECK(context.health());
  std::map<VkDescriptorType, uint32_t> counts;
  for (uint32_t i = 0; i < kBindings; ++i)
    if (has_binding(context.caps, i)) counts[descriptor_type(i)] += max_sets;
  std::vector<VkDescriptorPoolSize> sizes;
  for (const auto& [type, count] : counts) sizes.push_back({type, count});
  VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.maxSets = max_sets;
  info.poolSizeCount = static_cast<uint32_t>(sizes.size());
  info.pPoolSizes = sizes.data();
  DescriptorArena arena;
  arena.impl_ = std::make_unique<Impl>();
  arena.impl_->device = std::move(device);
  arena.impl_->max_sets = max_sets;
  const VkResult r = context.vk.CreateDescriptorPool(context.device, &info, nullptr, &arena.impl_->pool);
  if (r != VK_SUCCESS) {
    arena.impl_->pool = VK_NULL_HANDLE;
    return context.error(r, format("making a pool of %u descriptor sets", max_sets));
  }
  return arena;
}

namespace {

Status check(const BufferBinding& b, const Capabilities& caps) {
  const auto bad = [&](const char* why) {
    return fail(ErrorCode::invalid_argument, "binding %u (bytes %u + %u of %u) %s", b.binding, b.offset, b.size,
                b.buffer ? b.buffer->size() : 0, why);
  };
  if (!has_binding(caps, b.binding)) return bad("does not exist");
  if (!b.buffer || !*b.buffer) return bad("has no buffer");
  if (b.size == 0 || b.offset > b.buffer->size() || b.size > b.buffer->size() - b.offset) {
    return bad("lies outside of its buffer");
  }
  if (b.offset % binding_alignment(caps, b.binding)) return bad("is not aligned");
  if (b.size > max_binding_range(caps, b.binding)) return bad("is larger than a binding may be");
  if (is_texels(b.binding) && b.size % kTexelBytes) return bad("does not hold whole texels");
  return {};
}

}  // namespace

Result<const DescriptorSet*> DescriptorArena::write(std::span<const BufferBinding> bindings) {
  if (!impl_) return fail(ErrorCode::invalid_argument, "write to a moved-from descriptor arena");
  Device::Impl& device = *impl_->device->impl();
  Context& context = device.context;
  LAPILLI_CHECK(context.health());
  if (impl_->sets.size() >= impl_->max_sets) {
    return fail(ErrorCode::internal, "the descriptor arena was made for %u sets", impl_->max_sets);
  }
  if (bindings.size() > kBindings) {
    return fail(ErrorCode::invalid_argument, "%u bindings are too many", static_cast<uint32_t>(bindings.size()));
  }
  for (const BufferBinding& b : bindings) LAPILLI_CHECK(check(b, context.caps));
  VkBufferView view = VK_NULL_HANDLE;  // a set has only one texel binding
  for (const BufferBinding& b : bindings)
    if (is_texels(b.binding)) {
      LAPILLI_TRY(view, impl_->view_of(b));
    }

  const VkDescriptorSetLayout layout = device.pipelines->set_layout();
  VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = impl_->pool;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  const VkResult r = context.vk.AllocateDescriptorSets(context.device, &info, &set);
  if (r != VK_SUCCESS) return context.error(r, "allocating a descriptor set");

  VkDescriptorBufferInfo buffers[kBindings];
  VkWriteDescriptorSet writes[kBindings];
  for (size_t i = 0; i < bindings.size(); ++i) {
    const BufferBinding& b = bindings[i];
    buffers[i] = {b.buffer->impl()->handle, b.offset, b.size};
    writes[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    writes[i].dstSet = set;
    writes[i].dstBinding = b.binding;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = descriptor_type(b.binding);
    writes[i].pBufferInfo = &buffers[i];
    if (is_texels(b.binding)) writes[i].pTexelBufferView = &view;
  }
  context.vk.UpdateDescriptorSets(context.device, static_cast<uint32_t>(bindings.size()), writes, 0, nullptr);
  impl_->sets.push_back({});
  impl_->sets.back().handle = set;
  if (context.trace)
    for (const BufferBinding& b : bindings)
      impl_->sets.back().bound.push_back(b.buffer->impl()->touch(b.offset, b.size, false));
  return &impl_->sets.back();
}

}  // namespace lapilli::vulkan
