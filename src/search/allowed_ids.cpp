#include "search/allowed_ids.hpp"

#include "base/math.hpp"
#include "formats/shortlist.hpp"

namespace lapilli {

namespace {

std::vector<uint32_t> mask_of(const Sentence& s, uint32_t vocabulary) {
  auto mask = s.shortlist->mask(s.source);
  mask.resize(allowed_words(vocabulary), 0);
  const auto allow = [&](int32_t id) { mask[static_cast<size_t>(id) / 32] |= 1u << (id % 32); };
  for (const auto* ids : {&s.options.end_ids, &s.options.forced_eos})
    for (const int32_t id : *ids) allow(id);
  if (const auto forced = s.options.forced_bos) allow(*forced);
  return mask;
}

}  // namespace

uint32_t allowed_words(uint32_t vocabulary) { return div_up(vocabulary, 32u); }

void add_allowed_ids(Sentence& s, uint32_t vocabulary) {
  if (s.shortlist && s.words.params[state::P_SHORTLIST] == 0) add_shortlist(s.words, mask_of(s, vocabulary));
}

void drop_allowed_ids(Sentence& s) {
  uint32_t& begin = s.words.params[state::P_SHORTLIST];
  if (begin == 0) return;
  s.words.lists.resize(begin - 1);
  s.words.lists.shrink_to_fit();
  begin = 0;
}

}  // namespace lapilli
