// The pace at which a client must take what is sent to it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lapilli::server {

// In each window a client takes so many bytes. The system takes bytes in steps, so what it took beyond that counts for
// some of the next windows.
class Pace {
 public:
  explicit Pace(uint64_t least_bytes) : least_(least_bytes) {}
  void took(uint64_t bytes) { credit_ = std::min(credit_ + bytes, kWindows * least_); }
  // At the end of a window: false if the client was too slow.
  [[nodiscard]] bool ends_window() {
    const bool kept = credit_ >= least_;
    credit_ -= std::min(credit_, least_);
    return kept;
  }

 private:
  static constexpr uint64_t kWindows = 4;
  const uint64_t least_;
  uint64_t credit_ = 0;
};

}  // namespace lapilli::server
