#include "search/list_room.hpp"

namespace lapilli {

std::optional<uint32_t> ListRoom::find_gap(uint32_t words) const {
  uint32_t at = 0;
  for (const auto& [offset, taken] : taken_) {
    if (offset - at >= words) return at;
    at = offset + taken;
  }
  if (words_ - at >= words) return at;
  return std::nullopt;
}

std::optional<ListRoom::Block> ListRoom::hold(const std::vector<uint32_t>& words) {
  if (words.empty()) return Block{};
  if (const auto it = blocks_.find(words); it != blocks_.end()) {
    ++it->second.holders;
    return Block{it->second.offset, false};
  }
  const auto n = static_cast<uint32_t>(words.size());
  const auto gap = find_gap(n);
  if (!gap) return std::nullopt;
  taken_[*gap] = n;
  blocks_[words] = {*gap, 1};
  return Block{*gap, true};
}

void ListRoom::release(const std::vector<uint32_t>& words) {
  const auto it = blocks_.find(words);
  if (it == blocks_.end() || --it->second.holders > 0) return;
  taken_.erase(it->second.offset);
  blocks_.erase(it);
}

}  // namespace lapilli
