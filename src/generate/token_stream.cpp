#include "generate/token_stream.hpp"

#include <algorithm>
#include <bit>
#include <optional>

namespace lapilli {

Status OnceStream::push(size_t source, std::span<const int32_t> ids) {
  Source& s = sources_[source];
  const size_t known = std::min(ids.size(), s.given.size() - std::min(s.seen, s.given.size()));
  if (!std::equal(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(known),
                  s.given.begin() + static_cast<ptrdiff_t>(std::min(s.seen, s.given.size()))))
    return fail(ErrorCode::internal,
                "source %zu: its search was run again and departs from what was streamed of it; run it without streaming",
                source);
  s.seen += ids.size();
  const auto fresh = ids.subspan(known);
  if (fresh.empty()) return {};
  s.given.insert(s.given.end(), fresh.begin(), fresh.end());
  return sink_ ? sink_(source, fresh) : Status{};
}

Status OnceStream::complete(size_t source, std::span<const int32_t> all) {
  const Source& s = sources_[source];
  if (s.seen > all.size() || s.seen > s.given.size() ||
      !std::equal(all.begin(), all.begin() + static_cast<ptrdiff_t>(s.seen), s.given.begin()))
    return fail(ErrorCode::internal, "source %zu: its result does not begin with the %zu ids that were streamed", source,
                s.seen);
  return push(source, all.subspan(s.seen));
}

const uint32_t* SettledIds::entry(std::span<const uint32_t> log, uint32_t t, uint32_t slot) const {
  return log.data() + t * LogLayout::stride(s_.shape.slots()) + LogLayout::header + 4 * uint64_t{slot};
}

void SettledIds::read(uint32_t t, std::span<const uint32_t> log) {
  if (t + 1 < s_.prefix) return;  // the step's ids are given ones
  for (uint32_t i = 0; i < sentences_.size(); ++i) {
    if (sentences_[i].ended) continue;
    if (s_.shape.beams == 1)
      read_one_beam(t, log, i);
    else
      read_beams(t, log, i);
  }
}

std::vector<int32_t> SettledIds::take(uint32_t sentence) { return std::exchange(sentences_[sentence].fresh, {}); }

void SettledIds::read_one_beam(uint32_t t, std::span<const uint32_t> log, uint32_t sentence) {
  Sentence& s = sentences_[sentence];
  const auto token = static_cast<int32_t>(entry(log, t, sentence)[0]);
  s.fresh.push_back(token);
  s.ended = t + 2 >= s_.max_length || std::find(s_.end_ids.begin(), s_.end_ids.end(), token) != s_.end_ids.end();
}

// Hypotheses are distinct, so what two of them share is the path to their last common entry of the log. Goes back from
// step t with all that can win until one entry is left.
void SettledIds::read_beams(uint32_t t, std::span<const uint32_t> log, uint32_t sentence) {
  Sentence& s = sentences_[sentence];
  const uint32_t first = sentence * s_.shape.beams, slots = s_.shape.slots();
  const uint32_t first_step = std::max(s_.prefix - 1, s.next);
  s.ended = (entry(log, t, first)[3] & LogLayout::note_done) != 0;
  std::vector<uint32_t> on;  // slots of step `u`
  const auto add = [&](uint32_t slot) {
    if (slot < slots && std::find(on.begin(), on.end(), slot) == on.end()) on.push_back(slot);
  };
  for (uint32_t b = 0; b < s_.shape.beams && !s.ended; ++b)
    if (std::bit_cast<float>(entry(log, t, first + b)[2]) > kForbidden) add(first + b);
  // The best finished hypothesis ended at some step; what it shares lies before that.
  std::optional<uint32_t> ended_at;
  uint32_t ended_slot = 0;
  if (const uint32_t note = entry(log, t, first + 1)[3]; note != 0) {
    ended_at = LogLayout::note_step(note);
    ended_slot = LogLayout::note_slot(note);
  }
  for (uint32_t u = t; u + 1 > first_step; --u) {
    if (ended_at && *ended_at == u + 1) add(ended_slot);
    const bool all_in = !ended_at || *ended_at > u;
    if (on.size() == 1 && all_in) {
      // Settled: steps first_step..u along this path.
      std::vector<int32_t> ids;
      for (uint32_t v = u + 1, slot = on.front(); v-- > first_step;) {
        if (slot >= slots) return;  // a damaged log; trace_back will say so
        ids.push_back(static_cast<int32_t>(entry(log, v, slot)[0]));
        slot = entry(log, v, slot)[1];
      }
      s.fresh.insert(s.fresh.end(), ids.rbegin(), ids.rend());
      s.next = u + 1;
      return;
    }
    std::vector<uint32_t> parents;
    on.swap(parents);
    for (const uint32_t slot : parents) add(entry(log, u, slot)[1]);
    if (u == 0) return;
  }
}

}  // namespace lapilli
