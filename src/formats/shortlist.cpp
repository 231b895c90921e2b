#include "formats/shortlist.hpp"

#include <algorithm>
#include <cstring>

#include "base/math.hpp"

namespace lapilli {

namespace {

constexpr uint64_t kListMagic = 0xF11A48D5013417F5;
constexpr uint64_t kMostListBytes = uint64_t{256} << 20;

struct ListHeader {
  uint64_t magic, checksum, frequent, best, offsets, ids;
};

// The checksum covers all whole words behind it.
uint64_t list_checksum(std::span<const std::byte> bytes) {
  uint64_t sum = 0;
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    sum ^= word + 0x9e3779b9 + (sum << 6) + (sum >> 2);
  }
  return sum;
}

Result<ListHeader> read_list_header(const FileName& name, std::span<const std::byte> bytes) {
  ListHeader h{};
  if (bytes.size() < sizeof(h)) return fail(ErrorCode::invalid_data, "%s is no shortlist, or is cut off", name);
  std::memcpy(&h, bytes.data(), sizeof(h));
  if (h.magic != kListMagic) return fail(ErrorCode::invalid_data, "%s is no shortlist of Marian's", name);
  uint64_t offsets = 0, ids = 0, all = 0;
  const bool fits = checked_mul(h.offsets, sizeof(uint64_t), offsets) && checked_mul(h.ids, sizeof(uint32_t), ids) &&
                    checked_add(offsets, ids, all) && checked_add(all, sizeof(h), all) && all == bytes.size();
  if (!fits)
    return fail(ErrorCode::invalid_data, "%s says that it has %u offsets and %u ids, and has %u bytes; fetch it again",
                name, h.offsets, h.ids, bytes.size());
  if (list_checksum(bytes.subspan(2 * sizeof(uint64_t))) != h.checksum)
    return fail(ErrorCode::invalid_data, "%s is damaged: its checksum is another; fetch it again", name);
  return h;
}

// The advice where a list does not fit the model.
constexpr const char* kListAdvice = "it is of another model; take it away, and the whole vocabulary is used";

}  // namespace

Result<Shortlist> Shortlist::read(const FileName& name, const ShortlistIds& ids) {
  LAPILLI_TRY(const auto file, File::open(name));
  if (file.size() > kMostListBytes)
    return fail(ErrorCode::invalid_data, "%s has %u bytes; shortlists have at most %u", name, file.size(),
                kMostListBytes);
  LAPILLI_TRY(const auto bytes, file.view(0, file.size()));
  LAPILLI_TRY(const ListHeader h, read_list_header(name, bytes));
  Shortlist s;
  s.vocabulary_ = ids;
  s.frequent_ = h.frequent;
  s.offsets_.resize(h.offsets);
  s.ids_.resize(h.ids);
  const std::byte* at = bytes.data() + sizeof(ListHeader);
  if (!s.offsets_.empty()) std::memcpy(s.offsets_.data(), at, s.offsets_.size() * sizeof(uint64_t));
  if (!s.ids_.empty())
    std::memcpy(s.ids_.data(), at + s.offsets_.size() * sizeof(uint64_t), s.ids_.size() * sizeof(uint32_t));
  if (!std::ranges::is_sorted(s.offsets_) || (!s.offsets_.empty() && s.offsets_.back() > s.ids_.size()))
    return fail(ErrorCode::invalid_data, "%s is damaged: its offsets fall, or pass its %u ids", name, s.ids_.size());
  const auto highest = std::ranges::max_element(s.ids_);
  if (highest != s.ids_.end() && *highest >= ids.target)
    return fail(ErrorCode::invalid_data, "%s has id %u, and the vocabulary %u ids: %s", name, *highest, ids.target,
                kListAdvice);
  if (h.frequent > ids.target || s.offsets_.size() > ids.source + 1)
    return fail(ErrorCode::invalid_data, "%s has lists for %u ids, and the vocabulary %u: %s", name,
                std::max<uint64_t>(h.frequent, s.offsets_.size()), ids.source, kListAdvice);
  return s;
}

std::vector<uint32_t> Shortlist::mask(std::span<const int32_t> source) const {
  constexpr uint64_t kTogether = 8;
  std::vector<uint32_t> words(div_up<uint64_t>(vocabulary_.target, 32), 0);
  uint64_t count = 0;
  const auto allow = [&](uint64_t id) {
    uint32_t& word = words[id / 32];
    const uint32_t bit = 1u << (id % 32);
    if ((word & bit) == 0) ++count;
    word |= bit;
  };
  for (uint64_t id = 0; id < frequent_; ++id) allow(id);
  for (const int32_t signed_id : source) {
    const auto id = static_cast<uint64_t>(signed_id);
    if (vocabulary_.shared && id < vocabulary_.target) allow(id);
    if (id + 1 >= offsets_.size()) continue;
    for (uint64_t i = offsets_[id]; i < offsets_[id + 1]; ++i) allow(ids_[i]);
  }
  for (uint64_t id = frequent_; id < vocabulary_.target && count % kTogether != 0; ++id) allow(id);
  return words;
}

}  // namespace lapilli
