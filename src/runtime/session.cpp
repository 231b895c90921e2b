#include "runtime/session.hpp"

#include <algorithm>

namespace lapilli {

namespace {
const char* state_name(StateKind kind) {
  switch (kind) {
    case StateKind::step:
      return "step state";
    case StateKind::params:
      return "search parameters";
    case StateKind::lengths:
      return "source lengths";
    case StateKind::source_ids:
      return "source ids";
    case StateKind::target_ids:
      return "target ids";
    case StateKind::target_lengths:
      return "target lengths";
    case StateKind::lineage:
      return "lineage";
    case StateKind::search:
      return "search state";
    case StateKind::log:
      return "step log";
    case StateKind::lists:
      return "option lists";
    case StateKind::grids:
      return "grids";
    case StateKind::self_kv:
      return "self-attention cache";
    case StateKind::cross_kv:
      return "cross-attention keys and values";
    case StateKind::globals:
      return "global positions";
  }
  return "state";
}
}  // namespace

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<vulkan::Device> device) {
  auto session = std::make_unique<Session>();
  session->device_ = std::move(device);
  return session;
}

void Session::require(const Plan& plan) {
  require_arena(plan.arena_bytes());
  for (const auto& t : plan.graph.tensors())
    if (t.space == graph::Space::state) require_state(t.id, t.bytes());
}

void Session::require_state(uint32_t id, uint64_t bytes) {
  uint64_t& wanted = wanted_[id];
  wanted = std::max(wanted, bytes);
}

void Session::require_arena(uint64_t bytes) { arena_wanted_ = std::max(arena_wanted_, bytes); }

Status Session::allocate() {
  LAPILLI_TRY(arena_, device_->make_buffer(std::max<uint64_t>(arena_wanted_, 256), vulkan::MemoryUse::device, "arena"));
  bytes_ = arena_.size();
  for (const auto& [id, bytes] : wanted_) {
    // The log is what the host reads while steps are in flight.
    const auto use = state_kind(id) == StateKind::log ? vulkan::MemoryUse::readback : vulkan::MemoryUse::device;
    LAPILLI_TRY(states_[id], device_->make_buffer(bytes, use, state_name(state_kind(id))));
    bytes_ += bytes;
  }
  return {};
}

MemoryMap Session::memory(MemoryMap weights) const {
  return [this, weights = std::move(weights)](graph::Space space, uint32_t id) -> BufferRef {
    if (space == graph::Space::arena) return arena();
    if (space == graph::Space::weight) return weights ? weights(space, id) : BufferRef{};
    return state(state_kind(id), state_layer(id));
  };
}

BufferRef Session::state(StateKind kind, uint32_t layer) const {
  const auto it = states_.find(state_id(kind, layer));
  if (it == states_.end()) return {};
  return {&it->second, 0, it->second.size()};
}

BufferRef Session::arena() const { return {&arena_, 0, arena_.size()}; }

Status Session::write(StateKind kind, std::span<const uint32_t> words, uint64_t first_word) const {
  const BufferRef ref = state(kind);
  if (!ref.buffer || (first_word + words.size()) * 4 > ref.size)
    return fail(ErrorCode::internal, "%s: no room for %zu words", state_name(kind), words.size());
  return device_->write(*ref.buffer, ref.offset + first_word * 4, std::as_bytes(words), 0);
}

Status Session::read(const BufferRef& ref, uint64_t offset, std::span<std::byte> bytes) const {
  if (!ref.buffer || offset + bytes.size() > ref.size) return fail(ErrorCode::internal, "read beyond a session buffer");
  return device_->read(*ref.buffer, ref.offset + offset, bytes, 0);
}

}  // namespace lapilli
