#include "documents/placement.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "documents/words.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr float kUnlinkedWord = -0.1f;       // cost in a run of an unlinked word between its own
constexpr float kSameWords = 4;              // weight of kept words that the translation has unchanged
constexpr size_t kLongestWord = 60;          // bytes of letters around kept ones
constexpr uint64_t kMostSearch = 100000000;  // bytes searched for kept words
constexpr size_t kMostPairs = 256;           // of words that one link ties each to each; more are tied in proportion
constexpr size_t kMostSigns = 64;            // between a word and a tag that stands at its place

bool is_word_at(std::string_view text, size_t at) { return at < text.size() && !is_sign(next_character(text, at)); }

// Finds whole words only: no word continues behind or in front of the match.
size_t find_whole(std::string_view text, std::string_view words, size_t from) {
  for (size_t at = text.find(words, from); at != std::string_view::npos; at = text.find(words, at + 1)) {
    size_t front = at;
    const bool begins = at == 0 || is_sign(previous_character(text, front)) || !is_word_at(words, 0);
    if (begins && !is_word_at(text, at + words.size())) return at;
  }
  return kNone;
}

// Extends the range by adjacent letters, unless they are too many for a word.
Range word_around(std::string_view text, Range range) {
  Range word = range;
  for (size_t at = range.begin; at > 0 && range.begin - at < kLongestWord;) {
    if (is_sign(previous_character(text, at))) break;
    word.begin = at;
  }
  for (size_t at = range.end; at < text.size() && at - range.end < kLongestWord;) {
    if (is_sign(next_character(text, at))) break;
    word.end = at;
  }
  return word.size() > range.size() + kLongestWord ? range : word;
}

// True if the range overlaps one of `ranges` (end by begin), which do not overlap each other.
bool meets(const std::map<size_t, size_t>& ranges, size_t begin, size_t end) {
  const auto next = ranges.lower_bound(end);
  return next != ranges.begin() && std::prev(next)->second > begin;
}

std::vector<size_t> sorted_cuts(std::vector<size_t> cuts) {
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

std::vector<size_t> tag_bounds(std::span<const Tag> tags) {
  std::vector<size_t> cuts;
  for (const Tag& tag : tags) cuts.insert(cuts.end(), {tag.text.begin, tag.text.end});
  return sorted_cuts(std::move(cuts));
}

struct Weight {
  size_t atom;
  float weight;
};

class Placement {
 public:
  Placement(std::string_view source, std::string_view target, std::span<const Tag> tags,
            std::span<const WordLink> links)
      : source_(source),
        target_(target),
        tags_(tags),
        links_(valid_links(source, target, links)),
        spans_(tags.size()),
        ranges_(tags.size()),
        children_(tags.size() + 1) {}

  std::vector<Range> run() {
    if (links_.empty()) guess_links();
    split_same_words();
    match_kept();
    cut_atoms();
    find_words();
    weigh();
    for (size_t i = 0; i < tags_.size(); ++i) children_[level_of(tags_[i].parent)].push_back(i);
    for (size_t level = 0; level < children_.size(); ++level) {
      if (!children_[level].empty()) place_level(level);
    }
    return std::move(ranges_);
  }

 private:
  // Level 0 is the whole part, level i + 1 the content of tag i.
  static size_t level_of(uint32_t parent) { return parent == Tag::kNoParent ? 0 : size_t{parent} + 1; }
  [[nodiscard]] Range source_of(size_t level) const {
    return level == 0 ? Range{0, source_.size()} : tags_[level - 1].text;
  }
  [[nodiscard]] AtomRange span_of(size_t level) const {
    return level == 0 ? AtomRange{0, to_.size()} : spans_[level - 1];
  }

  void guess_links();
  void match_kept();
  void split_same_words();
  void cut_atoms();
  void find_words();
  void weigh();
  [[nodiscard]] bool same_sign(size_t target_atom, size_t source_atom) const;
  [[nodiscard]] std::vector<size_t> same_signs(const std::vector<size_t>& from, size_t target) const;
  void weigh_link(const WordLink& link);
  void weigh_in_proportion(const std::vector<size_t>& from, const std::vector<size_t>& to, float weight);
  void weigh_kept();
  [[nodiscard]] size_t child_at(size_t level, size_t source_atom) const;
  void place_level(size_t level);
  void find_owners(size_t level, AtomRange in);
  std::pair<size_t, float> owner_of(size_t level, size_t atom) const;
  void find_runs(size_t level, AtomRange in);
  AtomRange best_run(std::span<const size_t> atoms, size_t offset) const;
  void take_free_words(size_t level, AtomRange in);
  void add_signs(size_t level, AtomRange in);
  [[nodiscard]] std::vector<std::string_view> outer_signs(Range text, bool front) const;
  bool is_outer_sign(size_t atom, const std::vector<std::string_view>& of_source, size_t& next, bool front,
                     bool kept) const;
  void set_ranges(size_t level, AtomRange in);
  void place_points(size_t level, AtomRange in);
  [[nodiscard]] size_t gap_of(const Tag& point, size_t level, AtomRange in);
  [[nodiscard]] size_t gap_of_words(const Tag& tag, size_t level, AtomRange in);
  [[nodiscard]] size_t gap_behind(size_t source_atom, AtomRange in);
  [[nodiscard]] size_t gap_before(size_t source_atom, AtomRange in);
  [[nodiscard]] bool is_sign_of(size_t target_atom, size_t source_atom, bool touches) const;
  [[nodiscard]] size_t linked_to(size_t source_atom, AtomRange in, bool last);
  [[nodiscard]] size_t in_proportion(Range text, size_t level, AtomRange in) const;
  void leave_quotes(size_t level, AtomRange in);
  void find_run_ends();
  [[nodiscard]] size_t out_of_runs(size_t gap, AtomRange in) const { return in.begin + out_of_[gap - in.begin]; }
  [[nodiscard]] size_t byte_of(size_t gap, bool glued, size_t level, AtomRange in) const;
  [[nodiscard]] bool follows_closely(size_t atom) const { return atom > 0 && to_[atom - 1].end == to_[atom].begin; }

  std::string_view source_, target_;
  std::span<const Tag> tags_;
  std::vector<WordLink> links_;
  std::vector<std::pair<size_t, Range>> kept_;  // tags whose words the target has, and where
  std::vector<Atom> from_, to_;
  std::vector<size_t> innermost_;    // by source atom: the deepest tag around it
  std::vector<size_t> word_before_;  // the nearest word up to a source atom, else the first sign
  std::vector<size_t> word_behind_;  // the nearest word from it on, else the last sign
  std::vector<std::vector<Weight>> sources_of_, targets_of_;
  // The last answers of linked_to(), for the first word and for the last one: many tags stand beside the same word.
  struct Linked {
    size_t source = kNone, target = kNone;
    AtomRange in;
  };
  std::array<Linked, 2> linked_;
  std::vector<AtomRange> spans_;  // by tag, in target atoms; empty if it found no word
  std::vector<Range> ranges_;
  std::vector<std::vector<size_t>> children_;
  // For the level being placed, from its first target atom on:
  std::vector<size_t> owner_;     // the child that owns a word
  std::vector<float> weight_;     // and its weight; below zero: the cost to a run
  std::vector<size_t> taken_by_;  // the child whose run contains it
  std::vector<size_t> out_of_;    // for each gap: the end of the run that it is inside of, else the gap itself
};

// Finds kept words in a translation, each in a place of its own.
class KeptSearch {
 public:
  KeptSearch(std::string_view source, std::string_view target) : source_(source), target_(target) {}

  std::optional<Range> find(Range kept) {
    const Range word = word_around(source_, kept);
    if (word.begin != last_.begin || word.end != last_.end) last_at_ = next_free(word, kept);  // else the same word
    last_ = word;
    if (last_at_ == kNone) return std::nullopt;
    const size_t begin = last_at_ + kept.begin - word.begin, end = begin + kept.size();
    if (meets(places_, begin, end)) return std::nullopt;
    places_.emplace(begin, end);
    return Range{begin, end};
  }

  [[nodiscard]] const std::map<size_t, size_t>& places() const { return places_; }

 private:
  // The next place of a word that is not a part of other kept words ("Gala" of "Apfel Gala").
  size_t next_free(Range word, Range kept) {
    size_t at = next(word.of(source_));
    while (at != kNone && meets(places_, at + kept.begin - word.begin, at + kept.end - word.begin))
      at = next(word.of(source_));
    return at;
  }

  size_t next(std::string_view word) {
    size_t& from = searched_[word];
    if (from == kNone || word.empty() || (effort_ += target_.size()) > kMostSearch) return kNone;
    const size_t at = find_whole(target_, word, from);
    from = at == kNone ? kNone : at + word.size();
    return at;
  }

  std::string_view source_, target_;
  std::map<std::string_view, size_t> searched_;  // where to search next for the same words
  std::map<size_t, size_t> places_;              // begins and ends of the matches
  uint64_t effort_ = 0;
  Range last_;
  size_t last_at_ = kNone;
};

// Kept words take no word's place by a guess: where the translation lacks them, they are put between words.
void Placement::guess_links() {
  links_ = proportional_links(split_atoms(source_, tag_bounds(tags_)), split_atoms(target_, {}));
  std::map<size_t, size_t> kept;
  for (const Tag& tag : tags_)
    if (tag.shape == Shape::kept) kept.emplace(tag.text.begin, tag.text.end);
  std::erase_if(links_, [&](const WordLink& l) { return meets(kept, l.source_begin, l.source_end); });
}

// Links kept words that the translation has unchanged, more reliably than any other link.
void Placement::match_kept() {
  KeptSearch search(source_, target_);
  std::map<size_t, size_t> sources;
  for (size_t i = 0; i < tags_.size(); ++i) {
    if (tags_[i].shape != Shape::kept) continue;
    const auto place = search.find(tags_[i].text);
    if (!place) continue;
    kept_.emplace_back(i, *place);
    sources.emplace(tags_[i].text.begin, tags_[i].text.end);
  }
  std::erase_if(links_, [&](const WordLink& l) {
    return meets(sources, l.source_begin, l.source_end) || meets(search.places(), l.target_begin, l.target_end);
  });
}

// Splits links of unchanged words at tags within them, so that a tag goes to the same place within the word.
void Placement::split_same_words() {
  const std::vector<size_t> bounds = tag_bounds(tags_);
  std::vector<WordLink> links;
  for (WordLink link : links_) {
    const Range from{link.source_begin, link.source_end}, to{link.target_begin, link.target_end};
    const bool same = from.of(source_) == to.of(target_);
    auto cut = std::upper_bound(bounds.begin(), bounds.end(), link.source_begin);
    for (; same && cut != bounds.end() && *cut < from.end; ++cut) {
      const size_t length = *cut - link.source_begin;
      links.push_back({link.source_begin, *cut, link.target_begin, link.target_begin + length, link.weight});
      link.source_begin += length;
      link.target_begin += length;
    }
    links.push_back(link);
  }
  links_ = std::move(links);
}

void Placement::cut_atoms() {
  std::vector<size_t> cuts;
  for (const WordLink& l : links_) cuts.insert(cuts.end(), {l.target_begin, l.target_end});
  for (const auto& [tag, found] : kept_) cuts.insert(cuts.end(), {found.begin, found.end});
  to_ = split_atoms(target_, sorted_cuts(std::move(cuts)));
  from_ = split_atoms(source_, tag_bounds(tags_));
  innermost_.assign(from_.size(), kNone);
  for (size_t i = 0; i < tags_.size(); ++i) {
    if (tags_[i].shape == Shape::point) continue;
    const AtomRange in = atoms_in(from_, tags_[i].text);
    std::fill(innermost_.begin() + static_cast<ptrdiff_t>(in.begin),
              innermost_.begin() + static_cast<ptrdiff_t>(in.end), i);
  }
}

void Placement::find_words() {
  word_before_.resize(from_.size());
  word_behind_.resize(from_.size());
  for (size_t i = 0, word = 0; i < from_.size(); ++i) word_before_[i] = word = from_[i].sign ? word : i;
  for (size_t i = from_.size(), word = i - 1; i-- > 0;) word_behind_[i] = word = from_[i].sign ? word : i;
}

// The words of a range; its signs only if it has no words.
std::vector<size_t> words_in(std::span<const Atom> atoms, size_t begin, size_t end) {
  const AtomRange in = atoms_in(atoms, {begin, end});
  std::vector<size_t> words, signs;
  for (size_t i = in.begin; i < in.end; ++i) (atoms[i].sign ? signs : words).push_back(i);
  return words.empty() ? signs : words;
}

bool Placement::same_sign(size_t target_atom, size_t source_atom) const {
  const Atom &target = to_[target_atom], &source = from_[source_atom];
  return target.sign && source.sign &&
         Range{target.begin, target.end}.of(target_) == Range{source.begin, source.end}.of(source_);
}

// Those of the atoms with the same sign as a target atom; all of them if there are none.
std::vector<size_t> Placement::same_signs(const std::vector<size_t>& from, size_t target) const {
  std::vector<size_t> same;
  std::ranges::copy_if(from, std::back_inserter(same), [&](size_t s) { return same_sign(target, s); });
  return same.empty() ? from : same;
}

// A long run without blanks is one word to the model.
void Placement::weigh_in_proportion(const std::vector<size_t>& from, const std::vector<size_t>& to, float weight) {
  const size_t count = std::max(from.size(), to.size());
  const float share = weight * static_cast<float>(to.size()) / static_cast<float>(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t s = from[i * from.size() / count], t = to[i * to.size() / count];
    sources_of_[t].push_back({s, share});
    targets_of_[s].push_back({t, share});
  }
}

void Placement::weigh_link(const WordLink& link) {
  const std::vector<size_t> from = words_in(from_, link.source_begin, link.source_end),
                            to = words_in(to_, link.target_begin, link.target_end);
  if (!to.empty() && from.size() > kMostPairs / to.size())
    return weigh_in_proportion(from, to, std::min(link.weight, kSameWords));
  for (const size_t t : to) {
    const std::vector<size_t> sources = to_[t].sign ? same_signs(from, t) : from;
    const float share = std::min(link.weight, kSameWords) / static_cast<float>(std::max<size_t>(sources.size(), 1));
    for (const size_t s : sources) {
      sources_of_[t].push_back({s, share});
      targets_of_[s].push_back({t, share});
    }
  }
}

void Placement::weigh_kept() {
  for (const auto& [tag, found] : kept_) {
    const AtomRange from = atoms_in(from_, tags_[tag].text), to = atoms_in(to_, found);
    for (size_t t = to.begin; t < to.end && from.begin < from.end; ++t) {
      sources_of_[t] = {{from.begin, kSameWords}};
      targets_of_[from.begin].push_back({t, kSameWords});
    }
  }
}

void Placement::weigh() {
  sources_of_.resize(to_.size());
  targets_of_.resize(from_.size());
  for (const WordLink& link : links_) weigh_link(link);
  weigh_kept();
}

// The tag of this level that contains a source atom.
size_t Placement::child_at(size_t level, size_t source_atom) const {
  size_t tag = innermost_[source_atom];
  while (tag != kNone && level_of(tags_[tag].parent) != level) {
    tag = tags_[tag].parent == Tag::kNoParent ? kNone : tags_[tag].parent;
  }
  return tag;
}

std::pair<size_t, float> Placement::owner_of(size_t level, size_t atom) const {
  std::map<size_t, float> sums;
  const bool its_own = std::ranges::any_of(sources_of_[atom], [&](const Weight& w) { return same_sign(atom, w.atom); });
  for (const Weight& w : sources_of_[atom])
    if (!its_own || same_sign(atom, w.atom)) sums[child_at(level, w.atom)] += w.weight;
  if (sums.empty()) return {kNone, to_[atom].sign ? 0 : kUnlinkedWord};
  // On a tie a tag wins over none, and the first tag over later ones.
  const auto best = std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  });
  return {best->first, best->first == kNone ? -best->second : best->second};
}

void Placement::find_owners(size_t level, AtomRange in) {
  owner_.clear();
  weight_.clear();
  for (size_t t = in.begin; t < in.end; ++t) {
    const auto [owner, weight] = owner_of(level, t);
    owner_.push_back(owner);
    weight_.push_back(weight);
  }
  taken_by_.assign(owner_.size(), kNone);
}

// The run of greatest weight that begins and ends at these words and contains none of a sibling. On a tie, the first.
AtomRange Placement::best_run(std::span<const size_t> atoms, size_t offset) const {
  float sum = 0, best_sum = -1;
  size_t begin = 0;
  AtomRange best;
  for (size_t i = 0; i < atoms.size(); ++i) {
    float pays = 0;
    bool walled = i == 0;
    for (size_t t = i == 0 ? 0 : atoms[i - 1] + 1; i > 0 && t < atoms[i] && !walled; ++t) {
      walled = owner_[t] != kNone;
      pays += weight_[t];
    }
    if (walled || sum + pays <= 0) {
      sum = 0;
      begin = atoms[i];
    } else {
      sum += pays;
    }
    sum += weight_[atoms[i]];
    if (sum > best_sum) {
      best_sum = sum;
      best = {begin + offset, atoms[i] + 1 + offset};
    }
  }
  return best;
}

void Placement::find_runs(size_t level, AtomRange in) {
  std::map<size_t, std::vector<size_t>> words_of;
  for (size_t i = 0; i < owner_.size(); ++i) {
    if (owner_[i] != kNone) words_of[owner_[i]].push_back(i);
  }
  for (const size_t child : children_[level]) {
    const auto own = words_of.find(child);
    if (own == words_of.end()) continue;
    spans_[child] = best_run(own->second, in.begin);
    for (size_t t = spans_[child].begin; t < spans_[child].end; ++t) taken_by_[t - in.begin] = child;
  }
}

// The gap or word of the target that corresponds to the middle of a source range.
size_t Placement::in_proportion(Range text, size_t level, AtomRange in) const {
  const Range whole = source_of(level);
  const double middle =
      (static_cast<double>(text.begin - whole.begin) + static_cast<double>(text.end - whole.begin)) / 2;
  const double part = middle / static_cast<double>(std::max<size_t>(whole.size(), 1));
  return std::min(in.begin + static_cast<size_t>(part * static_cast<double>(in.end - in.begin)), in.end);
}

void Placement::take_free_words(size_t level, AtomRange in) {
  std::vector<size_t> without;
  for (const size_t c : children_[level]) {
    if (tags_[c].shape == Shape::pair && spans_[c].begin == spans_[c].end) without.push_back(c);
  }
  if (without.empty()) return;
  std::set<size_t> free;
  for (size_t t = in.begin; t < in.end; ++t) {
    if (!to_[t].sign && taken_by_[t - in.begin] == kNone) free.insert(t);
  }
  for (const size_t c : without) {
    if (free.empty()) return;
    const size_t place = in_proportion(tags_[c].text, level, in);
    auto word = free.lower_bound(place);
    if (word == free.end() || (word != free.begin() && *word - place > place - *std::prev(word))) --word;
    spans_[c] = {*word, *word + 1};
    taken_by_[*word - in.begin] = c;
    free.erase(word);
  }
}

bool opens_bracket(std::string_view sign) {
  size_t at = 0;
  const char32_t c = next_character(sign, at);
  return std::u32string_view(U"([{\u00ab\u2039\u201c\u2018\u201e\u00bf\u00a1\u300c\u300e\uff08").find(c) !=
         std::u32string_view::npos;
}

// Signs of the source between a tag's words and its end, or its beginning, from the words outwards.
std::vector<std::string_view> Placement::outer_signs(Range text, bool front) const {
  const AtomRange in = atoms_in(from_, text);
  std::vector<std::string_view> signs;
  for (size_t i = 0; i < in.end - in.begin; ++i) {
    const Atom& a = from_[front ? in.begin + i : in.end - 1 - i];
    if (!a.sign) break;
    signs.push_back(source_.substr(a.begin, a.end - a.begin));
  }
  std::reverse(signs.begin(), signs.end());
  return signs;
}

// True if a sign of the target beside a run belongs to it. `next` counts the matched signs of the source. Kept words
// take only their own signs, others also adjacent ones, if their source has any.
bool Placement::is_outer_sign(size_t atom, const std::vector<std::string_view>& of_source, size_t& next, bool front,
                              bool kept) const {
  if (!to_[atom].sign || of_source.empty()) return false;
  const std::string_view sign = target_.substr(to_[atom].begin, to_[atom].end - to_[atom].begin);
  if (next < of_source.size() && sign == of_source[next]) return ++next, true;
  return !kept && opens_bracket(sign) == front && follows_closely(front ? atom + 1 : atom);
}

void Placement::add_signs(size_t level, AtomRange in) {
  for (const size_t c : children_[level]) {
    AtomRange& span = spans_[c];
    if (tags_[c].shape == Shape::point || span.begin == span.end) continue;
    const bool kept = tags_[c].shape == Shape::kept;
    const Range placed{to_[span.begin].begin, to_[span.end - 1].end};
    if (kept && placed.of(target_) == tags_[c].text.of(source_)) continue;  // with its signs; an equal one is a word's
    const auto free = [&](size_t t) { return taken_by_[t - in.begin] == kNone; };
    const auto behind = outer_signs(tags_[c].text, false), before = outer_signs(tags_[c].text, true);
    for (size_t n = 0; span.end < in.end && free(span.end) && is_outer_sign(span.end, behind, n, false, kept);) {
      taken_by_[span.end++ - in.begin] = c;
    }
    for (size_t n = 0;
         span.begin > in.begin && free(span.begin - 1) && is_outer_sign(span.begin - 1, before, n, true, kept);) {
      taken_by_[--span.begin - in.begin] = c;
    }
  }
}

size_t Placement::byte_of(size_t gap, bool glued, size_t level, AtomRange in) const {
  if (in.begin == in.end) return level == 0 ? 0 : ranges_[level - 1].begin;
  if (gap == in.end || (glued && gap > in.begin)) return to_[gap - 1].end;
  return to_[gap].begin;
}

// The gap for words that the translation lacks: behind the word before them, or before the next one.
size_t Placement::gap_of_words(const Tag& tag, size_t level, AtomRange in) {
  if (tag.shape != Shape::kept) return in_proportion(tag.text, level, in);
  const AtomRange own = atoms_in(from_, tag.text);
  const size_t behind = own.begin > 0 ? gap_behind(own.begin - 1, in) : in.begin;
  if (behind != kNone) return std::min(behind, in.end);
  const size_t before = own.end < from_.size() ? gap_before(own.end, in) : in.end;
  return before != kNone ? before : in_proportion(tag.text, level, in);
}

void Placement::set_ranges(size_t level, AtomRange in) {
  size_t behind = in.begin;  // end of the previous child
  for (const size_t c : children_[level]) {
    const AtomRange span = spans_[c];
    if (tags_[c].shape == Shape::point) continue;
    if (span.begin < span.end) {
      ranges_[c] = {to_[span.begin].begin, to_[span.end - 1].end};
      behind = span.end;
    } else {
      const size_t gap = out_of_runs(std::max(gap_of_words(tags_[c], level, in), behind), in);
      ranges_[c].begin = ranges_[c].end = byte_of(gap, false, level, in);
    }
  }
}

// On a tie the first word, or the last.
size_t Placement::linked_to(size_t source_atom, AtomRange in, bool last) {
  Linked& known = linked_[last ? 1 : 0];
  if (known.source == source_atom && known.in.begin == in.begin && known.in.end == in.end) return known.target;
  Weight best{kNone, 0};
  for (const Weight& w : targets_of_[source_atom]) {
    const bool better = w.weight > best.weight || (w.weight == best.weight && (w.atom > best.atom) == last);
    if (w.atom >= in.begin && w.atom < in.end && better) best = w;
  }
  known = {source_atom, best.atom, in};
  return best.atom;
}

// The gap behind the word linked to this one; also behind the word's signs if this one is a sign.
size_t Placement::gap_behind(size_t source_atom, AtomRange in) {
  size_t word = word_before_[source_atom];
  const size_t linked = linked_to(word, in, true);
  if (linked == kNone) return kNone;
  size_t gap = linked + 1;
  source_atom = std::min(source_atom, word + kMostSigns);
  while (word < source_atom && gap < in.end) {
    ++word;
    if (!is_sign_of(gap, word, follows_closely(gap))) break;
    ++gap;
  }
  return gap;
}

size_t Placement::gap_before(size_t source_atom, AtomRange in) {
  size_t word = word_behind_[source_atom];
  size_t gap = linked_to(word, in, false);
  if (gap == kNone) return kNone;
  source_atom = std::max(source_atom + kMostSigns, word) - kMostSigns;
  while (word > source_atom && gap > in.begin) {
    --word;
    if (!is_sign_of(gap - 1, word, gap < in.end && follows_closely(gap))) break;
    --gap;
  }
  return gap;
}

// True if a target sign corresponds to a source sign: it is the same, or touches a word in the same way.
bool Placement::is_sign_of(size_t target_atom, size_t source_atom, bool touches) const {
  const auto text = [](std::string_view all, const Atom& a) { return all.substr(a.begin, a.end - a.begin); };
  const bool same = text(target_, to_[target_atom]) == text(source_, from_[source_atom]);
  return to_[target_atom].sign && (touches || same);
}

size_t Placement::gap_of(const Tag& point, size_t level, AtomRange in) {
  const size_t next = atoms_in(from_, {point.text.begin, source_.size()}).begin;
  const size_t behind = next > 0 ? gap_behind(next - 1, in) : in.begin;
  if (point.glued && behind != kNone) return behind;
  const size_t before = next < from_.size() ? gap_before(next, in) : in.end;
  if (before != kNone) return before;
  return behind != kNone ? behind : in_proportion(point.text, level, in);
}

bool is_quote(std::string_view sign) {
  size_t at = 0;
  return std::u32string_view(U"\"'\u00ab\u00bb\u2039\u203a\u201c\u201d\u201e\u2018\u2019\u300c\u300d")
             .find(next_character(sign, at)) != std::u32string_view::npos;
}

// Quotes around kept words are others in the target, and no part of what the words replace.
void Placement::leave_quotes(size_t level, AtomRange in) {
  const auto quotes = [](std::string_view text, const std::vector<Atom>& atoms, size_t i) {
    return i < atoms.size() && atoms[i].sign && is_quote(Range{atoms[i].begin, atoms[i].end}.of(text));
  };
  for (const size_t c : children_[level]) {
    AtomRange& span = spans_[c];
    if (tags_[c].shape != Shape::kept || span.begin == span.end) continue;
    const AtomRange own = atoms_in(from_, tags_[c].text);
    if (own.begin > 0 && quotes(source_, from_, own.begin - 1) && span.end - span.begin > 1 &&
        quotes(target_, to_, span.begin))
      taken_by_[span.begin++ - in.begin] = kNone;
    if (quotes(source_, from_, own.end) && span.end - span.begin > 1 && quotes(target_, to_, span.end - 1))
      taken_by_[--span.end - in.begin] = kNone;
  }
}

void Placement::find_run_ends() {
  out_of_.resize(taken_by_.size() + 1);
  for (size_t gap = out_of_.size(); gap-- > 0;) {
    const bool at_end = gap == 0 || gap == taken_by_.size();
    const bool inside = !at_end && taken_by_[gap] != kNone && taken_by_[gap] == taken_by_[gap - 1];
    out_of_[gap] = inside ? out_of_[gap + 1] : gap;
  }
}

void Placement::place_points(size_t level, AtomRange in) {
  size_t last = in.begin, last_byte = 0;
  for (const size_t c : children_[level]) {
    if (tags_[c].shape != Shape::point) continue;
    last = out_of_runs(std::clamp(gap_of(tags_[c], level, in), last, in.end), in);
    // In the same gap, a tag that follows a word may come after one that does not.
    last_byte = std::max(last_byte, byte_of(last, tags_[c].glued, level, in));
    ranges_[c].begin = ranges_[c].end = last_byte;
  }
}

void Placement::place_level(size_t level) {
  const AtomRange in = span_of(level);
  find_owners(level, in);
  find_runs(level, in);
  take_free_words(level, in);
  add_signs(level, in);
  leave_quotes(level, in);
  find_run_ends();
  set_ranges(level, in);
  place_points(level, in);
}

// ---- parts
// ------------------------------------------------------------------------------------------------------------

constexpr double kWordOutOfPlace = 0.25;  // cost of a cut for each word that it is away from its proportional place
constexpr double kSignKept = 1;           // gain of a cut behind a sign if the source was cut behind one

bool sign_before(std::string_view text, size_t at) { return at > 0 && is_sign(previous_character(text, at)); }

// For each gap, the weight of links that a cut there breaks if the source is cut at `end`.
std::vector<double> torn(std::span<const Range> gaps, size_t end, std::span<const WordLink> links) {
  std::vector<double> from(gaps.size() + 1, 0);
  const auto first_from = [&](size_t byte) {
    return static_cast<size_t>(
        std::partition_point(gaps.begin(), gaps.end(), [&](const Range& g) { return g.begin < byte; }) - gaps.begin());
  };
  for (const WordLink& l : links) {
    const double weight = static_cast<double>(l.weight);
    if (l.source_begin >= end) {
      from[first_from(l.target_begin + 1)] += weight;
    } else {
      from[0] += weight;
      from[first_from(l.target_end)] -= weight;
    }
  }
  for (size_t i = 1; i < from.size(); ++i) from[i] += from[i - 1];
  from.pop_back();
  return from;
}

std::vector<double> cut_costs(std::string_view source, std::string_view target, std::span<const Range> gaps, size_t end,
                              std::span<const WordLink> links) {
  std::vector<double> costs = torn(gaps, end, links);
  const double part = static_cast<double>(end) / static_cast<double>(source.size());
  const double words = static_cast<double>(gaps.size() + 1);
  const bool sign = sign_before(source, end);
  for (size_t g = 0; g < gaps.size(); ++g) {
    const double place = static_cast<double>(gaps[g].begin) / static_cast<double>(target.size());
    costs[g] += kWordOutOfPlace * words * std::max(place - part, part - place);
    if (sign && sign_before(target, gaps[g].begin)) costs[g] -= kSignKept;
  }
  return costs;
}

}  // namespace

std::vector<Range> place_tags(std::string_view source, std::string_view target, std::span<const Tag> tags,
                              std::span<const WordLink> links) {
  return tags.empty() ? std::vector<Range>() : Placement(source, target, tags, links).run();
}

std::vector<Range> cut_parts(std::string_view source, std::string_view target, std::span<const size_t> ends,
                             std::span<const WordLink> links) {
  std::vector<Range> gaps = find_gaps(target);
  if (gaps.size() <= ends.size()) {
    gaps.resize(ends.size(), {target.size(), target.size()});
    return gaps;
  }
  // best[k][g]: the least cost of the first k + 1 cuts, the last of which is at gap g or before.
  const std::vector<WordLink> valid = valid_links(source, target, links);
  constexpr double kNever = 1e30;
  std::vector<std::vector<std::pair<double, size_t>>> best;
  for (const size_t end : ends) {
    const std::vector<double> costs = cut_costs(source, target, gaps, end, valid);
    std::vector<std::pair<double, size_t>> row(gaps.size(), {kNever, kNone});
    for (size_t g = best.size(); g < gaps.size(); ++g) {
      if (g > 0) row[g] = row[g - 1];
      const double before = best.empty() ? 0 : best.back()[g - 1].first;
      if (before + costs[g] < row[g].first) row[g] = {before + costs[g], g};
    }
    best.push_back(std::move(row));
  }
  std::vector<Range> cuts(ends.size());
  size_t last = gaps.size() - 1;
  for (size_t k = ends.size(); k-- > 0;) {
    const size_t g = best[k][last].second;
    cuts[k] = gaps[g];
    last = g == 0 ? 0 : g - 1;
  }
  return cuts;
}

std::vector<Range> nearest_gaps(std::span<const Range> gaps, std::span<const size_t> at) {
  std::vector<Range> taken;
  size_t next = 0;
  for (size_t i = 0; i < at.size() && next < gaps.size(); ++i) {
    // Leave a gap for each of the remaining places, if there are enough.
    const size_t behind = std::min(at.size() - 1 - i, gaps.size() - 1 - next);
    const auto distance = [&](size_t g) { return std::max(gaps[g].begin, at[i]) - std::min(gaps[g].begin, at[i]); };
    while (next + 1 + behind < gaps.size() && distance(next + 1) <= distance(next)) ++next;
    taken.push_back(gaps[next++]);
  }
  return taken;
}

}  // namespace lapilli::documents
