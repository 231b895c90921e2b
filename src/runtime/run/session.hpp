// The memory of one running search: caches, search state, and the buffers that the host writes and reads. Sized once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "ops/core/state.hpp"
#include "runtime/run/bind.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

// Plans with the same value share memory for their activations. Admission work for new sentences shares none with the
// steps, so that a second queue could run it in parallel.
enum class ArenaOf : uint8_t { admission, steps };

// Buffers by state id, and the arenas of its plans (plans that share one run sequentially on the queue).
class Session {
 public:
  // `with` is released when the memory of the session's buffers is free again, which may be later than the session.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<vulkan::Device> device,
                                                 std::shared_ptr<void> with = nullptr);

  // Sizes that plans need for each state: the maximum over all calls counts. Call before allocate().
  void require(const Plan& plan, ArenaOf arena = ArenaOf::steps);
  void require_state(uint32_t id, uint64_t bytes);
  void require_arena(uint64_t bytes, ArenaOf arena = ArenaOf::steps);
  // Released as create() says; call before allocate().
  void keep(std::shared_ptr<void> with) { with_ = std::move(with); }
  // Bytes that allocate(&from) takes over.
  [[nodiscard]] uint64_t bytes_from(const Session& from) const;
  // Makes the buffers. Call once; afterwards plans that need more are refused when they are bound. Buffers of `from`
  // that already have the right size are taken over with their contents; nothing of it may be bound any more.
  Status allocate(Session* from = nullptr);

  [[nodiscard]] MemoryMap memory(MemoryMap weights, ArenaOf arena = ArenaOf::steps) const;
  [[nodiscard]] BufferRef state(StateKind kind, uint32_t layer = 0) const;
  [[nodiscard]] BufferRef arena(ArenaOf arena = ArenaOf::steps) const;
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::shared_ptr<vulkan::Device>& device() const { return device_; }

  // Host writes, for setup and tests; direct where memory is mapped. Nothing of the session may be in flight.
  Status write(StateKind kind, std::span<const uint32_t> words, uint64_t first_word = 0) const;
  // Blocking read after a search, under the same condition.
  Status read(const BufferRef& ref, uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<void> with_;
  std::map<uint32_t, uint64_t> wanted_;
  std::map<uint32_t, vulkan::Buffer> states_;
  std::map<ArenaOf, uint64_t> arenas_wanted_;
  uint64_t bytes_ = 0;
  std::map<ArenaOf, vulkan::Buffer> arenas_;
};

}  // namespace lapilli
