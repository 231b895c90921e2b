#include "vulkan/device/submission_timer.hpp"

namespace lapilli::vulkan {

double microseconds_between(uint64_t begin, uint64_t end, uint32_t valid_bits, double ns_per_tick) {
  const uint64_t mask = valid_bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << valid_bits) - 1;
  return static_cast<double>((end - begin) & mask) * ns_per_tick * 1e-3;
}

Status SubmissionTimer::init() {
  if (!context_.caps.timestamps) return {};
  VkQueryPoolCreateInfo queries{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queries.queryCount = kSlots * kMarks;
  VkResult r = context_.vk.CreateQueryPool(context_.device, &queries, nullptr, &queries_);
  if (r != VK_SUCCESS) return queries_ = VK_NULL_HANDLE, context_.error(r, "making a pool of timestamps");
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = context_.queue_family;
  r = context_.vk.CreateCommandPool(context_.device, &pool, nullptr, &pool_);
  if (r != VK_SUCCESS) return pool_ = VK_NULL_HANDLE, context_.error(r, "making a command pool");
  marks_.resize(queries.queryCount);
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool_;
  info.level = context_.secondary ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = queries.queryCount;
  r = context_.vk.AllocateCommandBuffers(context_.device, &info, marks_.data());
  if (r != VK_SUCCESS) return marks_.clear(), context_.error(r, "allocating command buffers");
  for (uint32_t i = 0; i < queries.queryCount; ++i) LAPILLI_CHECK(record_mark(i));
  return {};
}

Status SubmissionTimer::record_mark(uint32_t index) {
  const VkCommandBufferInheritanceInfo inherits{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.pInheritanceInfo = &inherits;  // for execution from the host's command buffers; ignored otherwise
  VkResult r = context_.vk.BeginCommandBuffer(marks_[index], &begin);
  if (r != VK_SUCCESS) return context_.error(r, "opening a command buffer");
  context_.vk.CmdResetQueryPool(marks_[index], queries_, index, 1);
  context_.vk.CmdWriteTimestamp(marks_[index], VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, index);
  r = context_.vk.EndCommandBuffer(marks_[index]);
  return r == VK_SUCCESS ? Status() : Status(context_.error(r, "closing a command buffer"));
}

// The device is idle or abandoned.
SubmissionTimer::~SubmissionTimer() {
  if (pool_) context_.vk.DestroyCommandPool(context_.device, pool_, nullptr);
  if (queries_) context_.vk.DestroyQueryPool(context_.device, queries_, nullptr);
}

std::optional<size_t> SubmissionTimer::reserve(size_t recordings) {
  if (marks_.empty() || recordings == 0 || recordings > kMostTimedRecordings) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < kSlots; ++i) {
    Slot& slot = slots_[i];
    if (slot.reserved || slot.ticket > context_.completed.load(std::memory_order_acquire)) continue;
    slot = {true, 0, 0};
    return i;
  }
  return std::nullopt;
}

void SubmissionTimer::settle(size_t slot, Ticket ticket, size_t recordings) {
  const std::lock_guard lock(mutex_);
  slots_[slot] = {false, ticket, static_cast<uint32_t>(recordings)};
}

SubmissionTimer::Marked SubmissionTimer::mark(std::span<const VkCommandBuffer> buffers, bool timed) {
  return {*this, timed ? reserve(buffers.size()) : std::nullopt, buffers};
}

SubmissionTimer::Marked::Marked(SubmissionTimer& timer, std::optional<size_t> slot,
                                std::span<const VkCommandBuffer> buffers)
    : timer_(timer), slot_(slot), recordings_(buffers.size()) {
  const VkCommandBuffer* mark = slot ? &timer.marks_[*slot * kMarks] : nullptr;
  buffers_.reserve(2 * buffers.size() + 1);
  for (VkCommandBuffer buffer : buffers) {
    if (mark) buffers_.push_back(*mark++);
    buffers_.push_back(buffer);
  }
  if (mark) buffers_.push_back(*mark);
}

void SubmissionTimer::Marked::submitted(Ticket ticket) {
  if (slot_) timer_.settle(*slot_, ticket, recordings_);
  slot_.reset();
}

std::vector<double> SubmissionTimer::times_us(Ticket ticket) {
  if (ticket == 0 || ticket > context_.completed.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < kSlots; ++i) {
    Slot& slot = slots_[i];
    if (slot.reserved || slot.ticket != ticket) continue;
    slot.ticket = 0;
    std::vector<uint64_t> ticks(slot.recordings + 1);
    const VkResult r =
        context_.vk.GetQueryPoolResults(context_.device, queries_, static_cast<uint32_t>(i) * kMarks,
                                        slot.recordings + 1, ticks.size() * 8, ticks.data(), 8, VK_QUERY_RESULT_64_BIT);
    if (r != VK_SUCCESS) return {};  // a missing time is no error: the host's clock is used instead
    std::vector<double> us;
    for (size_t k = 1; k < ticks.size(); ++k)
      us.push_back(microseconds_between(ticks[k - 1], ticks[k], context_.timestamp_bits,
                                        static_cast<double>(context_.caps.timestamp_period)));
    return us;
  }
  return {};
}

}  // namespace lapilli::vulkan
