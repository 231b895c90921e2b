#include "runtime/run/session.hpp"

#include <algorithm>
#include <vector>

namespace lapilli {

namespace {
const char* state_name(StateKind kind) {
  switch (kind) {
    case StateKind::step: return "step state";
    case StateKind::inbox: return "inbox";
    case StateKind::prompt: return "rows of prompt ids";
    case StateKind::prompt_grids: return "grids of prompt ids";
    case StateKind::lengths: return "source lengths";
    case StateKind::source_ids: return "source ids";
    case StateKind::target_ids: return "target ids";
    case StateKind::target_lengths: return "target lengths";
    case StateKind::lineage: return "lineage";
    case StateKind::search: return "search state";
    case StateKind::log: return "step log";
    case StateKind::lists: return "option lists";
    case StateKind::grids: return "grids";
    case StateKind::self_kv: return "self-attention cache";
    case StateKind::cross_kv: return "cross-attention keys and values";
    case StateKind::globals: return "global positions";
    case StateKind::spans: return "spans of an encode pass";
    case StateKind::encode_grids: return "encode grids";
    case StateKind::features: return "features of sources";
    case StateKind::feature_spans: return "spans of features";
    case StateKind::samples: return "samples";
    case StateKind::floors: return "floors of frames";
    case StateKind::frames: return "number of frames";
    case StateKind::source_types: return "token types of sources";
    case StateKind::queries: return "queries";
    case StateKind::head_spans: return "rows that a head reads";
    case StateKind::memory: return "memory of a segment";
    case StateKind::cells: return "cells of the decoder";
    case StateKind::key_masks: return "masks of keys";
  }
  return "state";
}

vulkan::MemoryUse use_of(StateKind kind) {
  switch (kind) {
    case StateKind::log: return vulkan::MemoryUse::readback;    // read while steps are in flight
    case StateKind::globals: return vulkan::MemoryUse::shared;  // the only state written in place
    default: return vulkan::MemoryUse::device;
  }
}
}  // namespace

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<vulkan::Device> device, std::shared_ptr<void> with) {
  auto session = std::make_unique<Session>();
  session->device_ = std::move(device);
  session->with_ = std::move(with);
  return session;
}

void Session::require(const Plan& plan, ArenaOf arena) {
  require_arena(plan.arena_bytes(), arena);
  for (const auto& t : plan.graph.tensors())
    if (t.space == graph::Space::state) require_state(t.id, t.bytes());
}

void Session::require_state(uint32_t id, uint64_t bytes) {
  uint64_t& wanted = wanted_[id];
  wanted = std::max(wanted, bytes);
}

void Session::require_arena(uint64_t bytes, ArenaOf arena) {
  uint64_t& wanted = arenas_wanted_[arena];
  wanted = std::max({wanted, bytes, uint64_t{256}});
}

uint64_t Session::bytes_from(const Session& from) const {
  uint64_t bytes = 0;
  const auto count = [&bytes](const auto& wanted, const auto& there) {
    for (const auto& [key, size] : wanted)
      if (const auto it = there.find(key); it != there.end() && it->second.size() == size) bytes += size;
  };
  count(arenas_wanted_, from.arenas_);
  count(wanted_, from.states_);
  return bytes;
}

// Allocates new buffers first, so that `from` keeps everything if memory runs out.
Status Session::allocate(Session* from) {
  std::vector<std::pair<vulkan::Buffer*, vulkan::Buffer*>> taken;
  const auto make = [&](vulkan::Buffer& buffer, uint64_t bytes, vulkan::MemoryUse use, const char* label,
                        vulkan::Buffer* old) -> Status {
    bytes_ += bytes;
    if (old && old->size() == bytes) {
      taken.emplace_back(&buffer, old);
      return {};
    }
    LAPILLI_TRY(buffer, device_->make_buffer(bytes, use, label));
    buffer.keep(with_);
    return {};
  };
  const auto find = [](auto& map, auto key) {
    const auto it = map.find(key);
    return it == map.end() ? nullptr : &it->second;
  };
  for (const auto& [arena, bytes] : arenas_wanted_)
    LAPILLI_CHECK(
        make(arenas_[arena], bytes, vulkan::MemoryUse::device, "arena", from ? find(from->arenas_, arena) : nullptr));
  for (const auto& [id, bytes] : wanted_) {
    const StateKind kind = state_kind(id);
    LAPILLI_CHECK(make(states_[id], bytes, use_of(kind), state_name(kind), from ? find(from->states_, id) : nullptr));
  }
  for (const auto& [to, old] : taken) {
    *to = std::move(*old);
    to->keep(with_);
  }
  return {};
}

MemoryMap Session::memory(MemoryMap weights, ArenaOf arena_of) const {
  return [this, weights = std::move(weights), arena_of](graph::Space space, uint32_t id) -> BufferRef {
    if (space == graph::Space::arena) return arena(arena_of);
    if (space == graph::Space::weight) return weights ? weights(space, id) : BufferRef{};
    return state(state_kind(id), state_layer(id));
  };
}

BufferRef Session::state(StateKind kind, uint32_t layer) const {
  const auto it = states_.find(state_id(kind, layer));
  if (it == states_.end()) return {};
  return {&it->second, 0, it->second.size()};
}

BufferRef Session::arena(ArenaOf arena) const {
  const auto it = arenas_.find(arena);
  if (it == arenas_.end()) return {};
  return {&it->second, 0, it->second.size()};
}

Status Session::write(StateKind kind, std::span<const uint32_t> words, uint64_t first_word) const {
  const BufferRef ref = state(kind);
  if (!ref.buffer || (first_word + words.size()) * 4 > ref.size)
    return fail(ErrorCode::internal, "%s: no room for %u words", state_name(kind), words.size());
  return device_->write(*ref.buffer, ref.offset + first_word * 4, std::as_bytes(words), 0);
}

Status Session::read(const BufferRef& ref, uint64_t offset, std::span<std::byte> bytes) const {
  if (!ref.buffer || offset + bytes.size() > ref.size) return fail(ErrorCode::internal, "read beyond a session buffer");
  return device_->read(*ref.buffer, ref.offset + offset, bytes, 0);
}

}  // namespace lapilli
