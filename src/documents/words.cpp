#include "documents/words.hpp"

#include <algorithm>

namespace lapilli::documents {

namespace {

enum class Sort { blank, word, unspaced, sign };

Sort sort_of(char32_t c) {
  if (is_blank(c)) return Sort::blank;
  if (is_sign(c)) return Sort::sign;
  return is_unspaced(c) ? Sort::unspaced : Sort::word;
}

// These belong to a word if they are inside it.
bool joins(char32_t c) { return c == '-' || c == '\'' || c == '_' || c == 0x2019 || c == 0x2010 || c == 0x2011; }

bool word_follows(std::string_view text, size_t at) {
  return at < text.size() && sort_of(next_character(text, at)) == Sort::word;
}

// End of the atom that begins at `at`.
size_t atom_end(std::string_view text, size_t at, Sort sort) {
  const char32_t first = next_character(text, at);
  while (sort != Sort::unspaced && at < text.size()) {
    size_t behind = at;
    const char32_t c = next_character(text, behind);
    const bool same = (sort == Sort::sign ? c == first : sort_of(c) == sort) ||
                      (sort == Sort::word && joins(c) && word_follows(text, behind));
    if (!same) break;
    at = behind;
  }
  return at;
}

bool on_character(std::string_view text, size_t at) {
  return at == text.size() || (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80);
}

bool is_range(std::string_view text, size_t begin, size_t end) {
  return begin < end && on_character(text, begin) && on_character(text, end);
}

}  // namespace

std::vector<Atom> split_atoms(std::string_view text, std::span<const size_t> cuts) {
  std::vector<Atom> atoms;
  auto cut = cuts.begin();
  for (size_t at = 0; at < text.size();) {
    size_t behind = at;
    const Sort sort = sort_of(next_character(text, behind));
    if (sort == Sort::blank) {
      at = behind;
      continue;
    }
    cut = std::upper_bound(cut, cuts.end(), at);
    const size_t end = atom_end(cut == cuts.end() ? text : text.substr(0, *cut), at, sort);
    atoms.push_back({at, end, sort == Sort::sign});
    at = end;
  }
  return atoms;
}

AtomRange atoms_in(std::span<const Atom> atoms, Range bytes) {
  const auto first =
      std::partition_point(atoms.begin(), atoms.end(), [&](const Atom& a) { return a.end <= bytes.begin; });
  const auto last = std::partition_point(first, atoms.end(), [&](const Atom& a) { return a.begin < bytes.end; });
  return {static_cast<size_t>(first - atoms.begin()), static_cast<size_t>(last - atoms.begin())};
}

namespace {

// The blank that French sets before these signs and behind an opening quotation mark is no place for a break.
bool sets_off_a_sign(std::string_view text, Range gap) {
  constexpr std::u32string_view kClosing = U"?!:;%\u00bb";
  return !gap.empty() && (kClosing.find(next_character(text, gap.end)) != std::u32string_view::npos ||
                          previous_character(text, gap.begin) == 0xab);
}

}  // namespace

std::vector<Range> find_gaps(std::string_view text) {
  std::vector<Range> gaps;
  Sort before = Sort::blank;
  for (size_t at = 0; at < text.size();) {
    size_t behind = at;
    const Sort sort = sort_of(next_character(text, behind));
    if (sort == Sort::blank && before != Sort::blank) gaps.push_back({at, behind});
    if (sort == Sort::blank && before == Sort::blank && !gaps.empty()) gaps.back().end = behind;
    if (sort == Sort::unspaced && before == Sort::unspaced) gaps.push_back({at, at});
    before = sort;
    at = behind;
  }
  if (before == Sort::blank && !gaps.empty()) gaps.pop_back();
  std::erase_if(gaps, [text](Range gap) { return sets_off_a_sign(text, gap); });
  return gaps;
}

std::vector<WordLink> valid_links(std::string_view source, std::string_view target, std::span<const WordLink> links) {
  std::vector<WordLink> valid;
  for (const WordLink& l : links) {
    if (l.weight > 0 && is_range(source, l.source_begin, l.source_end) &&
        is_range(target, l.target_begin, l.target_end)) {
      valid.push_back(l);
    }
  }
  return valid;
}

std::vector<WordLink> proportional_links(std::span<const Atom> source, std::span<const Atom> target) {
  const auto words_of = [](std::span<const Atom> atoms) {
    std::vector<Atom> words;
    std::copy_if(atoms.begin(), atoms.end(), std::back_inserter(words), [](const Atom& a) { return !a.sign; });
    return words;
  };
  const std::vector<Atom> from = words_of(source), to = words_of(target);
  std::vector<WordLink> links;
  for (size_t t = 0; t < to.size() && !from.empty(); ++t) {
    const Atom& s = from[(2 * t + 1) * from.size() / (2 * to.size())];
    links.push_back({s.begin, s.end, to[t].begin, to[t].end, 1});
  }
  return links;
}

}  // namespace lapilli::documents
