#include "vulkan/device/memory_ledger.hpp"

#include <algorithm>
#include <limits>

namespace lapilli::vulkan {

namespace {
double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
}  // namespace

MemoryShare::~MemoryShare() {
  if (ledger_) ledger_->give_back(need_);
}

void MemoryShare::take_from(MemoryShare& other, uint64_t bytes) {
  bytes = std::min(bytes, other.need_.bytes);
  other.need_.bytes -= bytes;
  need_.bytes += bytes;
}

std::shared_ptr<MemoryLedger> MemoryLedger::of_device(uint64_t limit, std::function<void()> make_room) {
  std::shared_ptr<MemoryLedger> ledger(new MemoryLedger(limit, nullptr));
  ledger->set_make_room(std::move(make_room));
  return ledger;
}

std::shared_ptr<MemoryLedger> MemoryLedger::of_model(uint64_t limit, std::shared_ptr<MemoryLedger> device) {
  return std::shared_ptr<MemoryLedger>(new MemoryLedger(limit, std::move(device)));
}

// Counts only what fits: an overshoot, even for a moment, could make another reservation fail.
Result<MemoryShare> MemoryLedger::reserve(const MemoryNeed& need) {
  for (const MemoryLedger* asked = nullptr;;) {
    MemoryLedger* full = nullptr;
    {
      const std::lock_guard lock(mutex());
      full = full_for(need);
      if (!full) return add(need), MemoryShare(shared_from_this(), need);
      if (full == asked) return full->refusal(need);
    }
    full->make_room_();
    asked = full;
  }
}

// The ledger whose limit leaves no room; null if there is room.
MemoryLedger* MemoryLedger::full_for(const MemoryNeed& need) {
  if (!fits(need.bytes)) return this;
  return device_ ? device_->full_for(need) : nullptr;
}

void MemoryLedger::add(const MemoryNeed& need) {
  held(need.purpose) += need.bytes;
  if (device_) device_->add(need);
}

void MemoryLedger::give_back(const MemoryNeed& need) {
  const std::lock_guard lock(mutex());
  for (MemoryLedger* ledger = this; ledger; ledger = ledger->device_.get()) ledger->held(need.purpose) -= need.bytes;
}

Failure MemoryLedger::refusal(const MemoryNeed& need) const {
  const char* whose = device_ ? "of this model is" : "of the device, which all its models share, is";
  const char* first = device_ ? "raise it, or" : "free another model, raise the limit, or";
  return fail(ErrorCode::out_of_memory,
              "%.1f MiB of device memory are needed for %s, beside %.1f MiB of weights and %.1f MiB of searches; the "
              "memory limit %s %.1f MiB: %s %s",
              mib(need.bytes), need.what, mib(held_[0]), mib(held_[1]), whose, mib(limit_), first, need.advice);
}

void MemoryLedger::set_limit(uint64_t bytes) {
  const std::lock_guard lock(mutex());
  limit_ = bytes;
}

uint64_t MemoryLedger::held() const {
  const std::lock_guard lock(mutex());
  return total();
}

uint64_t MemoryLedger::left() const {
  const std::lock_guard lock(mutex());
  return limit_ == 0 ? std::numeric_limits<uint64_t>::max() : limit_ - std::min(limit_, total());
}

}  // namespace lapilli::vulkan
