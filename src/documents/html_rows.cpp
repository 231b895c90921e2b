#include "documents/html_rows.hpp"

#include <algorithm>

namespace lapilli::documents {

namespace {

using Item = PartBuilder::Item;

constexpr size_t kNoItem = SIZE_MAX;
constexpr std::u32string_view kSeparators = U"|\u00b7\u2022\u203a\u00bb\u2502";

bool has_word(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!is_sign(next_character(text, at))) return true;
  }
  return false;
}

// True for "morning" and "Thank", "morning." and "Thank", but not for "un" and "believable", "(" and "Paris".
bool word_ends_between(std::string_view before, std::string_view behind) {
  size_t begin = 0, end = before.size();
  if (!is_capital(next_character(behind, begin))) return false;
  const char32_t last = previous_character(before, end);
  if (is_sign(last)) return ends_sentence(before) && has_word(before);
  return !is_capital(last) && !is_ascii_digit(last);
}

// A link or a button with its content.
struct Control {
  size_t begin = 0, end = 0;  // items
  bool letters = false;
};

class RowFinder {
 public:
  RowFinder(std::span<const Item> items, std::span<const uint32_t> controls) : items_(items), keys_(controls) {}

  std::vector<size_t> run() {
    find_controls();
    if (is_row()) cut_around_controls();
    for (size_t i = 0; i < items_.size(); ++i) read_item(i);
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    std::erase_if(cuts_, [&](size_t cut) { return cut == 0 || cut >= items_.size(); });
    return std::move(cuts_);
  }

 private:
  [[nodiscard]] bool is_control(uint32_t key) const {
    return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
  }

  // Controls do not nest: one ends where another of its kind begins, as in a browser.
  void find_controls() {
    size_t open = kNoItem;
    const auto end = [&](size_t at) {
      if (open != kNoItem) controls_.back().end = at;
      open = kNoItem;
    };
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item& p = items_[i];
      const bool tag = p.kind == Item::open || p.kind == Item::close;
      if (tag && open != kNoItem && p.key == items_[open].key) end(p.kind == Item::close ? i + 1 : i);
      if (p.kind == Item::open && open == kNoItem && is_control(p.key)) controls_.push_back({open = i, i, false});
      if ((p.kind == Item::words || p.kind == Item::kept) && has_letter(p.text))
        (open == kNoItem ? letters_outside_ : controls_.back().letters) = true;
    }
    end(items_.size());
  }

  [[nodiscard]] bool is_row() const {
    return !letters_outside_ &&
           std::count_if(controls_.begin(), controls_.end(), [](const Control& c) { return c.letters; }) > 1;
  }

  void cut_around_controls() {
    for (const Control& c : controls_) {
      if (c.letters) cuts_.insert(cuts_.end(), {c.begin, c.end});
    }
  }

  void read_item(size_t i) {
    switch (items_[i].kind) {
      case Item::open: open(i); break;
      case Item::close: close(); break;
      case Item::words: words(i); break;
      case Item::point: break;
      default: last_ = separators_ = kNoItem;
    }
  }

  void open(size_t i) {
    if (separators_ != kNoItem && separated_) cuts_.insert(cuts_.end(), {separators_, i});
    separators_ = kNoItem;
    behind_end_ = false;
    if (closed_ && next_ == kNoItem) next_ = i;
  }

  void close() {
    closed_ = behind_end_ = true;
    separators_ = kNoItem;
  }

  void words(size_t i) {
    if (next_ != kNoItem && last_ != kNoItem && are_apart(last_, i)) cuts_.push_back(next_);
    read_separators(i);
    last_ = i;
    next_ = kNoItem;
    closed_ = behind_end_ = false;
  }

  // Reads signs between a closing tag and an opening one.
  void read_separators(size_t i) {
    const std::string_view text = items_[i].text;
    bool only = true;
    if (behind_end_) {
      separators_ = i;
      separated_ = false;
    }
    for (size_t at = 0; at < text.size() && only;) {
      const char32_t c = next_character(text, at);
      const bool separates = kSeparators.find(c) != std::u32string_view::npos;
      separated_ |= separates;
      only = separates || is_blank(c) || c == 0xa0;
    }
    if (!only) separators_ = kNoItem;
  }

  [[nodiscard]] bool are_apart(size_t before, size_t behind) {
    const std::string_view a = items_[before].text, b = items_[behind].text;
    if (is_blank(static_cast<unsigned char>(a.back())) || is_blank(static_cast<unsigned char>(b.front()))) return false;
    return word_ends_between(a, b) || (ends_control(before, behind) && holds_letters(behind));
  }

  // True if a control with letters ends between these two.
  [[nodiscard]] bool ends_control(size_t before, size_t behind) const {
    const auto c = control_at(before);
    return c != controls_.end() && c->end <= behind && c->letters;
  }
  [[nodiscard]] bool holds_letters(size_t item) const {
    const auto c = control_at(item);
    return c != controls_.end() && c->letters;
  }

  [[nodiscard]] std::vector<Control>::const_iterator control_at(size_t item) const {
    const auto next = std::upper_bound(controls_.begin(), controls_.end(), item,
                                       [](size_t p, const Control& c) { return p < c.begin; });
    if (next == controls_.begin() || std::prev(next)->end <= item) return controls_.end();
    return std::prev(next);
  }

  std::span<const Item> items_;
  std::span<const uint32_t> keys_;
  std::vector<Control> controls_;
  bool letters_outside_ = false;
  std::vector<size_t> cuts_;
  size_t last_ = kNoItem;        // the previous words
  size_t next_ = kNoItem;        // the first tag that opened since one closed behind them
  size_t separators_ = kNoItem;  // the first of the words that are only separators so far
  bool closed_ = false;          // a tag closed behind them
  bool behind_end_ = false;      // directly behind the end of a tag
  bool separated_ = false;       // there is a separator
};

}  // namespace

std::vector<size_t> find_row_cuts(std::span<const Item> items, std::span<const uint32_t> controls) {
  return RowFinder(items, controls).run();
}

}  // namespace lapilli::documents
