#include <algorithm>

#include "base/math.hpp"
#include "vulkan/device/device_impl.hpp"

namespace lapilli::vulkan {

Buffer::Impl::~Impl() {
  if (!handle) return;
  retired->buffer = handle;
  retired->pool = pool;
  retired->range = range;
  context->retire(std::move(retired));
}

void Buffer::keep(std::shared_ptr<void> with) const {
  if (impl_) impl_->retired->with = std::move(with);
}

std::byte* Buffer::Impl::mapped() const {
  return range.block && range.block->mapped ? range.block->mapped + range.offset : nullptr;
}

Touch Buffer::Impl::touch(uint64_t offset, uint64_t bytes, bool writes) const {
  return {traced, offset, offset + bytes, !writes, writes, 0};
}

Status Buffer::Impl::sync(uint64_t offset, uint64_t bytes, bool flush) const {
  if (offset > size || bytes > size - offset) {
    return fail(ErrorCode::invalid_argument, "bytes %u + %u lie outside of a buffer of %u", offset, bytes, size);
  }
  if (context->trace && bytes != 0) context->trace->touched(touch(offset, bytes, flush));
  const MemoryPool::Block* const block = range.block;
  if (!block || !block->mapped || block->coherent || bytes == 0) return {};
  const uint64_t atom = context->caps.non_coherent_atom;
  VkMappedMemoryRange r{VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE};
  r.memory = block->memory;
  r.offset = round_down(range.offset + offset, atom);
  r.size = std::min(round_up(range.offset + offset + bytes, atom), block->bytes) - r.offset;
  const VkResult result = flush ? context->vk.FlushMappedMemoryRanges(context->device, 1, &r)
                                : context->vk.InvalidateMappedMemoryRanges(context->device, 1, &r);
  if (result != VK_SUCCESS) return context->error(result, flush ? "flushing memory" : "invalidating memory");
  return {};
}

Result<std::unique_ptr<Buffer::Impl>> make_buffer_impl(Context& context, MemoryPool& pool, uint64_t bytes,
                                                       MemoryUse use, const char* label) {
  if (bytes == 0) return fail(ErrorCode::invalid_argument, "buffer '%s' is empty", label);
  if (bytes > context.caps.max_allocation) {
    return fail(ErrorCode::out_of_memory, "buffer '%s' needs %u bytes; %s allows %u in one piece", label, bytes,
                context.name, context.caps.max_allocation);
  }
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = round_up<uint64_t>(bytes, 4);
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (context.caps.texels) info.usage |= VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  // Owns everything created from here on.
  auto impl = std::make_unique<Buffer::Impl>();
  impl->context = &context;
  impl->pool = &pool;
  impl->size = bytes;
  impl->whole = info.size;
  VkResult r = context.vk.CreateBuffer(context.device, &info, nullptr, &impl->handle);
  if (r != VK_SUCCESS) {
    impl->handle = VK_NULL_HANDLE;
    return context.error(r, std::string("making buffer '") + label + "'");
  }
  VkMemoryRequirements needs{};
  context.vk.GetBufferMemoryRequirements(context.device, impl->handle, &needs);
  LAPILLI_TRY(impl->range, pool.allocate(needs, use, label));
  r = context.vk.BindBufferMemory(context.device, impl->handle, impl->range.block->memory, impl->range.offset);
  if (r != VK_SUCCESS) return context.error(r, std::string("binding memory to buffer '") + label + "'");
  if (context.vk.SetDebugUtilsObjectNameEXT && *label) {
    VkDebugUtilsObjectNameInfoEXT name{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
    name.objectType = VK_OBJECT_TYPE_BUFFER;
    name.objectHandle = (uint64_t)impl->handle;  // a pointer on 64-bit systems, a number on 32-bit ones
    name.pObjectName = label;
    (void)context.vk.SetDebugUtilsObjectNameEXT(context.device, &name);
  }
  if (context.trace)
    impl->traced = std::make_shared<TracedBuffer>(TracedBuffer{impl->range.block, impl->range.offset, bytes, label});
  ++context.buffers;
  return impl;
}

Buffer::Buffer() noexcept = default;
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer& Buffer::operator=(Buffer&&) noexcept = default;
Buffer::~Buffer() = default;

uint64_t Buffer::size() const { return impl_ ? impl_->size : 0; }
std::byte* Buffer::mapped() const { return impl_ ? impl_->mapped() : nullptr; }
Status Buffer::flush(uint64_t offset, uint64_t bytes) const {
  if (!impl_) return fail(ErrorCode::invalid_argument, "flush of an empty Buffer");
  return impl_->sync(offset, bytes, true);
}
Status Buffer::invalidate(uint64_t offset, uint64_t bytes) const {
  if (!impl_) return fail(ErrorCode::invalid_argument, "invalidate of an empty Buffer");
  return impl_->sync(offset, bytes, false);
}

}  // namespace lapilli::vulkan
