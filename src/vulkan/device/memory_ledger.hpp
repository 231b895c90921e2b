// Accounting of device memory against limits: a model's own, and the one that the models of a device share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "base/result.hpp"

namespace lapilli::vulkan {

class MemoryLedger;

// Bytes wanted, and the parts of the message if there is no room for them.
struct MemoryNeed {
  enum class For : uint8_t { weights, searches } purpose = For::searches;
  uint64_t bytes = 0;
  const char* what = "";    // "this batch"
  const char* advice = "";  // "use a smaller batch"
};

// Bytes that a ledger has counted; given back when the memory that they stand for is freed.
class MemoryShare {
 public:
  MemoryShare() = default;
  MemoryShare(std::shared_ptr<MemoryLedger> ledger, const MemoryNeed& need) : ledger_(std::move(ledger)), need_(need) {}
  MemoryShare(MemoryShare&& other) noexcept : ledger_(std::move(other.ledger_)), need_(other.need_) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(need_, other.need_);
    return *this;
  }
  ~MemoryShare();
  // Counts bytes of another share of the same ledger from now on: memory that has changed hands.
  void take_from(MemoryShare& other, uint64_t bytes);

 private:
  std::shared_ptr<MemoryLedger> ledger_;
  MemoryNeed need_;
};

// Thread-safe.
class MemoryLedger : public std::enable_shared_from_this<MemoryLedger> {
 public:
  // A device's. limit: bytes for weights and searches together; 0: unlimited. `make_room` gives back unused memory of
  // its models; it is called when there is no room.
  static std::shared_ptr<MemoryLedger> of_device(uint64_t limit, std::function<void()> make_room);
  // A model's on that device; its bytes count for the device, too.
  static std::shared_ptr<MemoryLedger> of_model(uint64_t limit, std::shared_ptr<MemoryLedger> device);

  // Counts the bytes; out_of_memory if there is no room, even after make_room().
  Result<MemoryShare> reserve(const MemoryNeed& need);
  // Gives back unused memory of the ledger's owner; call it before the first reserve() of searches.
  void set_make_room(std::function<void()> make_room) { make_room_ = std::move(make_room); }
  // Changes the limit; held memory stays.
  void set_limit(uint64_t bytes);
  // Bytes of weights and searches together.
  [[nodiscard]] uint64_t held() const;
  // Bytes that may still be reserved; of a limit of 0: all.
  [[nodiscard]] uint64_t left() const;

 private:
  friend class MemoryShare;
  MemoryLedger(uint64_t limit, std::shared_ptr<MemoryLedger> device) : limit_(limit), device_(std::move(device)) {}
  MemoryLedger* full_for(const MemoryNeed& need);
  void add(const MemoryNeed& need);
  void give_back(const MemoryNeed& need);
  [[nodiscard]] bool fits(uint64_t bytes) const { return limit_ == 0 || bytes <= limit_ - std::min(limit_, total()); }
  [[nodiscard]] uint64_t total() const { return held_[0] + held_[1]; }
  uint64_t& held(MemoryNeed::For purpose) { return held_[static_cast<size_t>(purpose)]; }
  [[nodiscard]] Failure refusal(const MemoryNeed& need) const;
  [[nodiscard]] std::mutex& mutex() const { return device_ ? device_->mutex_ : mutex_; }

  uint64_t limit_ = 0;
  std::array<uint64_t, 2> held_{};              // by purpose
  const std::shared_ptr<MemoryLedger> device_;  // null: this is the device's
  std::function<void()> make_room_ = [] {};
  mutable std::mutex mutex_;  // the device's guards the ledgers of its models
};

}  // namespace lapilli::vulkan
