#include "documents/passage.hpp"

#include <algorithm>
#include <utility>

#include "base/placeholders.hpp"

namespace lapilli::documents {

namespace {

bool is_visible(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return !is_blank(static_cast<unsigned char>(c)); });
}

size_t blanks_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_blank(static_cast<unsigned char>(text[end]))) ++end;
  return end - at;
}

bool breaks_line(std::string_view blanks) { return blanks.find_first_of("\r\n") != std::string_view::npos; }

// The end of the address that is known to reach `at`.
size_t url_end(std::string_view text, size_t at) {
  const auto ends = [](char c) {
    return is_blank(static_cast<unsigned char>(c)) || std::string_view("<>\"`|{}\\^").find(c) != std::string_view::npos;
  };
  size_t end = at;
  while (end < text.size() && !ends(text[end])) ++end;
  while (end > at && std::string_view(".,;:!?)'*_").find(text[end - 1]) != std::string_view::npos) --end;
  return end;
}

// The first web address from `from` on; punctuation behind it belongs to the sentence.
Range find_url(std::string_view text, size_t from) {
  const auto begins = [&](size_t at) {
    const std::string_view here = text.substr(at, 8);
    return here.starts_with("http://") || here == "https://" || here.starts_with("www.");
  };
  size_t begin = text.find_first_of("hw", from);
  while (begin < text.size() && !begins(begin)) begin = text.find_first_of("hw", begin + 1);
  if (begin >= text.size()) return {text.size(), text.size()};
  return {begin, url_end(text, begin)};
}

bool in_mail_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return is_ascii_letter(byte) || is_ascii_digit(byte) || std::string_view("._%+-").find(c) != std::string_view::npos;
}

// The e-mail address around the @ at `sign`, from `from` on; empty if it is none.
Range mail_at(std::string_view text, size_t sign, size_t from) {
  constexpr size_t kLongestUser = 64, kLongestDomain = 253;
  size_t begin = sign, end = sign + 1;
  const size_t least = std::max(from, sign - std::min(sign, kLongestUser));
  const size_t most = std::min(text.size(), end + kLongestDomain);
  while (begin > least && in_mail_name(text[begin - 1])) --begin;
  while (begin < sign && std::string_view(".%+-").find(text[begin]) != std::string_view::npos) ++begin;
  while (end < most && in_mail_name(text[end]) && text[end] != '%' && text[end] != '+') ++end;
  while (end > sign + 1 && (text[end - 1] == '.' || text[end - 1] == '-' || text[end - 1] == '_')) --end;
  const size_t dot = Range{sign + 1, end}.of(text).find('.');
  return begin == sign || dot == 0 || dot == std::string_view::npos ? Range{} : Range{begin, end};
}

// The first e-mail address from `from` on.
Range find_mail(std::string_view text, size_t from) {
  for (size_t sign = text.find('@', from); sign != std::string_view::npos; sign = text.find('@', sign + 1)) {
    const Range mail = mail_at(text, sign, from);
    if (!mail.empty()) return mail;
  }
  return {text.size(), text.size()};
}

// Addresses and placeholders among words stay as they are. Each of them is searched for once.
class KeptWords {
 public:
  explicit KeptWords(std::string_view text) : text_(text) {}

  // False at the end.
  bool next(Range& found) {
    if (url_.begin < at_ || at_ == 0) url_ = find_url(text_, at_);
    if (mail_.begin < at_ || at_ == 0) mail_ = find_mail(text_, at_);
    if (placeholder_.begin < at_ || at_ == 0) find_next_placeholder();
    const bool url = url_.begin <= placeholder_.begin && url_.begin <= mail_.begin;
    found = url ? url_ : mail_.begin <= placeholder_.begin ? mail_ : placeholder_;
    at_ = found.end;
    while (url && !found.empty() && placeholder_.begin == found.end && !placeholder_.empty()) {
      at_ = found.end = url_end(text_, placeholder_.end);  // "https://a.b/{id}/c"
      find_next_placeholder();
    }
    return !found.empty();
  }

 private:
  void find_next_placeholder() {
    const Placeholder p = find_placeholder(text_, at_);
    placeholder_ = p.end > p.begin ? Range{p.begin, p.end} : Range{text_.size(), text_.size()};
  }

  std::string_view text_;
  Range url_, mail_, placeholder_;
  size_t at_ = 0;
};

// A part that is being built from items.
class Assembly {
 public:
  explicit Assembly(Part& part) : part_(part) {}

  void words(Range source, std::string_view decoded) {
    const bool literal = source.size() == decoded.size();
    for (size_t i = 0; i < decoded.size();) {
      const size_t blanks = blanks_at(decoded, i);
      if (blanks > 0) {
        const Range bytes = literal ? Range{source.begin + i, source.begin + i + blanks} : source;
        space(bytes, breaks_line(decoded.substr(i, blanks)));
        i += blanks;
      } else {
        part_.text += decoded[i++];
        ++visible_;
      }
    }
  }

  void space(Range bytes, bool breaks) {
    if (part_.text.empty()) return;
    if (part_.text.back() != ' ') {
      part_.text += ' ';
    } else if (Tag* point = last_point(); point && (point->open.end == bytes.begin || !point->open_as.empty())) {
      point->open.end = bytes.end;  // there is white space on both sides; the point takes one
      if (!point->open_as.empty()) point->open_as += ' ';
      return;
    }
    const size_t at = part_.text.size() - 1;
    if (breaks && (part_.lines.empty() || part_.lines.back().at != at)) part_.lines.push_back({at, bytes});
  }

  void open(Range source, const std::string& as) {
    opened_.push_back({part_.tags.size(), visible_});
    part_.tags.push_back({Shape::pair, here(), source, {}, parent_, false, {}, as});
    parent_ = static_cast<uint32_t>(part_.tags.size() - 1);
  }

  void close(Range source, const std::string& as) {
    const Opened o = opened_.back();
    opened_.pop_back();
    Tag& tag = part_.tags[o.tag];
    tag.text.end = part_.text.size();
    tag.close = source;
    tag.close_as = as;
    parent_ = tag.parent;
    if (o.visible != visible_) return;
    // It contains only markup: all of it is one point.
    const Range whole{tag.open.begin, source.end};
    std::erase_if(part_.lines, [&](const Line& l) { return l.bytes.begin >= whole.begin; });
    std::string all;
    for (size_t i = o.tag; i < part_.tags.size(); ++i) all += part_.tags[i].open_as;
    if (!all.empty()) all += as;
    part_.tags.resize(o.tag);
    point(whole, all);
  }

  // A document has either bytes for all points or other words for all.
  void point(Range source, const std::string& as) {
    if (Tag* last = last_point(); last && last->parent == parent_) {
      last->open.end = source.end;
      last->open_as += as;
      return;
    }
    const bool glued = !part_.text.empty() && part_.text.back() != ' ';
    part_.tags.push_back({Shape::point, here(), source, {}, parent_, glued, {}, as});
  }

  void kept(Range source, std::string_view text, const std::string& as) {
    Tag tag{Shape::kept, here(), source, {}, parent_, false, {}, as};
    words(source, text);
    tag.text.end = part_.text.size();
    part_.tags.push_back(tag);
  }

  void end() {
    while (!part_.text.empty() && part_.text.back() == ' ') part_.text.pop_back();
    std::erase_if(part_.lines, [&](const Line& l) { return l.at >= part_.text.size(); });
    for (Tag& tag : part_.tags) {
      tag.text.end = std::min(tag.text.end, part_.text.size());
      tag.text.begin = std::min(tag.text.begin, tag.text.end);
      while (!tag.text.empty() && part_.text[tag.text.begin] == ' ') ++tag.text.begin;
      while (!tag.text.empty() && part_.text[tag.text.end - 1] == ' ') --tag.text.end;
    }
  }

 private:
  struct Opened {
    size_t tag, visible;
  };
  [[nodiscard]] Range here() const { return {part_.text.size(), part_.text.size()}; }
  Tag* last_point() {
    if (part_.tags.empty()) return nullptr;
    Tag& last = part_.tags.back();
    return last.shape == Shape::point && last.text.begin == part_.text.size() ? &last : nullptr;
  }

  Part& part_;
  std::vector<Opened> opened_;
  uint32_t parent_ = Tag::kNoParent;
  size_t visible_ = 0;  // bytes of words so far
};

// Merges pairs around the very same words. Parents come first, so one pass is enough for any depth.
void merge_equal_pairs(std::vector<Tag>& tags) {
  std::vector<uint32_t> children(tags.size(), 0), now(tags.size());
  for (const Tag& tag : tags) {
    if (tag.parent != Tag::kNoParent) ++children[tag.parent];
  }
  std::vector<Tag> merged;
  for (size_t i = 0; i < tags.size(); ++i) {
    Tag tag = tags[i];
    const bool only_child = tag.parent != Tag::kNoParent && children[tag.parent] == 1;
    if (tag.parent != Tag::kNoParent) tag.parent = now[tag.parent];
    Tag* outer = only_child && tag.shape == Shape::pair ? &merged[tag.parent] : nullptr;
    const bool plain = outer && outer->close_as.empty() && tag.close_as.empty() && outer->open_as.empty();
    if (plain && outer->text.begin == tag.text.begin && outer->text.end == tag.text.end) {
      outer->open.end = tag.open.end;
      outer->close.begin = tag.close.begin;
      now[i] = tag.parent;
    } else {
      now[i] = static_cast<uint32_t>(merged.size());
      merged.push_back(tag);
    }
  }
  tags = std::move(merged);
}

bool too_deep(const std::vector<Tag>& tags) {
  std::vector<uint32_t> depth(tags.size(), 0);
  for (size_t i = 0; i < tags.size(); ++i) {
    if (tags[i].parent != Tag::kNoParent) depth[i] = depth[tags[i].parent] + 1;
    if (depth[i] > kDeepestTag) return true;
  }
  return false;
}

}  // namespace

void PartBuilder::words(Range source, std::string_view decoded) {
  if (source.size() != decoded.size()) return plain_words(source, decoded);
  size_t at = 0;
  const auto from_source = [&](Range r) { return Range{source.begin + r.begin, source.begin + r.end}; };
  KeptWords all(decoded);
  for (Range found; all.next(found); at = found.end) {
    plain_words(from_source({at, found.begin}), Range{at, found.begin}.of(decoded));
    kept(from_source(found), found.of(decoded));
  }
  plain_words(from_source({at, decoded.size()}), decoded.substr(at));
}

void PartBuilder::words(const WrittenText& text, Range range) {
  const std::string_view words = range.of(text.text());
  const auto plain = [&](size_t begin, size_t end) {
    text.each_run({range.begin + begin, range.begin + end},
                  [&](Range source, std::string_view part) { plain_words(source, part); });
  };
  size_t at = 0;
  KeptWords all(words);
  for (Range found; all.next(found); at = found.end) {
    plain(at, found.begin);
    kept(text.source({range.begin + found.begin, range.begin + found.end}), found.of(words));
  }
  plain(at, words.size());
}

void PartBuilder::plain_words(Range source, std::string_view decoded) {
  if (!decoded.empty()) items_.push_back({Item::words, source, std::string(decoded)});
}

void PartBuilder::kept(Range source, std::string_view text, std::string as) {
  std::string words;
  for (const char c : text) {
    const bool blank = is_blank(static_cast<unsigned char>(c));
    if (!blank)
      words += c;
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  if (!words.empty() && words.back() == ' ') words.pop_back();
  if (words.empty())
    point(source, std::move(as));
  else
    items_.push_back({Item::kept, source, std::move(words), 0, SIZE_MAX, std::move(as)});
}

void PartBuilder::line(Range source) { items_.push_back({Item::line, source, " "}); }

// Closes the last open tag with this key; tags that opened after it and are still open remain unpaired.
void PartBuilder::close_at(size_t index, std::vector<size_t>& opened, std::unordered_map<uint32_t, size_t>& counts) {
  const uint32_t key = items_[index].key;
  if (counts[key] == 0) return;
  while (items_[opened.back()].key != key) {
    crossed_ = true;
    --counts[items_[opened.back()].key];
    opened.pop_back();
  }
  items_[index].match = opened.back();
  items_[opened.back()].match = index;
  --counts[key];
  opened.pop_back();
}

void PartBuilder::pair_up() {
  std::vector<size_t> opened;
  std::unordered_map<uint32_t, size_t> counts;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].kind == Item::open) {
      opened.push_back(i);
      ++counts[items_[i].key];
    } else if (items_[i].kind == Item::close) {
      close_at(i, opened, counts);
    }
  }
}

// Drops what surrounds the words, such as tags around all of them. False if there are no words.
bool PartBuilder::trim() {
  const auto shows = [](const Item& p) {
    return (p.kind == Item::words || p.kind == Item::kept) && is_visible(p.text);
  };
  const auto front = std::find_if(items_.begin(), items_.end(), shows);
  if (front == items_.end()) return false;
  const auto first = static_cast<size_t>(front - items_.begin());
  const auto last =
      static_cast<size_t>(std::find_if(items_.rbegin(), items_.rend(), shows).base() - items_.begin()) - 1;
  first_ = first;
  last_ = last;
  const auto opens_inside = [&](const Item& p) { return p.kind == Item::open && p.match > first && p.match <= last; };
  const auto closes_inside = [&](const Item& p) {
    return p.kind == Item::close && p.match >= first && p.match <= last;
  };
  for (size_t i = first; i-- > 0;) {
    if (opens_inside(items_[i])) first_ = i;
  }
  for (size_t i = last + 1; i < items_.size(); ++i) {
    if (closes_inside(items_[i])) last_ = i;
  }
  return std::any_of(items_.begin(), items_.end(),
                     [](const Item& p) { return p.kind == Item::words && has_letter(p.text); });
}

bool PartBuilder::pairs_inside() const {
  if (crossed_) return false;
  for (size_t i = first_; i <= last_; ++i) {
    const Item& p = items_[i];
    if ((p.kind == Item::open || p.kind == Item::close) && (p.match < first_ || p.match > last_)) return false;
  }
  return true;
}

Part PartBuilder::build(bool flat) const {
  Part part;
  Assembly assembly(part);
  for (size_t i = first_; i <= last_; ++i) {
    const Item& p = items_[i];
    switch (p.kind) {
      case Item::words: assembly.words(p.source, p.text); break;
      case Item::line:  // in front of all words, where flat tags leave it, no space would have it
        part.text.empty() ? assembly.point(p.source, p.as) : assembly.space(p.source, true);
        break;
      case Item::open: flat ? assembly.point(p.source, p.as) : assembly.open(p.source, p.as); break;
      case Item::close: flat ? assembly.point(p.source, p.as) : assembly.close(p.source, p.text); break;
      case Item::point: assembly.point(p.source, p.as); break;
      case Item::kept: flat ? assembly.point(p.source, p.as) : assembly.kept(p.source, p.text, p.as); break;
    }
  }
  assembly.end();
  const Item &front = items_[first_], &back = items_[last_];
  part.source = {front.source.begin, back.source.end};
  if (front.kind == Item::words) part.source.begin += blanks_at(front.text, 0);
  if (back.kind == Item::words) {
    for (size_t n = back.text.size(); n > 0 && is_blank(static_cast<unsigned char>(back.text[n - 1])); --n)
      --part.source.end;
  }
  return part;
}

std::vector<PartBuilder> PartBuilder::take_apart(std::span<const size_t> cuts) {
  std::vector<PartBuilder> apart(cuts.size() + 1);
  for (size_t i = 0, at = 0; i < apart.size(); ++i) {
    const size_t end = i < cuts.size() ? cuts[i] : items_.size();
    for (; at < end; ++at) apart[i].items_.push_back(std::move(items_[at]));
  }
  *this = PartBuilder();
  return apart;
}

bool PartBuilder::finish(std::vector<Part>& parts) {
  pair_up();
  const bool found = trim();
  if (found) {
    Part part = build(!pairs_inside());
    merge_equal_pairs(part.tags);
    if (too_deep(part.tags)) part = build(true);
    parts.push_back(std::move(part));
  }
  *this = PartBuilder();
  return found;
}

Segment segment_of(const Passage& passage) {
  Segment segment;
  for (const Part& part : passage.parts) {
    if (!segment.text.empty()) segment.text += ' ';
    const size_t offset = segment.text.size();
    segment.text += part.text;
    for (const Tag& tag : part.tags) {
      segment.marks.push_back({tag.text.begin + offset, tag.text.end + offset, tag.shape == Shape::kept});
    }
  }
  segment.needs_links = passage.parts.size() > 1 || !segment.marks.empty();
  return segment;
}

}  // namespace lapilli::documents
