#include "generate/trace_back.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace lapilli {

namespace {

constexpr uint32_t kFinishedWords = 4;  // score, step, slot, token

float or_infinity(float score) { return score <= kForbidden ? -std::numeric_limits<float>::infinity() : score; }

// Scores per token from running sums, the first of which stands before any token was generated.
std::vector<float> differences(const std::vector<float>& sums) {
  std::vector<float> out;
  for (size_t i = 1; i < sums.size(); ++i)
    out.push_back(sums[i] <= kForbidden || sums[i - 1] <= kForbidden ? or_infinity(kForbidden) : sums[i] - sums[i - 1]);
  return out;
}

// Ids of the hypothesis that ended at `step` in `slot`, without its last token, and the running sums behind each
// generated one.
Status follow(const SearchRecord& r, uint32_t step, uint32_t slot, std::span<const int32_t> prefix, Hypothesis& h,
              std::vector<float>& sums) {
  const uint64_t stride = LogLayout::stride(r.shape.slots());
  std::vector<int32_t> ids, beams;
  for (uint32_t t = step; t-- > 0;) {
    beams.push_back(static_cast<int32_t>(slot));
    const uint32_t* entry = r.log.data() + t * stride + LogLayout::header + 4 * uint64_t{slot};
    ids.push_back(static_cast<int32_t>(entry[0]));
    if (t + 1 >= prefix.size()) sums.push_back(std::bit_cast<float>(entry[2]));
    slot = entry[1];
    if (slot >= r.shape.slots())
      return fail(ErrorCode::internal, "the step log names slot %u of %u", slot, r.shape.slots());
  }
  beams.push_back(static_cast<int32_t>(slot));
  ids.push_back(prefix.front());
  std::reverse(ids.begin(), ids.end());
  std::reverse(beams.begin(), beams.end());
  sums.push_back(0);
  std::reverse(sums.begin(), sums.end());
  // Given ids were not chosen: only what was generated has a beam.
  h.beam_indices.assign(beams.begin() + std::min<ptrdiff_t>(static_cast<ptrdiff_t>(beams.size()),
                                                            static_cast<ptrdiff_t>(prefix.size()) - 1),
                        beams.end());
  h.ids = std::move(ids);
  return {};
}

}  // namespace

Result<std::vector<Hypothesis>> trace_back(const SearchRecord& r, uint32_t sentence, std::span<const int32_t> prefix,
                                           uint32_t count) {
  const uint32_t beams = r.shape.beams;
  const uint32_t* state = r.search.data() + uint64_t{sentence} * SearchLayout::stride(beams);
  const uint32_t finished = state[SearchLayout::finished];
  if (finished > beams) return fail(ErrorCode::internal, "%u finished hypotheses of %u beams", finished, beams);
  std::vector<Hypothesis> all;
  for (uint32_t i = 0; i < std::min(finished, count); ++i) {
    const uint32_t* f = state + SearchLayout::finished_list(beams) + kFinishedWords * i;
    const uint32_t step = f[1], slot = f[2];
    if (step >= r.steps || slot >= r.shape.slots())
      return fail(ErrorCode::internal, "a finished hypothesis points to step %u of %u, slot %u", step, r.steps, slot);
    Hypothesis h;
    h.score = or_infinity(std::bit_cast<float>(f[0]));
    // The token at position `step` came out of step - 1 into this slot; the last one is in the list itself.
    std::vector<float> sums;
    LAPILLI_CHECK(follow(r, step, slot, prefix, h, sums));
    h.ids.push_back(static_cast<int32_t>(f[3]));
    const auto generated = static_cast<float>(h.ids.size() - prefix.size());
    sums.push_back(std::bit_cast<float>(f[0]) * std::pow(generated, r.length_penalty));
    h.token_scores = differences(sums);
    all.push_back(std::move(h));
  }
  return all;
}

Result<std::vector<int32_t>> slot_history(const SearchRecord& r, uint32_t slot,
                                          std::span<const std::vector<int32_t>> prefixes) {
  const uint64_t stride = LogLayout::stride(r.shape.slots()), beams = r.shape.beams;
  const uint64_t slots = std::min<uint64_t>(r.shape.slots(), prefixes.size() * beams);
  std::vector<int32_t> ids;
  for (uint32_t t = r.steps;; --t) {
    if (slot >= slots)
      return fail(ErrorCode::internal, "the search names slot %u of %llu", slot,
                  static_cast<unsigned long long>(slots));
    if (t == 0) break;
    const uint32_t* entry = r.log.data() + (t - 1) * stride + LogLayout::header + 4 * uint64_t{slot};
    ids.push_back(static_cast<int32_t>(entry[0]));
    slot = entry[1];
  }
  ids.push_back(prefixes[slot / beams].front());
  std::reverse(ids.begin(), ids.end());
  return ids;
}

}  // namespace lapilli
