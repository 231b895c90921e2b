#include "search/token_stream.hpp"

#include <algorithm>
#include <optional>

namespace lapilli {

// Number of these ids that an earlier search has passed on.
size_t OnceStream::known(const Source& s, size_t ids) {
  return std::min(ids, s.given.size() - std::min(s.seen, s.given.size()));
}

bool OnceStream::agrees(size_t source, std::span<const int32_t> ids) const {
  const Source& s = sources_[source];
  const auto before = ids.first(known(s, ids.size()));
  const size_t from = std::min(s.seen, s.given.size());
  return std::equal(before.begin(), before.end(), s.given.begin() + static_cast<ptrdiff_t>(from));
}

Status OnceStream::push(size_t source, std::span<const int32_t> ids) {
  if (!agrees(source, ids))
    return fail(
        ErrorCode::internal,
        "source %u: its search was run again and departs from what was streamed of it; run it without streaming",
        source);
  Source& s = sources_[source];
  const auto fresh = ids.subspan(known(s, ids.size()));
  s.seen += ids.size();
  if (fresh.empty()) return {};
  s.given.insert(s.given.end(), fresh.begin(), fresh.end());
  return sink_ ? sink_(source, fresh) : Status{};
}

Status OnceStream::complete(size_t source, std::span<const int32_t> all) {
  const Source& s = sources_[source];
  if (s.seen > all.size() || s.seen > s.given.size() ||
      !std::equal(all.begin(), all.begin() + static_cast<ptrdiff_t>(s.seen), s.given.begin()))
    return fail(ErrorCode::internal, "source %u: its result does not begin with the %u ids that were streamed", source,
                s.seen);
  return push(source, all.subspan(s.seen));
}

std::vector<int32_t> CommittedIds::take(const SentenceLog& log) {
  for (; read_ < log.steps() && !ended_; ++read_) {
    ended_ = (log.at(read_, 0).note & state::LOG_NOTE_ENDED) != 0;
    if (log.beams == 1)
      fresh_.push_back(log.at(read_, 0).token);
    else if (!ended_)
      read_beams(log, read_);
  }
  return std::exchange(fresh_, {});
}

// Hypotheses are distinct, so two of them share exactly the path up to their last common log entry. Walks back from
// `step` with all that can still win until a single entry is left.
void CommittedIds::read_beams(const SentenceLog& log, uint32_t step) {
  std::vector<uint32_t> on;  // beams of step `u`
  const auto add = [&](uint32_t beam) {
    if (beam < log.beams && std::find(on.begin(), on.end(), beam) == on.end()) on.push_back(beam);
  };
  for (uint32_t b = 0; b < log.beams; ++b)
    if (log.at(step, b).running > state::FORBIDDEN) add(b);
  // The best finished hypothesis left the beams at some step; it joins the walk there.
  std::optional<uint32_t> ended_at;
  uint32_t ended_beam = 0;
  if (const uint32_t note = log.at(step, 1).note; note != 0) {
    ended_at = log.step_at(state::position_of(note - 1));
    ended_beam = state::beam_slot_of(note - 1);
  }
  for (uint32_t u = step; u + 1 > next_; --u) {
    if (ended_at && *ended_at == u + 1) add(ended_beam);
    const bool all_in = !ended_at || *ended_at > u;
    if (on.size() == 1 && all_in) {
      // Settled: steps next_..u along this path.
      std::vector<int32_t> ids;
      for (uint32_t v = u + 1, beam = on.front(); v-- > next_;) {
        if (beam >= log.beams) return;  // a damaged log; trace_back will report it
        ids.push_back(log.at(v, beam).token);
        beam = log.at(v, beam).parent;
      }
      fresh_.insert(fresh_.end(), ids.rbegin(), ids.rend());
      next_ = u + 1;
      return;
    }
    std::vector<uint32_t> parents;
    on.swap(parents);
    for (const uint32_t beam : parents) add(log.at(u, beam).parent);
    if (u == 0) return;
  }
}

}  // namespace lapilli
