#include "documents/writing.hpp"

#include <algorithm>
#include <utility>

#include "documents/kept/kept_words.hpp"
#include "documents/placement.hpp"
#include "documents/words.hpp"

namespace lapilli::documents {

namespace {

bool blank_at(std::string_view text, size_t at) { return is_blank(static_cast<unsigned char>(text[at])); }

// Replaces line breaks by spaces; the length stays the same.
std::string in_one_line(std::string text) {
  for (char& c : text) {
    if (is_blank(static_cast<unsigned char>(c))) c = ' ';
  }
  return text;
}

Range without_blanks(std::string_view text, Range range) {
  while (!range.empty() && blank_at(text, range.begin)) ++range.begin;
  while (!range.empty() && blank_at(text, range.end - 1)) --range.end;
  return range;
}

// Links between two ranges, relative to their beginnings.
std::vector<WordLink> links_between(const std::vector<WordLink>& links, Range source, Range target) {
  std::vector<WordLink> inside;
  for (WordLink l : links) {
    if (l.source_begin < source.begin || l.source_end > source.end) continue;
    if (l.target_begin < target.begin || l.target_end > target.end) continue;
    l.source_begin -= source.begin;
    l.source_end -= source.begin;
    l.target_begin -= target.begin;
    l.target_end -= target.begin;
    inside.push_back(l);
  }
  return inside;
}

// Markup to insert at a place, for the words up to `until`.
struct Insertion {
  enum Kind { open, close, alone } kind;
  size_t at, until;
  std::string bytes;
};

class PartWriter {
 public:
  PartWriter(const Rewriting& document, const Passage& passage, const Part& part)
      : out_(document.out),
        bytes_(document.bytes),
        passage_(passage),
        part_(part),
        style_(document.style),
        children_(part.tags.size() + 1) {}

  void write(std::string_view target, const std::vector<WordLink>& links, bool whole_words) {
    target_ = target;
    ranges_ = place_tags(part_.text, target, part_.tags, links);
    for (size_t i = 0; i < ranges_.size(); ++i) {
      const uint32_t parent = part_.tags[i].parent;
      children_[parent == Tag::kNoParent ? 0 : parent + 1].push_back(i);
    }
    if (whole_words) widen(0, {0, target.size()});
    insert_children(0);
    find_lines();
    for (const Insertion& insertion : insertions_) {
      words_up_to(insertion.at);
      markup(insertion);
      at_ = insertion.until;
      begins_line_ = false;
    }
    words_up_to(target.size());
  }

 private:
  void sort_children(size_t level) {
    std::stable_sort(children_[level].begin(), children_[level].end(), [&](size_t a, size_t b) {
      return std::pair(ranges_[a].begin, ranges_[a].end) < std::pair(ranges_[b].begin, ranges_[b].end);
    });
  }

  // Recursion is bounded by kDeepestTag, here and in insert_children.
  void widen(size_t level, Range in) {
    sort_children(level);
    for (const size_t tag : children_[level]) {
      Range& r = ranges_[tag];
      if (part_.tags[tag].shape == Shape::pair && !r.empty()) {
        r.begin = std::clamp(r.begin, in.begin, in.end);
        r.end = std::clamp(r.end, r.begin, in.end);
        while (r.begin > in.begin && !blank_at(target_, r.begin - 1)) --r.begin;
        while (r.end < in.end && !blank_at(target_, r.end)) ++r.end;
      } else {
        r = {std::max(r.begin, in.begin), std::max(r.end, in.begin)};
      }
      widen(tag + 1, r);
      in.begin = r.end;
    }
  }

  void insert_children(size_t level) {
    sort_children(level);
    for (const size_t i : children_[level]) {
      const Tag& tag = part_.tags[i];
      const Range r = ranges_[i];
      if (tag.shape != Shape::pair) {
        insertions_.push_back({Insertion::alone, r.begin, r.end, between_words(tag, r)});
        continue;
      }
      insertions_.push_back({Insertion::open, r.begin, r.begin, opening(tag)});
      insert_children(i + 1);
      insertions_.push_back(
          {Insertion::close, r.end, r.end, tag.close_as.empty() ? std::string(tag.close.of(bytes_)) : tag.close_as});
    }
  }

  [[nodiscard]] std::string opening(const Tag& tag) const {
    return tag.open_as.empty() ? std::string(tag.open.of(bytes_)) : tag.open_as;
  }

  // Kept words without bytes of their own are written as other words are.
  [[nodiscard]] std::string kept_bytes(const Tag& tag) const {
    std::string bytes = opening(tag);
    if (tag.shape == Shape::kept && bytes.empty()) style_.encode(bytes, part_.text, tag.text, false, passage_);
    return bytes;
  }

  // Markup without words of its own keeps its distance from its neighbours.
  [[nodiscard]] std::string between_words(const Tag& tag, Range r) const {
    std::string bytes = kept_bytes(tag);
    if (!r.empty()) return tag.shape == Shape::kept ? apart_from_words(tag, r, bytes) : bytes;
    if (tag.glued) return bytes;
    const bool ends = r.begin == target_.size();
    const bool touches = r.begin > 0 && !blank_at(target_, r.begin - 1);
    if (tag.shape == Shape::kept && !ends && !(touches && closes_at(r.begin))) bytes += ' ';
    while (ends && !bytes.empty() && blank_at(bytes, bytes.size() - 1)) bytes.pop_back();
    return touches && (ends || tag.shape == Shape::kept) ? " " + bytes : bytes;
  }

  // Where a full stop or the like follows, no blank stands before it.
  [[nodiscard]] bool closes_at(size_t at) const {
    size_t behind = at;
    const char32_t c = next_character(target_, behind);
    return std::u32string_view(U".,;:!?)]}\u00bb\u2026\u3002\u3001").find(c) != std::u32string_view::npos;
  }

  // A link may cover a part of a word; kept words do not run into the rest, unless they did so in the source.
  [[nodiscard]] std::string apart_from_words(const Tag& tag, Range r, const std::string& bytes) const {
    const auto ends_word = [](std::string_view text, size_t at) {
      const char32_t c = at == 0 ? U' ' : previous_character(text, at);
      return !is_sign(c) && !is_blank(c) && !is_unspaced(c);
    };
    const auto begins_word = [](std::string_view text, size_t at) {
      const char32_t c = at >= text.size() ? U' ' : next_character(text, at);
      return !is_sign(c) && !is_blank(c) && !is_unspaced(c);
    };
    const bool front = ends_word(target_, r.begin) && !ends_word(part_.text, tag.text.begin);
    const bool back = begins_word(target_, r.end) && !begins_word(part_.text, tag.text.end);
    return (front ? " " : "") + bytes + (back ? " " : "");
  }

  void find_lines() {
    if (part_.lines.empty()) return;
    std::vector<Range> gaps = find_gaps(target_);
    auto kept = insertions_.begin();  // in target order, like gaps
    std::erase_if(gaps, [&](Range gap) {
      while (kept != insertions_.end() && kept->until <= gap.begin) ++kept;
      const bool in_kept = kept != insertions_.end() && kept->at < gap.begin;
      return in_kept || (gap.empty() && !style_.balanced_lines);
    });
    std::vector<size_t> places;
    for (size_t i = 0; i < part_.lines.size(); ++i) {
      const double part = style_.balanced_lines
                              ? static_cast<double>(i + 1) / static_cast<double>(part_.lines.size() + 1)
                              : static_cast<double>(part_.lines[i].at) / static_cast<double>(part_.text.size());
      places.push_back(static_cast<size_t>(part * static_cast<double>(target_.size())));
    }
    lines_ = nearest_gaps(gaps, places);
  }

  void words_up_to(size_t end) {
    for (; line_ < lines_.size() && lines_[line_].begin >= at_ && lines_[line_].end <= end; ++line_) {
      words({at_, lines_[line_].begin});
      out_ += part_.lines[line_].bytes.of(bytes_);
      at_ = lines_[line_].end;
      begins_line_ = true;
    }
    words({at_, end});
    at_ = std::max(at_, end);
  }

  void markup(const Insertion& insertion) {
    if (style_.join && insertion.kind != Insertion::close) style_.join(out_, insertion.bytes, Side::before_markup);
    out_ += insertion.bytes;
    behind_markup_ = insertion.kind != Insertion::open;
  }

  void words(Range range) {
    if (range.empty()) return;
    if (style_.join && behind_markup_) style_.join(out_, range.of(target_), Side::behind_markup);
    behind_markup_ = false;
    style_.encode(out_, target_, range, begins_line_, passage_);
    begins_line_ = false;
  }

  std::string& out_;
  std::string_view bytes_;
  const Passage& passage_;
  const Part& part_;
  const Style& style_;
  std::vector<std::vector<size_t>> children_;  // 0: the part's; i + 1: those of tag i
  std::string_view target_;
  std::vector<Range> ranges_;
  std::vector<Insertion> insertions_;
  std::vector<Range> lines_;
  size_t at_ = 0, line_ = 0;
  bool begins_line_ = true;
  bool behind_markup_ = false;
};

void write_between(const Rewriting& document, Range range) {
  if (document.between)
    document.between(range);
  else
    document.out += range.of(document.bytes);
}

}  // namespace

void write_passage(const Rewriting& document, const Passage& passage, const Translation& made, bool whole_words) {
  const Translation translation = with_own_placeholders(passage, made);
  const std::string target = in_one_line(translation.text);
  std::vector<size_t> ends;
  for (const Part& part : passage.parts) ends.push_back((ends.empty() ? 0 : ends.back() + 1) + part.text.size());
  std::vector<Range> cuts;
  if (ends.size() > 1) {
    cuts = cut_parts(segment_of(passage).text, target, std::span(ends).first(ends.size() - 1), translation.links);
  }
  cuts.push_back({target.size(), target.size()});
  size_t begin = 0;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const Part& part = passage.parts[i];
    if (i > 0) write_between(document, {passage.parts[i - 1].source.end, part.source.begin});
    const Range words = without_blanks(target, {begin, cuts[i].begin});
    const Range source{ends[i] - part.text.size(), ends[i]};
    PartWriter(document, passage, part)
        .write(words.of(target), links_between(translation.links, source, words), whole_words);
    begin = cuts[i].end;
  }
}

}  // namespace lapilli::documents
