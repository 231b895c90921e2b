#include "documents/kept/kept_words.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/placeholders.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kBeginning = 2;  // bytes by which names are found

bool is_part_of_word(char32_t c) { return !is_sign(c) && !is_blank(c); }

// No word goes on in front of the range or behind it.
bool is_whole(std::string_view text, Range range) {
  size_t first = range.begin, before = range.begin, last = range.end, behind = range.end;
  const bool begins = range.begin == 0 || !is_part_of_word(previous_character(text, before)) ||
                      !is_part_of_word(next_character(text, first));
  const bool ends = range.end == text.size() || !is_part_of_word(next_character(text, behind)) ||
                    !is_part_of_word(previous_character(text, last));
  return begins && ends;
}

// Within kept words there is nothing to keep, and no tag may begin or end in a name.
bool is_free(const Part& part, Range range) {
  return std::ranges::all_of(part.tags, [&](const Tag& tag) {
    const auto inside = [&](size_t at) { return at > range.begin && at < range.end; };
    const bool apart = tag.text.end <= range.begin || tag.text.begin >= range.end;
    const bool around = tag.shape == Shape::pair && tag.text.begin <= range.begin && tag.text.end >= range.end;
    return (apart || around) && !inside(tag.text.begin) && !inside(tag.text.end);
  });
}

// The deepest pair around a range.
uint32_t pair_around(const std::vector<Tag>& tags, Range range) {
  uint32_t deepest = Tag::kNoParent;
  for (size_t i = 0; i < tags.size(); ++i)
    if (tags[i].shape == Shape::pair && tags[i].text.begin <= range.begin && tags[i].text.end >= range.end)
      deepest = static_cast<uint32_t>(i);
  return deepest;
}

// Puts new tags among the others, in the order of their text.
void insert_tags(std::vector<Tag>& tags, std::vector<Tag> added) {
  std::vector<Tag> all;
  std::vector<uint32_t> now(tags.size());
  size_t next = 0;
  for (size_t i = 0; i < tags.size(); ++i) {
    for (; next < added.size() && added[next].text.end <= tags[i].text.begin; ++next) all.push_back(added[next]);
    now[i] = static_cast<uint32_t>(all.size());
    all.push_back(tags[i]);
  }
  all.insert(all.end(), added.begin() + static_cast<ptrdiff_t>(next), added.end());
  for (Tag& tag : all)
    if (tag.parent != Tag::kNoParent) tag.parent = now[tag.parent];
  tags = std::move(all);
}

// ---- placeholders ----

std::vector<Range> placeholders_in(std::string_view text) {
  std::vector<Range> found;
  for (Placeholder p = find_placeholder(text, 0); p.end > p.begin; p = find_placeholder(text, p.end))
    found.push_back({p.begin, p.end});
  return found;
}

bool is_placeholder(std::string_view text) {
  const Placeholder p = find_placeholder(text, 0);
  return p.begin == 0 && p.end == text.size() && p.end > 0;
}

// Kept placeholders of a passage in order.
std::vector<std::string_view> kept_placeholders(const Passage& passage) {
  std::vector<std::string_view> kept;
  for (const Part& part : passage.parts)
    for (const Tag& tag : part.tags)
      if (tag.shape == Shape::kept && is_placeholder(tag.text.of(part.text))) kept.push_back(tag.text.of(part.text));
  return kept;
}

// Bytes of a translation that become others.
struct Mending {
  Range at;
  std::string_view text;
};

// Each placeholder that the source lacks takes the letters of one that the translation lacks, or goes.
std::vector<Mending> find_mendings(const std::vector<std::string_view>& wanted, std::string_view target) {
  std::map<std::string_view, size_t> left;
  for (const std::string_view one : wanted) ++left[one];
  std::vector<Range> surplus;
  for (const Range& there : placeholders_in(target)) {
    const auto at = left.find(there.of(target));
    if (at == left.end() || at->second == 0)
      surplus.push_back(there);
    else
      --at->second;
  }
  std::vector<Mending> mendings;
  for (const Range& there : surplus) {
    const auto lost = std::ranges::find_if(
        wanted, [&](std::string_view one) { return left[one] > 0 && one.front() == target[there.begin]; });
    mendings.push_back({there, lost == wanted.end() ? std::string_view() : *lost});
    if (lost != wanted.end()) --left[*lost];
  }
  return mendings;
}

// Where a byte of the old text is in the new one.
size_t moved(size_t at, const std::vector<Mending>& mendings) {
  size_t now = at;
  for (const Mending& m : mendings) {
    if (m.at.begin >= at) break;
    now = now + m.text.size() - std::min(m.at.end, at) + m.at.begin;
  }
  return now;
}

Translation mended(Translation translation, std::vector<Mending> mendings) {
  for (Mending& m : mendings)
    if (m.text.empty() && m.at.begin > 0 && translation.text[m.at.begin - 1] == ' ') --m.at.begin;  // and its blank
  std::string text;
  size_t at = 0;
  for (const Mending& m : mendings) {
    text += Range{at, std::max(at, m.at.begin)}.of(translation.text);
    text += m.text;
    at = m.at.end;
  }
  text += std::string_view(translation.text).substr(at);
  for (WordLink& link : translation.links) {
    link.target_begin = moved(link.target_begin, mendings);
    link.target_end = moved(link.target_end, mendings);
  }
  translation.text = std::move(text);
  return translation;
}

}  // namespace

KeptNames::KeptNames(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!name.empty() && !find_invalid_utf8(name)) by_beginning_[name.substr(0, kBeginning)].push_back(name);
  for (auto& [beginning, all] : by_beginning_)
    std::ranges::sort(all, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

size_t KeptNames::length_at(std::string_view text, size_t at) const {
  for (const size_t beginning : {kBeginning, size_t{1}}) {  // a name may be one letter
    const auto names = by_beginning_.find(std::string(text.substr(at, beginning)));
    if (names == by_beginning_.end()) continue;
    for (const std::string& name : names->second)
      if (text.substr(at).starts_with(name) && is_whole(text, {at, at + name.size()})) return name.size();
  }
  return 0;
}

Range KeptNames::find(std::string_view text, size_t from) const {
  for (size_t at = from; at < text.size(); ++at) {
    const bool begins = (text[at] & 0xc0) != 0x80;
    const size_t length = begins ? length_at(text, at) : 0;
    if (length > 0) return {at, at + length};
  }
  return {};
}

void KeptNames::keep_in(Passage& passage) const {
  for (Part& part : passage.parts) {
    std::vector<Tag> added;
    for (Range at = find(part.text, 0); !at.empty(); at = find(part.text, at.end)) {
      if (!is_free(part, at)) continue;
      Tag& tag = added.emplace_back();
      tag.shape = Shape::kept;
      tag.text = at;
      tag.parent = pair_around(part.tags, at);
    }
    if (!added.empty()) insert_tags(part.tags, std::move(added));
  }
}

Translation with_own_placeholders(const Passage& passage, Translation translation) {
  const std::vector<std::string_view> wanted = kept_placeholders(passage);
  if (wanted.empty()) return translation;
  std::vector<Mending> mendings = find_mendings(wanted, translation.text);
  return mendings.empty() ? translation : mended(std::move(translation), std::move(mendings));
}

}  // namespace lapilli::documents
