#include <algorithm>

#include "vulkan/device/device_impl.hpp"

namespace lapilli::vulkan {
namespace {

constexpr VkPipelineStageFlags kWork = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_UNIFORM_READ_BIT |
                                 VK_ACCESS_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

void global_barrier(const Context& context, VkCommandBuffer commands, VkPipelineStageFlags from,
                    VkPipelineStageFlags to, VkMemoryBarrier barrier) {
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  context.vk.CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace

CommandRecording::Impl::~Impl() {
  if (!pool) return;
  retired->queries = queries;
  retired->commands = pool;
  context->retire(std::move(retired));
}

Result<std::unique_ptr<CommandRecording::Impl>> make_recording_impl(Context& context, VkPipelineLayout layout) {
  LAPILLI_CHECK(context.health());
  auto impl = std::make_unique<CommandRecording::Impl>();
  impl->context = &context;
  impl->layout = layout;
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = context.queue_family;
  VkResult r = context.vk.CreateCommandPool(context.device, &pool, nullptr, &impl->pool);
  if (r != VK_SUCCESS) return impl->pool = VK_NULL_HANDLE, context.error(r, "making a command pool");
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = impl->pool;
  info.level = context.secondary ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  r = context.vk.AllocateCommandBuffers(context.device, &info, &impl->commands);
  if (r != VK_SUCCESS) return context.error(r, "allocating a command buffer");
  return impl;
}

Status CommandRecording::Impl::begin(VkCommandBufferUsageFlags usage) {
  LAPILLI_CHECK(context->health());
  complete = false;
  replayed = usage & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  status = {};
  VkResult r = context->vk.ResetCommandPool(context->device, pool, 0);
  if (r != VK_SUCCESS) return context->error(r, "resetting a command pool");
  const VkCommandBufferInheritanceInfo outside{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = usage;
  if (context->secondary) info.pInheritanceInfo = &outside;  // outside of render passes
  r = context->vk.BeginCommandBuffer(commands, &info);
  if (r != VK_SUCCESS) return context->error(r, "opening a command buffer");
  open = true;
  if (context->trace) trace = std::make_unique<RecordingTrace>();
  tell_barrier({.indirect = true, .transfer = true});
  if (queries) context->vk.CmdResetQueryPool(commands, queries, 0, query_count);
  global_barrier(*context, commands, kWork | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_HOST_BIT,
                 kWork | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                 {.srcAccessMask = kWrites | VK_ACCESS_HOST_WRITE_BIT, .dstAccessMask = kReads | kWrites});
  return {};
}

Status CommandRecording::Impl::end() {
  if (!open) return fail(ErrorCode::internal, "end() of a recording that is not open");
  open = false;
  // Also orders later host writes after the reads here.
  global_barrier(*context, commands, kWork | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                 {.srcAccessMask = kWrites, .dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT});
  tell_barrier({.indirect = true, .transfer = true});
  const VkResult r = context->vk.EndCommandBuffer(commands);
  if (r != VK_SUCCESS) return context->error(r, "closing a command buffer");
  LAPILLI_CHECK(status);
  complete = true;
  return {};
}

void CommandRecording::Impl::copy(const Buffer::Impl& from, uint64_t from_offset, const Buffer::Impl& to,
                                  uint64_t to_offset, uint64_t bytes) {
  if (!open || !status || bytes == 0) return;
  if (from_offset > from.size || bytes > from.size - from_offset || to_offset > to.size ||
      bytes > to.size - to_offset) {
    status = fail(ErrorCode::internal, "a recorded copy of %u bytes leaves its buffers", bytes);
    return;
  }
  const VkBufferCopy region{from_offset, to_offset, bytes};
  context->vk.CmdCopyBuffer(commands, from.handle, to.handle, 1, &region);
  if (trace) tell_transfer({from.touch(from_offset, bytes, false), to.touch(to_offset, bytes, true)});
}

void CommandRecording::Impl::fill(const Buffer::Impl& buffer, uint64_t offset, uint64_t bytes, uint32_t word) {
  if (!open || !status || bytes == 0) return;
  if (offset % 4 || bytes % 4 || offset > buffer.whole || bytes > buffer.whole - offset) {
    status = fail(ErrorCode::internal, "a recorded fill of %u bytes at %u leaves its buffer or splits a word", bytes,
                  offset);
    return;
  }
  context->vk.CmdFillBuffer(commands, buffer.handle, offset, bytes, word);
  context->filled_bytes += bytes;
  if (trace) tell_transfer({buffer.touch(offset, bytes, true)});
}

void CommandRecording::Impl::tell_barrier(BarrierScope scope) const {
  if (trace) trace->add(TracedCommand::Kind::barrier).scope = scope;
}

void CommandRecording::Impl::tell_transfer(std::vector<Touch> touches) const {
  trace->add(TracedCommand::Kind::transfer).touches = std::move(touches);
}

CommandRecording::CommandRecording(CommandRecording&&) noexcept = default;
CommandRecording& CommandRecording::operator=(CommandRecording&&) noexcept = default;
CommandRecording::~CommandRecording() = default;

Result<CommandRecording> CommandRecording::create(std::shared_ptr<Device> device) {
  if (!device) return fail(ErrorCode::invalid_argument, "a recording needs a device");
  CommandRecording recording;
  LAPILLI_TRY(recording.impl_, make_recording_impl(device->impl()->context, device->impl()->pipelines->layout()));
  recording.impl_->keep = std::move(device);
  return recording;
}

Status CommandRecording::begin(RecordingUse use) {
  if (impl_->open) return fail(ErrorCode::internal, "begin() of a recording that is open");
  LAPILLI_TRY(const bool idle, impl_->keep->done(impl_->ticket));
  if (!idle) return fail(ErrorCode::internal, "begin() of a recording that is still in flight: wait for its ticket");
  return impl_->begin(use == RecordingUse::replayed ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0);
}

Status CommandRecording::end() { return impl_->end(); }

void CommandRecording::bind(const Pipeline* pipeline, const DescriptorSet* set, std::span<const std::byte> push) {
  Impl& i = *impl_;
  if (!i.open || !i.status) return;
  if (!pipeline || push.size() > kPushBytes || push.size() % 4) {
    i.status = fail(ErrorCode::internal, "bind() needs a pipeline and at most %u push bytes in words (%u)", kPushBytes,
                    static_cast<uint32_t>(push.size()));
    return;
  }
  const auto& vk = i.context->vk;
  vk.CmdBindPipeline(i.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
  if (i.trace) i.trace->bound = set ? set->bound : std::vector<Touch>();
  if (set) {
    vk.CmdBindDescriptorSets(i.commands, VK_PIPELINE_BIND_POINT_COMPUTE, i.layout, 0, 1, &set->handle, 0, nullptr);
  }
  if (!push.empty()) {
    vk.CmdPushConstants(i.commands, i.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, static_cast<uint32_t>(push.size()),
                        push.data());
  }
}

void CommandRecording::dispatch(uint32_t x, uint32_t y, uint32_t z) {
  Impl& i = *impl_;
  if (!i.open || !i.status) return;
  const auto& most = i.context->caps.max_group_count;
  if (x > most[0] || y > most[1] || z > most[2]) {
    i.status = fail(ErrorCode::internal, "a dispatch of %u x %u x %u groups is above the device's %u x %u x %u", x, y,
                    z, most[0], most[1], most[2]);
    return;
  }
  i.context->vk.CmdDispatch(i.commands, x, y, z);
  if (i.trace) i.trace->dispatch();
}

void CommandRecording::dispatch_indirect(const Buffer& arguments, uint64_t offset) {
  Impl& i = *impl_;
  if (!i.open || !i.status) return;
  if (offset % 4 || arguments.size() < 12 || offset > arguments.size() - 12) {
    i.status = fail(ErrorCode::internal, "indirect arguments at %u leave their buffer", offset);
    return;
  }
  i.context->vk.CmdDispatchIndirect(i.commands, arguments.impl()->handle, offset);
  if (i.trace) i.trace->dispatch().arguments.push_back(arguments.impl()->touch(offset, 12, false));
}

void CommandRecording::barrier(BarrierScope also) {
  Impl& i = *impl_;
  if (!i.open || !i.status) return;
  // As a source the compute stage includes reads of indirect arguments, an earlier stage of its pipeline.
  VkPipelineStageFlags from = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, to = from;
  VkMemoryBarrier barrier{};
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_UNIFORM_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  if (also.indirect) {
    to |= VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
    barrier.dstAccessMask |= VK_ACCESS_INDIRECT_COMMAND_READ_BIT;
  }
  if (also.transfer) {
    from |= VK_PIPELINE_STAGE_TRANSFER_BIT;
    to |= VK_PIPELINE_STAGE_TRANSFER_BIT;
    barrier.srcAccessMask |= VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask |= VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  }
  global_barrier(*i.context, i.commands, from, to, barrier);
  i.tell_barrier(also);
}

void CommandRecording::copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
                            uint64_t bytes) {
  if (from && to) return impl_->copy(*from.impl(), from_offset, *to.impl(), to_offset, bytes);
  if (impl_->status) impl_->status = fail(ErrorCode::internal, "a recorded copy has no buffer");
}

void CommandRecording::copy(const Buffer& from, const Buffer& to, const StridedCopy& p) {
  Impl& i = *impl_;
  if (!i.open || !i.status || p.count == 0 || p.bytes == 0) return;
  if (!from || !to || p.from_offset + (p.count - 1) * p.from_stride + p.bytes > from.size() ||
      p.to_offset + (p.count - 1) * p.to_stride + p.bytes > to.size()) {
    i.status = fail(ErrorCode::internal, "a recorded copy of %u pieces leaves its buffers", p.count);
    return;
  }
  std::vector<VkBufferCopy> regions;
  for (uint64_t k = 0; k < p.count; ++k)
    regions.push_back({p.from_offset + k * p.from_stride, p.to_offset + k * p.to_stride, p.bytes});
  i.context->vk.CmdCopyBuffer(i.commands, from.impl()->handle, to.impl()->handle, static_cast<uint32_t>(regions.size()),
                              regions.data());
  if (!i.trace) return;
  std::vector<Touch> touches;
  for (const VkBufferCopy& r : regions) {
    touches.push_back(from.impl()->touch(r.srcOffset, r.size, false));
    touches.push_back(to.impl()->touch(r.dstOffset, r.size, true));
  }
  i.tell_transfer(std::move(touches));
}

void CommandRecording::fill(const Buffer& buffer, uint64_t offset, uint64_t bytes, uint32_t word) {
  if (buffer) return impl_->fill(*buffer.impl(), offset, bytes, word);
  if (impl_->status) impl_->status = fail(ErrorCode::internal, "a recorded fill has no buffer");
}

Status CommandRecording::enable_timestamps(uint32_t count) {
  Impl& i = *impl_;
  if (i.open || i.queries) return fail(ErrorCode::internal, "timestamps are enabled once, before begin()");
  if (!i.context->caps.timestamps || count == 0) return {};
  LAPILLI_CHECK(i.context->health());
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = count;
  const VkResult r = i.context->vk.CreateQueryPool(i.context->device, &info, nullptr, &i.queries);
  if (r != VK_SUCCESS) return i.queries = VK_NULL_HANDLE, i.context->error(r, "making a pool of timestamps");
  i.query_count = count;
  return {};
}

void CommandRecording::timestamp(uint32_t index) {
  Impl& i = *impl_;
  if (!i.open || !i.status || !i.queries) return;
  if (index >= i.query_count) {
    i.status = fail(ErrorCode::internal, "timestamp %u of %u", index, i.query_count);
    return;
  }
  i.context->vk.CmdWriteTimestamp(i.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, i.queries, index);
}

Result<std::vector<double>> CommandRecording::read_timestamps_ns() const {
  const Impl& i = *impl_;
  if (!i.queries) return std::vector<double>{};
  std::vector<uint64_t> ticks(i.query_count);
  const VkResult r = i.context->vk.GetQueryPoolResults(i.context->device, i.queries, 0, i.query_count, ticks.size() * 8,
                                                       ticks.data(), 8, VK_QUERY_RESULT_64_BIT);
  if (r == VK_NOT_READY) return fail(ErrorCode::internal, "timestamps are read before the work is done");
  if (r != VK_SUCCESS) return i.context->error(r, "reading timestamps");
  const uint32_t bits = i.context->timestamp_bits;
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  std::vector<double> ns;
  for (const uint64_t t : ticks) {
    ns.push_back(static_cast<double>(t & mask) * static_cast<double>(i.context->caps.timestamp_period));
  }
  return ns;
}

void CommandRecording::label(const char* text) {
  Impl& i = *impl_;
  if (!i.open || !i.status || !i.context->vk.CmdInsertDebugUtilsLabelEXT) return;
  VkDebugUtilsLabelEXT label{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
  label.pLabelName = text;
  i.context->vk.CmdInsertDebugUtilsLabelEXT(i.commands, &label);
}

}  // namespace lapilli::vulkan
