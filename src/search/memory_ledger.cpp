#include "search/memory_ledger.hpp"

namespace lapilli {

namespace {
double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
}  // namespace

Result<MemoryShare> MemoryLedger::reserve(uint64_t bytes) {
  for (bool tried = false;; tried = true) {
    // Counts only what fits: an overshoot, even for a moment, could make another search's reservation fail.
    uint64_t others = held_->load();
    const uint64_t limit = limit_;
    while (limit == 0 || weight_bytes_ + others + bytes <= limit)
      if (held_->compare_exchange_weak(others, others + bytes)) return MemoryShare(held_, bytes);
    if (tried)
      return fail(
          ErrorCode::out_of_memory,
          "this batch needs %.1f MiB of device memory beside %.1f MiB of weights and %.1f MiB of other jobs; the "
          "memory limit is %.1f MiB: use a smaller batch, fewer beams or shorter input",
          mib(bytes), mib(weight_bytes_), mib(others), mib(limit));
    make_room();
  }
}

}  // namespace lapilli
