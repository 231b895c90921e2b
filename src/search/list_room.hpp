// Who has which words of a session's lists: blocks that sentences share if they hold the same.
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
    bool fresh = false;  // its words are not there yet
  };
  // A block with these words, held once more; none if there is no room.
  std::optional<Block> hold(const std::vector<uint32_t>& words);
  // Held once less; free when nobody holds it.
  void release(const std::vector<uint32_t>& words);

 private:
  struct Held {
    uint32_t offset = 0;
    uint32_t holders = 0;
  };
  [[nodiscard]] std::optional<uint32_t> find_gap(uint32_t words) const;

  uint32_t words_;
  std::map<std::vector<uint32_t>, Held> blocks_;
  std::map<uint32_t, uint32_t> taken_;  // offset and words
};

}  // namespace lapilli
