#include "documents/office/run_reader.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "documents/office/run_paragraph.hpp"
#include "documents/office/xml_text.hpp"

namespace lapilli::documents {

namespace {

constexpr std::string_view kBlankBytes = " \t\r\n";
constexpr size_t kDeepestWrapper = 16;  // others divide a text
constexpr uint32_t kLookKey = 1, kWrapperKey = 2;

bool is_blank_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_blank(static_cast<unsigned char>(c)); });
}

// Items [first, last) that form a text, and the wrappers that they open and close.
struct Stretch {
  size_t first = 0, last = 0;
};

// Makes passages of a paragraph's items.
class RunComposer {
 public:
  RunComposer(std::string_view bytes, const RunRules& rules, const RunParagraph& paragraph, std::vector<Passage>& out)
      : bytes_(bytes), rules_(rules), paragraph_(paragraph), items_(paragraph.items()), out_(out) {
    run_begin_ = "<" + std::string(rules.run) + ">";
    run_end_ = "</" + std::string(rules.run) + ">";
    text_end_ = "</" + std::string(rules.text) + ">" + run_end_;
  }

  void compose() {
    for (const Stretch& s : stretches()) compose(s);
  }

 private:
  // ---- stretches ----
  // Wrappers with a divider in them, and those that are nested too deeply.
  [[nodiscard]] std::vector<bool> divided_wrappers() const {
    std::vector<bool> divided(paragraph_.wrappers(), false);
    std::vector<size_t> open;
    for (const RunItem& item : items_) {
      if (item.kind == RunItem::open) {
        divided[item.wrapper] = open.size() >= kDeepestWrapper;
        open.push_back(item.wrapper);
      } else if (item.kind == RunItem::close) {
        const bool inner = divided[open.back()];
        open.pop_back();
        if (inner && !open.empty()) divided[open.back()] = true;
      } else if (item.kind == RunItem::divider && !open.empty()) {
        divided[open.back()] = true;
      }
    }
    return divided;
  }

  [[nodiscard]] std::vector<Stretch> stretches() const {
    const std::vector<bool> divided = divided_wrappers();
    std::vector<Stretch> all(1);
    for (size_t i = 0; i < items_.size(); ++i) {
      const RunItem& item = items_[i];
      const bool wraps = item.kind == RunItem::open || item.kind == RunItem::close;
      all.back().last = i;
      if (item.kind == RunItem::divider || (wraps && divided[item.wrapper])) all.push_back({i + 1, i + 1});
    }
    all.back().last = items_.size();
    return all;
  }

  [[nodiscard]] bool shows(size_t i) const {
    const RunItem& item = items_[i];
    if (item.kind == RunItem::text) return !is_blank_text(item.content.of(bytes_));
    return item.kind == RunItem::other && !is_blank_text(item.words);
  }

  void compose(const Stretch& whole) {
    Stretch s = whole;
    while (s.first < s.last && !shows(s.first)) ++s.first;
    while (s.first < s.last && !shows(s.last - 1)) --s.last;
    if (s.first == s.last) return;
    bool loose = s.last - s.first == 1;
    for (size_t i = s.first; i < s.last; ++i) loose |= items_[i].kind == RunItem::text && items_[i].run == kNoRun;
    if (!loose) return compose_runs(with_wrappers(s, whole));
    for (size_t i = s.first; i < s.last; ++i) compose_text(items_[i]);
  }

  // A text alone: its words change and nothing around them.
  void compose_text(const RunItem& item) {
    PartBuilder words;
    if (item.kind == RunItem::text) add_xml_words(words, bytes_, item.content);
    Passage passage;
    if (words.finish(passage.parts)) out_.push_back(std::move(passage));
  }

  // A wrapper around the first words and not the last, or the other way round, is part of the stretch.
  [[nodiscard]] Stretch with_wrappers(const Stretch& s, const Stretch& whole) const {
    const size_t first = items_[s.first].bytes.begin, last = items_[s.last - 1].bytes.begin;
    const auto around = [&](size_t i, size_t at) {
      return items_[i].content.begin <= at && at < items_[i].content.end;
    };
    Stretch wide = s;
    for (size_t i = s.first; i-- > whole.first;)
      if (items_[i].kind == RunItem::open && around(i, first) && !around(i, last)) wide.first = i;
    for (size_t i = s.last; i < whole.last; ++i)
      if (items_[i].kind == RunItem::close && around(i, last) && !around(i, first)) wide.last = i + 1;
    return wide;
  }

  // ---- looks ----
  [[nodiscard]] std::string_view look_of(size_t run) const {
    return run == kNoRun ? std::string_view() : paragraph_.runs()[run].look.of(bytes_);
  }

  // Begins a run with a text.
  [[nodiscard]] std::string begin_text(std::string_view look) const {
    return run_begin_ + std::string(look) + std::string(rules_.text_tag);
  }

  // The look of the most bytes, at each level: 0, and each wrapper's number + 1.
  void find_base_looks(Stretch s) {
    std::map<std::pair<size_t, std::string_view>, size_t> sizes;
    std::vector<size_t> levels{0};
    base_.clear();
    std::map<size_t, size_t> most;
    for (size_t i = s.first; i < s.last; ++i) {
      const RunItem& item = items_[i];
      if (item.kind == RunItem::open) levels.push_back(item.wrapper + 1);
      if (item.kind == RunItem::close) levels.pop_back();
      if (item.kind != RunItem::text || !shows(i)) continue;
      const size_t size = sizes[{levels.back(), look_of(item.run)}] += item.content.size();
      if (size <= most[levels.back()]) continue;
      most[levels.back()] = size;
      base_[levels.back()] = look_of(item.run);
    }
  }

  // ---- runs as tags ----
  void compose_runs(Stretch s) {
    find_base_looks(s);
    levels_ = {0};
    inner_ = {};
    in_look_ = false;
    words_ = PartBuilder();
    for (size_t i = s.first; i < s.last; ++i) add(items_[i]);
    end_look(items_[s.last - 1].bytes.end);
    Passage passage;
    if (!words_.finish(passage.parts)) return;
    passage.parts.front().source = {begin_of(items_[s.first], passage), end_of(items_[s.last - 1], passage)};
    out_.push_back(std::move(passage));
  }

  [[nodiscard]] std::string back_to_base() { return begin_text(base_[levels_.back()]); }

  void add(const RunItem& item) {
    const std::string raw(item.bytes.of(bytes_));
    switch (item.kind) {
      case RunItem::text: return add_text(item);
      case RunItem::other: return add_other(item, raw);
      case RunItem::open:
        end_look(item.bytes.begin);
        levels_.push_back(item.wrapper + 1);
        return words_.open(item.bytes, kWrapperKey, text_end_ + raw + back_to_base());
      case RunItem::close:
        end_look(item.bytes.begin);
        levels_.pop_back();
        return words_.close_with(item.bytes, kWrapperKey, text_end_ + raw + back_to_base());
      case RunItem::divider: return;
    }
  }

  void add_text(const RunItem& item) {
    const std::string_view look = look_of(item.run);
    const bool stays = is_blank_text(item.content.of(bytes_)) || (in_look_ && look == inner_);
    if (!stays) {
      end_look(item.content.begin);
      if (look != base_[levels_.back()]) begin_look(item.content.begin, look);
    }
    add_xml_words(words_, bytes_, item.content);
  }

  void begin_look(size_t at, std::string_view look) {
    words_.open({at, at}, kLookKey, text_end_ + begin_text(look));
    inner_ = look;
    in_look_ = true;
  }

  void end_look(size_t at) {
    if (in_look_) words_.close_with({at, at}, kLookKey, text_end_ + back_to_base());
    in_look_ = false;
  }

  void add_other(const RunItem& item, const std::string& raw) {
    end_look(item.bytes.begin);
    const std::string run = item.run == kNoRun ? raw : run_begin_ + std::string(look_of(item.run)) + raw + run_end_;
    words_.kept(item.bytes, item.words, text_end_ + run + back_to_base());
  }

  // ---- the bytes that are written anew ----
  size_t begin_of(const RunItem& item, Passage& passage) {
    passage.before = begin_text(base_[0]);
    if (item.kind != RunItem::text) return item.kind == RunItem::open ? item.content.begin : item.bytes.begin;
    const std::string_view text = item.content.of(bytes_);
    const size_t blanks = std::min(text.find_first_not_of(kBlankBytes), text.size());
    if (!item.whole_text) passage.before.insert(0, text_end_);
    if (item.whole_text && item.number > 0) passage.before.insert(0, run_end_);
    passage.before += text.substr(0, blanks);
    if (!item.whole_text) return item.content.begin;
    return item.number > 0 ? item.bytes.begin : paragraph_.runs()[item.run].whole.begin;
  }

  size_t end_of(const RunItem& item, Passage& passage) {
    passage.after = text_end_;
    if (item.kind != RunItem::text) return item.kind == RunItem::close ? item.content.end : item.bytes.end;
    const std::string_view text = item.content.of(bytes_);
    passage.after.insert(0, text.substr(text.find_last_not_of(kBlankBytes) + 1));
    if (!item.whole_text) {
      passage.after += begin_text(look_of(item.run));
      return item.content.end;
    }
    const Run& run = paragraph_.runs()[item.run];
    if (item.number + 1 == run.items) return run.whole.end;
    passage.after += run_begin_ + std::string(look_of(item.run));
    return item.bytes.end;
  }

  std::string_view bytes_;
  const RunRules& rules_;
  const RunParagraph& paragraph_;
  const std::vector<RunItem>& items_;
  std::vector<Passage>& out_;
  std::string run_begin_, run_end_, text_end_;
  std::map<size_t, std::string_view> base_;
  std::vector<size_t> levels_;
  PartBuilder words_;
  std::string_view inner_;  // the look of the pair that is open
  bool in_look_ = false;
};

// Drops runs with an empty text.
void drop_empty_runs(std::string& out, size_t from, std::string_view run_begin, std::string_view empty,
                     std::string_view run_end) {
  std::string kept;
  size_t at = from;
  for (size_t end = out.find(empty, at); end != std::string::npos; end = out.find(empty, at)) {
    const size_t begin = out.rfind(run_begin, end);
    const bool ours =
        begin != std::string::npos && begin >= at && Range{begin, end}.of(out).find(run_end) == std::string_view::npos;
    kept += Range{at, ours ? begin : end + empty.size()}.of(out);
    at = end + empty.size();
  }
  if (at == from) return;
  kept += std::string_view(out).substr(at);
  out.resize(from);
  out += kept;
}

void tidy_word(std::string& out, size_t from, const Passage&) {
  drop_empty_runs(out, from, "<w:r>", "<w:t xml:space=\"preserve\"></w:t></w:r>", "</w:r>");
}
void tidy_slide(std::string& out, size_t from, const Passage&) {
  drop_empty_runs(out, from, "<a:r>", "<a:t></a:t></a:r>", "</a:r>");
}
void tidy_sheet(std::string& out, size_t from, const Passage&) {
  drop_empty_runs(out, from, "<r>", "<t xml:space=\"preserve\"></t></r>", "</r>");
}

bool shows_formula(std::string_view bytes, const RunParagraph& paragraph) {
  const auto& items = paragraph.items();
  const auto first = std::find_if(items.begin(), items.end(), [](const RunItem& i) { return i.kind == RunItem::text; });
  return first != items.end() && is_formula(decode_xml(first->content.of(bytes)));
}

bool stays_by_name(std::span<const std::string> kept, const Passage& passage) {
  return !kept.empty() && std::binary_search(kept.begin(), kept.end(), segment_of(passage).text);
}

}  // namespace

const Style kWordStyle = {.encode = encode_xml, .tidy = tidy_word};
const Style kSlideStyle = {.encode = encode_xml, .tidy = tidy_slide};
const Style kSheetStyle = {.encode = encode_xml, .tidy = tidy_sheet};

Result<Found> find_run_passages(std::string_view bytes, size_t begin, const RunRules& rules,
                                std::span<const std::string> kept) {
  Found found;
  XmlTokens tokens(bytes, begin);
  XmlToken token;
  size_t fields = 0, in_fields = 0;
  for (;;) {
    LAPILLI_TRY(const bool more, tokens.next(token));
    if (!more) break;
    const bool begins = token.type == XmlToken::start_tag && !token.closed;
    if (!begins || !is_one_of(rules.paragraphs, token.name)) continue;
    const bool cell = is_one_of(rules.cells, token.name);
    RunParagraph items(bytes, tokens, rules, fields);
    LAPILLI_CHECK(items.read(token));
    fields = items.open_fields();
    in_fields += items.stays() ? 1 : 0;
    if (items.stays() || (cell && shows_formula(bytes, items))) continue;
    RunComposer(bytes, rules, items, found.passages).compose();
  }
  std::erase_if(found.passages, [&](const Passage& p) { return stays_by_name(kept, p); });
  if (in_fields > 0)
    found.notes.push_back(
        format("%u paragraphs of fields (a table of contents, an index) stay: update the fields in the "
               "document",
               in_fields));
  return found;
}

}  // namespace lapilli::documents
