// Accounting of the device memory that a model may take.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/result.hpp"

namespace lapilli {

// A session's share; given back when its buffers' memory is freed.
class MemoryShare {
 public:
  MemoryShare() = default;
  MemoryShare(std::shared_ptr<std::atomic<uint64_t>> held, uint64_t bytes) : held_(std::move(held)), bytes_(bytes) {}
  MemoryShare(MemoryShare&& other) noexcept : held_(std::move(other.held_)), bytes_(other.bytes_) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(held_, other.held_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryShare() {
    if (held_) held_->fetch_sub(bytes_);
  }

 private:
  std::shared_ptr<std::atomic<uint64_t>> held_;
  uint64_t bytes_ = 0;
};

// Thread-safe once `make_room` is set.
class MemoryLedger {
 public:
  // limit: bytes for weights and sessions together; 0: unlimited.
  MemoryLedger(uint64_t limit, uint64_t weight_bytes) : limit_(limit), weight_bytes_(weight_bytes) {}
  // Counts `bytes` of a session; out_of_memory if there is no room, even after make_room().
  Result<MemoryShare> reserve(uint64_t bytes);
  // Changes the limit; held memory stays.
  void set_limit(uint64_t bytes) { limit_ = bytes; }
  // Bytes of weights and sessions together.
  [[nodiscard]] uint64_t held() const { return weight_bytes_ + held_->load(); }
  // Called when there is no room, to give back unused memory.
  std::function<void()> make_room = [] {};

 private:
  std::atomic<uint64_t> limit_{0};
  uint64_t weight_bytes_ = 0;
  std::shared_ptr<std::atomic<uint64_t>> held_ = std::make_shared<std::atomic<uint64_t>>(0);  // by all sessions
};

}  // namespace lapilli
