#include "search/workspace_key.hpp"

#include <algorithm>
#include <bit>

#include "search/inbox.hpp"

namespace lapilli {

uint32_t length_bucket(uint64_t n) {
  const uint64_t step = n <= 32 ? 8 : n <= 128 ? 32 : n <= 512 ? 128 : 512;
  return static_cast<uint32_t>(round_up(n, step));
}

uint32_t cache_bucket(uint64_t n) {
  const uint64_t step = n <= 256 ? 32 : n <= 1024 ? 64 : n <= 4096 ? 256 : 512;
  return static_cast<uint32_t>(round_up(n, step));
}

uint32_t prompt_id_room(const WorkspaceKey& key) {
  constexpr uint32_t kCopied = 1024;  // ids whose keys and values are copied
  return key.shape.running + (key.prompt_rows ? key.prompt_rows + kCopied : 0);
}

uint32_t list_room(uint64_t words, uint32_t own) {
  constexpr uint64_t kLeast = 256, kMost = uint64_t{1} << 23;
  const uint64_t all = std::min(words + 2 * words * own, std::max(words, kMost));
  return static_cast<uint32_t>(std::bit_ceil(std::max(all, kLeast)));
}

uint32_t prepared_beside(uint32_t running, bool encodes) { return encodes ? running : div_up(running, 4u); }

void complete_key(WorkspaceKey& key, uint32_t waiting) {
  SessionShape& s = key.shape;
  s.slots = std::min(s.running + waiting, state::MAX_ROWS / s.beams);
  // Ticks in flight: two submissions.
  s.log_ticks = std::bit_ceil(2 * std::max(1u, key.steps_per_submit));
  s.inbox_words = inbox_words({s.running, prompt_id_room(key), s.list_words, s.slots});
}

WorkspaceKey plain_key(uint32_t sentences, uint32_t beams, uint32_t source_positions, uint32_t target_positions) {
  WorkspaceKey key;
  key.shape.running = sentences;
  key.shape.beams = beams;
  key.shape.source_positions = source_positions;
  key.shape.target_positions = target_positions;
  key.shape.list_words = 256;
  key.candidates = beams == 1 ? 1 : 2 * beams;
  key.encode_rows = sentences * source_positions;
  complete_key(key, 0);
  return key;
}

std::vector<uint32_t> narrow_sentences(const WorkspaceKey& key) {
  std::vector<uint32_t> sentences;
  for (uint32_t s = key.shape.running; s > 1 && key.narrow && !key.capture;) {
    s = div_up(s, 2u);
    sentences.push_back(s);
  }
  return sentences;
}

std::vector<uint32_t> encode_rows(const WorkspaceKey& key) {
  std::vector<uint32_t> rows;
  for (uint32_t r = key.encode_rows; r > 0 && (rows.empty() || r >= 8); r /= 4) rows.push_back(r);
  return rows;
}

}  // namespace lapilli
