#include "vulkan/device/staging.hpp"

#include <algorithm>
#include <cstring>

#include "vulkan/device/device_impl.hpp"

namespace lapilli::vulkan {

struct Staging::Half {
  std::unique_ptr<CommandRecording::Impl> commands;
  uint64_t offset = 0;  // of the half in the lane's buffer
  Ticket ticket = 0;    // 0: nothing pending
  uint64_t bytes = 0;   // of the pending copy
  uint64_t at = 0;      // position in the host's bytes
};

struct Staging::Lane {
  std::unique_ptr<Buffer::Impl> buffer;
  uint64_t half_bytes = 0;
  std::array<Half, 2> halves;
};

Staging::Staging(Context& context, MemoryPool& pool, Submitter& queue)
    : context_(context), pool_(pool), queue_(queue), up_(std::make_unique<Lane>()), down_(std::make_unique<Lane>()) {}
Staging::~Staging() = default;

// Allocates at the first use; smaller if memory is short.
Status Staging::prepare(Lane& lane, MemoryUse use) {
  for (Half& half : lane.halves) {
    if (half.commands) continue;
    LAPILLI_TRY(half.commands, make_recording_impl(context_, VK_NULL_HANDLE));
  }
  for (uint64_t bytes = kBytes; !lane.buffer; bytes /= 8) {
    auto made = make_buffer_impl(context_, pool_, bytes, use, "staging");
    if (!made && (made.error().code != ErrorCode::out_of_memory || bytes <= 65536)) return std::move(made).failure();
    if (!made) continue;
    if (!(*made)->mapped()) return fail(ErrorCode::internal, "%s: staging memory is not mapped", context_.name);
    lane.buffer = std::move(*made);
    lane.half_bytes = bytes / 2;
    lane.halves[1].offset = bytes / 2;
  }
  // A transfer that timed out may have left a copy pending.
  for (Half& half : lane.halves) {
    if (half.ticket) LAPILLI_CHECK(queue_.wait(half.ticket));
    half.ticket = 0;
  }
  return {};
}

Status Staging::submit(Half& half) {
  LAPILLI_CHECK(half.commands->end());
  LAPILLI_CHECK(queue_.wait_for_gap());
  Trace* const trace = context_.trace.get();
  const auto order = Trace::hold(trace);
  LAPILLI_TRY(half.ticket, queue_.submit({&half.commands->commands, 1}));
  if (trace) trace->submitted_held(half.ticket, {half.commands->trace->commands});
  return {};
}

// Waits for a half's copy; for a readback copies the bytes out.
Status Staging::finish(Half& half, Lane& lane, std::byte* out) {
  if (!half.ticket) return {};
  LAPILLI_CHECK(queue_.wait(half.ticket));
  half.ticket = 0;
  if (!out) return {};
  LAPILLI_CHECK(lane.buffer->sync(half.offset, half.bytes, false));
  std::memcpy(out + half.at, lane.buffer->mapped() + half.offset, half.bytes);
  return {};
}

Status Staging::write(const Buffer::Impl& buffer, uint64_t offset, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  LAPILLI_CHECK(prepare(*up_, MemoryUse::upload));
  Lane& lane = *up_;
  size_t next = 0;
  for (uint64_t at = 0; at < bytes.size();) {
    Half& half = lane.halves[next ^= 1];
    LAPILLI_CHECK(finish(half, lane, nullptr));
    const uint64_t n = std::min<uint64_t>(lane.half_bytes, bytes.size() - at);
    std::memcpy(lane.buffer->mapped() + half.offset, bytes.data() + at, n);
    LAPILLI_CHECK(lane.buffer->sync(half.offset, n, true));
    LAPILLI_CHECK(half.commands->begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
    half.commands->copy(*lane.buffer, half.offset, buffer, offset + at, n);
    LAPILLI_CHECK(submit(half));
    context_.staged_bytes += n;
    at += n;
  }
  for (Half& half : lane.halves) LAPILLI_CHECK(finish(half, lane, nullptr));
  return {};
}

Status Staging::read(const Buffer::Impl& buffer, uint64_t offset, std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  LAPILLI_CHECK(prepare(*down_, MemoryUse::readback));
  Lane& lane = *down_;
  size_t next = 0;
  for (uint64_t at = 0; at < bytes.size();) {
    Half& half = lane.halves[next ^= 1];
    LAPILLI_CHECK(finish(half, lane, bytes.data()));
    half.at = at;
    half.bytes = std::min<uint64_t>(lane.half_bytes, bytes.size() - at);
    LAPILLI_CHECK(half.commands->begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
    half.commands->copy(buffer, offset + at, *lane.buffer, half.offset, half.bytes);
    LAPILLI_CHECK(submit(half));
    context_.staged_bytes += half.bytes;
    at += half.bytes;
  }
  for (Half& half : lane.halves) LAPILLI_CHECK(finish(half, lane, bytes.data()));
  return {};
}

// Keeps buffers with a copy pending from a transfer that timed out.
void Staging::trim() {
  const std::lock_guard lock(mutex_);
  for (auto* lane : {up_.get(), down_.get()}) {
    const bool pending = std::any_of(lane->halves.begin(), lane->halves.end(), [](const Half& h) { return h.ticket; });
    if (!pending) lane->buffer.reset();
  }
}

Status Staging::zero(const Buffer::Impl& buffer) {
  const std::lock_guard lock(mutex_);
  Half& half = up_->halves[0];
  if (!half.commands) {
    LAPILLI_TRY(half.commands, make_recording_impl(context_, VK_NULL_HANDLE));
  }
  LAPILLI_CHECK(finish(half, *up_, nullptr));
  LAPILLI_CHECK(half.commands->begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
  half.commands->fill(buffer, 0, buffer.whole, 0);
  LAPILLI_CHECK(submit(half));
  return finish(half, *up_, nullptr);
}

}  // namespace lapilli::vulkan
