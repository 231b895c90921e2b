#include "documents/markup/markup.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lapilli::documents {

namespace {

constexpr size_t kMostNames = 1000;  // that are counted apart
constexpr size_t kShownNames = 6;
constexpr size_t kLongestName = 40;

// A passage begins in order, but ends behind those that lie between its parts.
void put_in_order(Found& found) {
  std::stable_sort(found.passages.begin(), found.passages.end(),
                   [](const Passage& a, const Passage& b) { return a.source().begin < b.source().begin; });
  std::stable_sort(found.markup.begin(), found.markup.end(),
                   [](const Markup& a, const Markup& b) { return a.at < b.at; });
}

size_t line_end(std::string_view bytes, size_t at) {
  const size_t end = std::min(bytes.find('\n', at), bytes.size());
  return end == bytes.size() ? end : end + 1;
}

}  // namespace

size_t number_of(std::string_view bytes) {
  size_t number = 0xcbf29ce484222325;
  for (const char c : bytes) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return number;
}

void LeftAlone::count(std::string_view what) {
  const std::string name(what.substr(0, kLongestName));
  if (counts_.size() < kMostNames || counts_.contains(name))
    ++counts_[name];
  else
    ++others_;
}

void LeftAlone::tell(std::vector<std::string>& notes, std::string_view one, std::string_view several) const {
  if (counts_.empty()) return;
  std::vector<std::pair<size_t, std::string>> most;
  size_t all = others_;
  for (const auto& [name, count] : counts_) {
    most.emplace_back(count, name);
    all += count;
  }
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string note = std::to_string(all) + " ";
  note += all == 1 ? std::string(one) + " stays as it is: " : std::string(several) + " stay as they are: ";
  for (size_t i = 0; i < std::min(most.size(), kShownNames); ++i)
    note += (i > 0 ? ", " : "") + most[i].second + " (" + std::to_string(most[i].first) + ")";
  notes.push_back(note + (most.size() > kShownNames ? ", ..." : ""));
}

void TextFlow::divide() {
  builder_.finish(passage_.parts);
  if (passage_.parts.size() >= kMostParts) finish();
}

void TextFlow::finish() {
  builder_.finish(passage_.parts);
  if (!passage_.parts.empty()) found_.passages.push_back(std::move(passage_));
  passage_ = Passage();
}

void Switches::comment(std::string_view bytes, Range range) {
  const std::string_view text = range.of(bytes);
  if (!is_off_ && text.find("i18n-ignore") != std::string_view::npos) {
    const size_t begin = line_end(bytes, std::max(range.begin, range.end - 1));
    off_.push_back({range.end, std::max(range.end, line_end(bytes, begin))});
  }
  const bool off = text.find("l10n:off") != std::string_view::npos, on = text.find("l10n:on") != std::string_view::npos;
  if (off && !is_off_) off_.push_back({range.end, bytes.size()});
  if (on && is_off_) off_.back().end = range.begin;
  is_off_ = off || (is_off_ && !on);
}

void Switches::apply(Found& found) {
  put_in_order(found);
  if (off_.empty()) return;
  std::erase_if(found.passages, [&](const Passage& p) {
    const size_t at = p.source().begin;
    const auto after =
        std::upper_bound(off_.begin(), off_.end(), at, [](size_t a, const Range& r) { return a < r.begin; });
    // No range contains another one, so the last two in front of a place are all that can contain it.
    const auto nearest = after - off_.begin() > 2 ? after - 2 : off_.begin();
    return std::any_of(nearest, after, [&](const Range& r) { return at < r.end; });
  });
}

}  // namespace lapilli::documents
