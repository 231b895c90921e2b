#include "runtime/run/upload.hpp"

namespace lapilli {

Result<std::unique_ptr<UploadArea>> UploadArea::create(const Session& session, std::span<const StateKind> kinds) {
  std::unique_ptr<UploadArea> area(new UploadArea());
  uint64_t bytes = 0;
  for (const StateKind kind : kinds) {
    const BufferRef state = session.state(kind);
    if (!state.buffer) continue;  // no plan of the session reads it
    area->places_[kind] = {bytes, state.size};
    bytes += round_up<uint64_t>(state.size, 16);
  }
  LAPILLI_TRY(area->buffer_,
              session.device()->make_buffer(std::max<uint64_t>(bytes, 16), vulkan::MemoryUse::upload, "upload area"));
  LAPILLI_TRY(auto copy, vulkan::CommandRecording::create(session.device()));
  LAPILLI_CHECK(copy.begin());
  for (const auto& [kind, place] : area->places_) {
    const BufferRef state = session.state(kind);
    copy.copy(area->buffer_, place.first, *state.buffer, state.offset, place.second);
  }
  LAPILLI_CHECK(copy.end());
  area->copy_ = std::make_unique<vulkan::CommandRecording>(std::move(copy));
  return area;
}

std::span<uint32_t> UploadArea::words(StateKind kind) {
  const auto it = places_.find(kind);
  if (it == places_.end() || !buffer_.mapped()) return {};
  return {reinterpret_cast<uint32_t*>(buffer_.mapped() + it->second.first), static_cast<size_t>(it->second.second / 4)};
}

Status UploadArea::flush() const { return buffer_.flush(0, buffer_.size()); }

}  // namespace lapilli
