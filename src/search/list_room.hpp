// Allocator of a session's list words: sentences with equal lists share a block.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace lapilli {

class ListRoom {
 public:
  explicit ListRoom(uint32_t words) : words_(words) {}

  struct Block {
    uint32_t offset = 0;
    bool fresh = false;  // its words have not been sent yet
  };
  // A block with these words, with one more holder; none if there is no room.
  std::optional<Block> hold(const std::vector<uint32_t>& words);
  // Drops one holder; a block without holders is free.
  void release(const std::vector<uint32_t>& words);

 private:
  struct Held {
    uint32_t offset = 0;
    uint32_t holders = 0;
  };
  [[nodiscard]] std::optional<uint32_t> find_gap(uint32_t words) const;

  uint32_t words_;
  std::map<std::vector<uint32_t>, Held> blocks_;
  std::map<uint32_t, uint32_t> taken_;  // offset and size of each block in words
};

}  // namespace lapilli
