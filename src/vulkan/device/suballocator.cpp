#include "vulkan/device/suballocator.hpp"

#include <iterator>

namespace lapilli::vulkan {

Suballocator::Suballocator(uint64_t bytes) : size_(bytes) {
  if (bytes) free_[0] = bytes;
}

std::optional<uint64_t> Suballocator::allocate(uint64_t bytes, uint64_t alignment) {
  if (bytes == 0 || alignment == 0 || (alignment & (alignment - 1))) return std::nullopt;
  auto best = free_.end();
  uint64_t best_offset = 0;
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const uint64_t offset = (it->first + alignment - 1) & ~(alignment - 1);
    const uint64_t lost = offset - it->first;
    if (it->second < lost || it->second - lost < bytes) continue;
    if (best == free_.end() || it->second < best->second) best = it, best_offset = offset;
  }
  if (best == free_.end()) return std::nullopt;
  const auto [start, length] = *best;
  const uint64_t end = best_offset + bytes, rest = start + length - end;
  std::map<uint64_t, uint64_t> made;  // allocates before changing anything
  made[best_offset] = bytes;
  if (rest) made[end] = rest;
  used_.insert(made.extract(best_offset));
  if (best_offset > start)
    best->second = best_offset - start;
  else
    free_.erase(best);
  if (rest) free_.insert(made.extract(end));
  return best_offset;
}

bool Suballocator::release(uint64_t offset) noexcept {
  auto range = used_.extract(offset);
  if (range.empty()) return false;
  uint64_t start = offset, end = offset + range.mapped();
  auto next = free_.lower_bound(start);
  if (next != free_.end() && next->first == end) {
    end += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      start = before->first;
      free_.erase(before);
    }
  }
  range.key() = start;
  range.mapped() = end - start;
  free_.insert(std::move(range));
  return true;
}

uint64_t Suballocator::free_bytes() const {
  uint64_t n = 0;
  for (const auto& [offset, bytes] : free_) n += bytes;
  return n;
}

}  // namespace lapilli::vulkan
