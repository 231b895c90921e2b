#include "documents/kept/kept_text.hpp"

#include <algorithm>
#include <utility>

#include "base/placeholders.hpp"
#include "documents/kept/kept_words.hpp"
#include "documents/kinds.hpp"
#include "documents/writing.hpp"

namespace lapilli::documents {

namespace {

// Most texts have no such words, and are not looked at any further.
bool may_keep(std::string_view text) {
  if (text.find_first_of("%{$#") != std::string_view::npos && find_placeholder(text, 0).end > 0) return true;
  if (text.find('@') != std::string_view::npos) return true;
  return text.find("://") != std::string_view::npos || text.find("www.") != std::string_view::npos;
}

std::vector<std::string_view> kept_in(const Passage& passage) {
  std::vector<std::string_view> kept;
  for (const Part& part : passage.parts)
    for (const Tag& tag : part.tags)
      if (tag.shape == Shape::kept) kept.push_back(tag.text.of(part.text));
  return kept;
}

size_t count_in(std::string_view text, std::string_view words) {
  size_t count = 0;
  for (size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + words.size())) ++count;
  return count;
}

// A name may stand in another one ("Lapilli", "Lapilli Pro"), so that more of them are no fault.
bool has_all(std::string_view target, const Passage& passage) {
  const auto kept = kept_in(passage);
  return std::ranges::all_of(kept, [&](std::string_view one) {
    const auto wanted = static_cast<size_t>(std::ranges::count(kept, one));
    const size_t there = count_in(target, one);
    return find_placeholder(one, 0).end > 0 ? there == wanted : there >= wanted;
  });
}

}  // namespace

struct KeptText::Names {
  KeptNames all;

  // Without parts if nothing in the text stays.
  [[nodiscard]] Passage passage_of(const std::string& source) const {
    Passage passage;
    if ((all.empty() && !may_keep(source)) || find_invalid_utf8(source)) return passage;
    PartBuilder builder;
    builder.words({0, source.size()}, source);
    if (!builder.finish(passage.parts)) return passage;
    if (!all.empty()) all.keep_in(passage);
    if (kept_in(passage).empty()) passage.parts.clear();
    return passage;
  }
};

KeptText::KeptText(const std::vector<std::string>& names) : names_(new Names{KeptNames(names)}) {}
KeptText::~KeptText() = default;

bool KeptText::is_whole(const std::string& source, const std::string& translation) const {
  const Passage passage = names_->passage_of(source);
  return passage.parts.empty() || has_all(translation, passage);
}

std::string KeptText::restored(const std::string& source, const std::string& translation,
                               const std::function<Links()>& links) const {
  const Passage passage = names_->passage_of(source);
  if (passage.parts.empty() || has_all(translation, passage) || find_invalid_utf8(translation)) return translation;
  Translation made{translation, {}};
  const size_t before = passage.source().begin;  // blanks at the beginning are no part of the passage
  for (const TranslatedSegment::Link& l : links()) {
    if (l.source_begin < before) continue;
    made.links.push_back({static_cast<size_t>(l.source_begin) - before, static_cast<size_t>(l.source_end) - before,
                          static_cast<size_t>(l.target_begin), static_cast<size_t>(l.target_end), l.weight});
  }
  std::string out;
  write_passage({source, kTextStyle, out}, passage, made, false);
  return out;
}

}  // namespace lapilli::documents
