// Fingerprints of bytes: 128 bits that change with them, at the speed of memory. Against damage and change, not malice.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lapilli::vectors {

struct Fingerprint {
  uint64_t first = 0, second = 0;
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
  [[nodiscard]] std::string hex() const;
};

// The parts' sizes do not matter. A difference within eight neighbouring bytes is always found.
class Fingerprinter {
 public:
  void add(const void* bytes, size_t count);
  void add(std::string_view text) { add(text.data(), text.size()); }
  [[nodiscard]] Fingerprint result() const;

 private:
  static constexpr size_t kLanes = 8, kStripe = kLanes * sizeof(uint64_t);
  void take(const unsigned char* stripe);

  std::array<uint64_t, kLanes> lanes_{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<unsigned char, kStripe> rest_{};
  uint64_t bytes_ = 0;
};

Fingerprint fingerprint_of(std::string_view text);

}  // namespace lapilli::vectors
