#include "documents/tables/po_entries.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "documents/lines.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kWidest = 80;  // columns of a wrapped line
constexpr size_t kMostForms = 64;

// Formats whose placeholders begin with %, and those of them that may have numbers.
constexpr std::array<std::string_view, 12> kPercentFormats = {
    "c-format",  "objc-format", "c++-format", "python-format",        "php-format",          "perl-format",
    "sh-printf", "awk-format",  "lua-format", "object-pascal-format", "gcc-internal-format", "ruby-format"};
constexpr std::array<std::string_view, 7> kNumberedFormats = {
    "c-format",   "objc-format", "php-format", "perl-format", "object-pascal-format", "gcc-internal-format",
    "ruby-format"};

std::string_view without_blanks_around(std::string_view text) {
  while (!text.empty() && is_blank(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && is_blank(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

class PoReader {
 public:
  PoReader(std::string_view bytes, size_t begin) : bytes_(bytes), lines_(bytes, begin) {
    const size_t end = bytes.find_first_of("\r\n");
    if (end != std::string_view::npos && bytes.substr(end, 2) == "\r\n") file_.line_end = "\r\n";
  }

  PoFile read() {
    for (Range line; lines_.next(line);) {
      ++number_;
      take(line, without_blanks_around(line.of(bytes_)));
    }
    end_entry();
    return std::move(file_);
  }

 private:
  void take(Range line, std::string_view text) {
    if (text.empty()) return end_entry();
    if (text.size() > kWidest && text.find(' ', 8) != std::string_view::npos && text[0] != '#') file_.wide = true;
    if (text[0] == '#')
      comment(line, text);
    else if (text[0] == '"')
      more(line, text);
    else
      keyword(line, text);
  }

  void comment(Range line, std::string_view text) {
    if (text.starts_with("#~")) return end_entry();
    if (!entry_.forms.empty()) end_entry();  // comments stand in front of an entry
    if (text.find("l10n:off") != std::string_view::npos) off_ = true;
    if (text.find("l10n:on") != std::string_view::npos) off_ = false;
    const bool previous = text.starts_with("#|");
    if (!previous && text.find("i18n-ignore") != std::string_view::npos) entry_.kept = true;
    if (text.starts_with("#,")) return flags(line);
    if (previous) place_flags(line.begin);
  }

  void flags(Range line) {
    const size_t at = bytes_.find("#,", line.begin);
    entry_.flags = {at + 2, line.end};
    entry_.flags_at = line.begin;
    flags_placed_ = true;
    std::string_view all = entry_.flags.of(bytes_);
    while (!all.empty()) {
      const size_t end = std::min(all.find(','), all.size());
      flag(without_blanks_around(all.substr(0, end)));
      all.remove_prefix(std::min(end + 1, all.size()));
    }
  }

  void flag(std::string_view name) {
    entry_.fuzzy |= name == "fuzzy";
    entry_.percent |= std::ranges::find(kPercentFormats, name) != kPercentFormats.end();
    entry_.numbered |= std::ranges::find(kNumberedFormats, name) != kNumberedFormats.end();
  }

  void place_flags(size_t at) {
    if (!std::exchange(flags_placed_, true)) entry_.flags_at = at;
  }

  void keyword(Range line, std::string_view text) {
    const size_t end = std::min(text.find_first_of(" \t\"["), text.size());
    const std::string_view word = text.substr(0, end);
    if ((word == "msgctxt" || word == "msgid") && !entry_.forms.empty()) end_entry();
    place_flags(line.begin);
    open_ = nullptr;
    if (word == "msgctxt")
      open_ = &entry_.context.emplace();
    else if (word == "msgid")
      open_ = begin_id();
    else if (word == "msgid_plural")
      open_ = &entry_.plural.emplace();
    else if (word == "msgstr")
      open_ = begin_form(text.substr(end));
    else if (word == "domain")
      return;
    if (!open_) return broke();
    const size_t quote = bytes_.substr(0, line.end).find('"', line.begin);
    if (quote == std::string_view::npos) return broke();
    more(line, without_blanks_around(bytes_.substr(quote, line.end - quote)));
  }

  PoString* begin_id() {
    if (std::exchange(has_id_, true)) return nullptr;
    entry_.line = number_;
    return &entry_.id;
  }

  // Behind "msgstr": "[1] ..." or nothing but the string.
  PoString* begin_form(std::string_view rest) {
    if (!has_id_ || entry_.forms.size() >= kMostForms) return nullptr;
    PoForm form;
    if (rest.starts_with('[')) {
      const auto [stop, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), form.number);
      if (error != std::errc() || *stop != ']' || form.number != entry_.forms.size()) return nullptr;
    } else {
      entry_.has_plain = true;
    }
    entry_.forms.push_back(std::move(form));
    return &entry_.forms.back().text;
  }

  // A string in quotes, which belongs to the last keyword.
  void more(Range line, std::string_view text) {
    const auto begin = static_cast<size_t>(text.data() - bytes_.data());
    if (!open_ || !is_closed(text)) return broke();
    const Range whole{begin, begin + text.size()};
    open_->pieces.push_back({whole.begin + 1, whole.end - 1});
    open_->bytes = {open_->pieces.size() == 1 ? whole.begin : open_->bytes.begin, whole.end};
    if (!entry_.forms.empty()) entry_.forms.back().end = line.end;
  }

  // A quote ends the line, and no other stands in it without a backslash.
  static bool is_closed(std::string_view text) {
    if (text.size() < 2 || text.front() != '"') return false;
    for (size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        return i + 1 == text.size();
    }
    return false;
  }

  void broke() {
    open_ = nullptr;
    if (!broken_) file_.broken_lines.push_back(number_);
    broken_ = true;
  }

  void end_entry() {
    const bool whole = has_id_ && !entry_.forms.empty() && !broken_;
    if (has_id_ && entry_.forms.empty() && !broken_) file_.broken_lines.push_back(entry_.line);
    if (whole) {
      entry_.kept |= off_;
      file_.entries.push_back(std::move(entry_));
    }
    entry_ = {};
    open_ = nullptr;
    has_id_ = broken_ = flags_placed_ = false;
  }

  std::string_view bytes_;
  LineReader lines_;
  size_t number_ = 0;
  PoFile file_;
  PoEntry entry_;
  PoString* open_ = nullptr;  // gets the lines that follow
  bool has_id_ = false, broken_ = false, flags_placed_ = false;
  bool off_ = false;  // between l10n:off and l10n:on
};

}  // namespace

bool PoString::empty() const {
  return std::ranges::all_of(pieces, [](const Range& r) { return r.empty(); });
}

std::string PoString::raw(std::string_view document) const {
  std::string all;
  for (const Range& piece : pieces) all += piece.of(document);
  return all;
}

bool PoEntry::has_translation() const {
  return std::ranges::any_of(forms, [](const PoForm& form) { return !form.text.empty(); });
}

PoFile read_po(std::string_view bytes, size_t begin) { return PoReader(bytes, begin).read(); }

std::optional<Range> find_po_field(std::string_view bytes, const PoEntry& header, std::string_view name) {
  for (const Range& piece : header.forms.front().text.pieces) {
    const std::string_view text = piece.of(bytes);
    for (size_t at = 0; at < text.size(); at = std::min(text.find("\\n", at), text.size() - 1) + 2) {
      const std::string_view line = text.substr(at, text.find("\\n", at) - at);
      if (!ascii_lower(line.substr(0, name.size())).starts_with(ascii_lower(name)) ||
          line.substr(name.size(), 1) != ":")
        continue;
      const size_t skipped = std::min(line.find_first_not_of(' ', name.size() + 1), line.size());
      const size_t begin = piece.begin + at + skipped;
      return Range{begin, piece.begin + at + line.size()};
    }
  }
  return std::nullopt;
}

std::string po_escape(std::string_view text, size_t at, size_t& length) {
  static constexpr std::string_view kLetters = "nt\"\\", kMeanings = "\n\t\"\\";
  length = std::min<size_t>(2, text.size() - at);
  const size_t letter = length == 2 ? kLetters.find(text[at + 1]) : std::string_view::npos;
  return letter == std::string_view::npos ? std::string(text.substr(at, length)) : std::string(1, kMeanings[letter]);
}

}  // namespace lapilli::documents
