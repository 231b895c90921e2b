// The memory of one running job: caches, search state, and the buffers that the host writes and reads. Sized once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "ops/state.hpp"
#include "runtime/bind.hpp"
#include "vulkan/device.hpp"

namespace lapilli {

// Buffers by state id, and one arena that the plans of the session share (they run one after the other on the queue).
class Session {
 public:
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<vulkan::Device> device);

  // What plans need of each state: the largest of all calls counts. Before allocate().
  void require(const Plan& plan);
  void require_state(uint32_t id, uint64_t bytes);
  void require_arena(uint64_t bytes);
  // Makes the buffers. Once; afterwards plans that need more are refused when they are bound.
  Status allocate();

  [[nodiscard]] MemoryMap memory(MemoryMap weights) const;
  [[nodiscard]] BufferRef state(StateKind kind, uint32_t layer = 0) const;
  [[nodiscard]] BufferRef arena() const;
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::shared_ptr<vulkan::Device>& device() const { return device_; }

  // Host writes before a job; directly where memory is mapped. Nothing of the session may be in flight.
  Status write(StateKind kind, std::span<const uint32_t> words, uint64_t first_word = 0) const;
  // Blocking read after a job, under the same condition.
  Status read(const BufferRef& ref, uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::shared_ptr<vulkan::Device> device_;
  std::map<uint32_t, uint64_t> wanted_;
  std::map<uint32_t, vulkan::Buffer> states_;
  uint64_t arena_wanted_ = 0, bytes_ = 0;
  vulkan::Buffer arena_;
};

}  // namespace lapilli
