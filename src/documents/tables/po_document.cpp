// Catalogues of gettext (.po, .pot): the translations of messages go where there are none yet.
#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "documents/kinds.hpp"
#include "documents/message_tags.hpp"
#include "documents/tables/plural_forms.hpp"
#include "documents/tables/po_entries.hpp"
#include "documents/tables/po_text.hpp"
#include "documents/tables/told_lines.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kPageWidth = 79;     // of gettext
constexpr size_t kLeastWrapped = 50;  // bytes of a line that was broken by hand
constexpr size_t kMostPlurals = 8;

// Passage::escapes of a catalogue; above these bits: the bytes at the end of `before` that belong to the string.
enum PoBits : uint32_t {
  kPoGoesOn = 1,     // continues the string of the passage before
  kPoNumbered = 2,   // its placeholders have numbers that go if they are in order
  kPoOrdered = 4,    // ... and must go
  kPoWide = 8,       // no line is wrapped
  kPoCarriage = 16,  // lines end with CR LF
  kPoPercent = 32,   // % begins a placeholder
  kPoSeveral = 64,   // lines of the string follow in other passages
};
constexpr uint32_t kPoShift = 8;

std::string underscored(std::string language) {
  std::ranges::replace(language, '-', '_');
  return language;
}

// A translation that is to be made: the words of `from` in place of a msgstr.
struct PoTarget {
  const PoString* from = nullptr;
  Range place;         // of the string of a msgstr, or empty
  std::string before;  // up to the string
  std::string lead, otherwise;
};

class PoWriter {
 public:
  PoWriter(std::string_view bytes, size_t begin, const Options& options)
      : bytes_(bytes), options_(options), file_(read_po(bytes, begin)) {}

  Result<Found> find() {
    for (const size_t line : file_.broken_lines)
      told_.add("cannot be read as a message", "cannot be read as messages", line);
    choose_forms();
    for (const PoEntry& entry : file_.entries) {
      if (entry.is_header())
        LAPILLI_CHECK(header(entry));
      else if (is_new(entry))
        message(entry);
    }
    for (std::string& sentence : told_.sentences()) found_.notes.push_back(std::move(sentence));
    return std::move(found_);
  }

 private:
  // ---- the header ----

  Status header(const PoEntry& entry) {
    if (std::exchange(has_header_, true) || entry.forms.empty()) return {};
    std::vector<Edit> edits;
    if (const auto type = find_po_field(bytes_, entry, "Content-Type")) LAPILLI_CHECK(charset(*type, edits));
    if (!options_.target_language.empty()) name_language(entry, edits);
    std::ranges::stable_sort(edits, {}, [](const Edit& e) { return e.at.begin; });
    found_.edits.insert(found_.edits.end(), edits.begin(), edits.end());
    return {};
  }

  void name_language(const PoEntry& entry, std::vector<Edit>& edits) const {
    const auto language = find_po_field(bytes_, entry, "Language"),
               plurals = find_po_field(bytes_, entry, "Plural-Forms");
    if (language) edits.push_back({*language, underscored(options_.target_language)});
    if (plurals && forms_to_write_) edits.push_back({*plurals, forms_text()});
    if (!plurals && forms_to_write_ && has_plurals_ && entry.forms[0].text.pieces.size() > 1)
      edits.push_back(
          {{entry.forms[0].end, entry.forms[0].end}, file_.line_end + "\"Plural-Forms: " + forms_text() + "\\n\""});
  }

  Status charset(Range type, std::vector<Edit>& edits) const {
    const std::string_view value = type.of(bytes_);
    const size_t at = ascii_lower(value).find("charset=");
    if (at == std::string::npos) return {};
    const Range name{type.begin + at + 8, type.end};
    const std::string called = ascii_lower(name.of(bytes_));
    if (called == "charset") edits.push_back({name, "UTF-8"});
    if (called.empty() || called == "charset" || called == "utf-8" || called == "utf8" || called == "us-ascii" ||
        called == "ascii")
      return {};
    return fail(ErrorCode::unsupported, "%s", po_charset_advice(name.of(bytes_)).c_str());
  }

  [[nodiscard]] std::string forms_text() const {
    return "nplurals=" + std::to_string(forms_to_write_->count) + "; plural=" + forms_to_write_->expression + ";";
  }

  // ---- plural forms ----

  // As the target has them, by the catalogue itself if it is in that language, else by the table.
  void choose_forms() {
    const PluralForms* known = plural_forms_of(options_.target_language);
    size_t said = 0;
    bool same = options_.target_language.empty();
    for (const PoEntry& entry : file_.entries) {
      if (entry.is_header() && said == 0) said = said_forms(entry, same);
      has_plurals_ |= entry.plural.has_value();
    }
    if (known && !(same && said > 0)) {
      if (const size_t other = other_number(known->count)) return keep_forms(said, other);
      forms_ = *known;
      forms_to_write_ = known;
    } else if (said > 0) {
      forms_ = known ? *known : PluralForms();
      forms_.count = said;
    } else if (has_plurals_ && !options_.target_language.empty()) {
      found_.notes.push_back("the plural forms of \"" + options_.target_language +
                             "\" are unknown; those that stand there are filled");
    }
  }

  // Number of forms that the header tells. `same`: it is in the target's language.
  size_t said_forms(const PoEntry& entry, bool& same) const {
    if (entry.forms.empty()) return 0;
    const auto language = find_po_field(bytes_, entry, "Language");
    if (language) same |= ascii_lower(language->of(bytes_)) == ascii_lower(underscored(options_.target_language));
    const auto plurals = find_po_field(bytes_, entry, "Plural-Forms");
    const std::string_view text = plurals ? plurals->of(bytes_) : std::string_view();
    const size_t at = text.find("nplurals=");
    size_t count = 0;
    if (at != std::string_view::npos) std::from_chars(text.data() + at + 9, text.data() + text.size(), count);
    return count <= kMostPlurals ? count : 0;
  }

  // The number of forms of a message that is translated already, and stays, if it is another; else 0.
  [[nodiscard]] size_t other_number(size_t count) const {
    for (const PoEntry& entry : file_.entries)
      if (entry.plural && entry.has_translation() && !options_.all && entry.forms.size() != count)
        return entry.forms.size();
    return 0;
  }

  void keep_forms(size_t said, size_t there) {
    forms_ = {};
    forms_.count = said > 0 ? said : there;
    found_.notes.push_back("messages have translations in " + std::to_string(there) +
                           " plural forms, so these stay; with --all they "
                           "become those of \"" +
                           options_.target_language + "\"");
  }

  // ---- messages ----

  bool is_new(const PoEntry& entry) {
    const std::string key = (entry.context ? entry.context->raw(bytes_) + '\4' : "") + entry.id.raw(bytes_);
    const auto [at, is_first] = lines_of_keys_.try_emplace(key, entry.line);
    if (!is_first) told_.add("has a message that stood before", "have messages that stood before", entry.line);
    return is_first && !entry.kept && (options_.all || !entry.has_translation());
  }

  void message(const PoEntry& entry) {
    if (entry.plural)
      plural_message(entry);
    else if (entry.has_plain && entry.forms.size() == 1)
      add_targets(entry, {{&entry.id, entry.forms[0].text.bytes, "", "", ""}});
  }

  void plural_message(const PoEntry& entry) {
    if (entry.has_plain)
      return told_.add("has a plural without numbered forms", "have plurals without numbered forms", entry.line);
    const size_t count = forms_.count > 0 ? forms_.count : entry.forms.size();
    std::vector<PoTarget> targets;
    for (size_t i = 0; i < count; ++i) {
      PoTarget target{source_of_form(entry, i), {}, "", "", ""};
      const size_t end = entry.forms.back().end;
      if (i < entry.forms.size()) {
        target.place = entry.forms[i].text.bytes;
      } else {
        target.place = {end, end};
        target.lead = file_.line_end + "msgstr[" + std::to_string(i) + "] ";
        target.otherwise = "\"\"";
      }
      targets.push_back(std::move(target));
    }
    add_targets(entry, std::move(targets));
    for (size_t i = count; i < entry.forms.size(); ++i)
      found_.edits.push_back({{entry.forms[i - 1].end, entry.forms[i].end}, ""});
  }

  // The singular is for one alone, or for numbers that it says as the plural does.
  [[nodiscard]] const PoString* source_of_form(const PoEntry& entry, size_t form) const {
    if (form != forms_.singular || forms_.count == 1) return &*entry.plural;
    const bool says_number = placeholders_in(entry.id) == placeholders_in(*entry.plural);
    return forms_.one_alone || says_number ? &entry.id : &*entry.plural;
  }
  [[nodiscard]] size_t placeholders_in(const PoString& text) const {
    const std::string raw = text.raw(bytes_);
    return count_next_arguments(raw);
  }

  void add_targets(const PoEntry& entry, std::vector<PoTarget> targets) {
    const size_t first = found_.passages.size();
    for (size_t i = 0; i < targets.size(); ++i) {
      PoTarget& target = targets[i];
      if (i == 0) mark_fuzzy(entry, target);
      if (!add_string(entry, target)) {
        found_.passages.resize(first);  // no words: it stays empty, which means that it is its own translation
        return;
      }
    }
    for (size_t i = first + 1; i < found_.passages.size(); ++i) found_.passages[i].joined = true;
  }

  // The mark stands some lines above the translation: all between is written anew with it.
  void mark_fuzzy(const PoEntry& entry, PoTarget& target) const {
    if (!options_.fuzzy || entry.fuzzy) return;
    const Range between{entry.flags.empty() ? entry.flags_at : entry.flags.end, target.place.begin};
    if (entry.flags.empty())
      target.before = "#, fuzzy" + file_.line_end;
    else
      target.before = "#, fuzzy," + std::string(entry.flags.of(bytes_));
    target.before += between.of(bytes_);
    target.place.begin = entry.flags_at;
  }

  // ---- the words of a string ----

  bool add_string(const PoEntry& entry, PoTarget& target) {
    const WrittenText text = decoded(*target.from);
    PoMarkup markup{entry.percent, nullptr, closed_names(text.text())};
    size_t number = 0;
    const bool numbers = entry.percent && count_next_arguments(text.text()) > 1;
    if (numbers) markup.number = &number;
    std::vector<Passage> passages;
    for (const Range& line : lines_of(text.text())) {
      PartBuilder builder;
      add_line(builder, text, line, markup);
      Passage passage;
      if (builder.finish(passage.parts)) passages.push_back(std::move(passage));
    }
    uint32_t bits = (file_.wide ? kPoWide : 0u) | (file_.line_end.size() > 1 ? kPoCarriage : 0u) |
                    (entry.percent ? kPoPercent : 0u);
    if (numbers && !(entry.numbered && passages.size() > 1)) bits |= kPoNumbered;
    if (numbers && !entry.numbered) bits |= kPoOrdered;
    if (passages.size() > 1) bits |= kPoSeveral;
    frame(target, passages, bits);
    for (Passage& passage : passages) found_.passages.push_back(std::move(passage));
    return !passages.empty();
  }

  // The first passage replaces the string, the others go on behind it.
  void frame(const PoTarget& target, std::vector<Passage>& passages, uint32_t bits) const {
    const Range whole = target.from->bytes;
    for (size_t i = 0; i < passages.size(); ++i) {
      Passage& p = passages[i];
      const bool first = i == 0, last = i + 1 == passages.size();
      const std::string front = first ? raw_between(*target.from, whole.begin, p.source().begin) : "";
      p.before = first ? target.before + front : "";
      p.lead = first ? target.lead : "";
      p.anew = true;
      p.if_failed = first ? target.otherwise : "";
      p.after = raw_between(*target.from, p.source().end, last ? whole.end : passages[i + 1].source().begin);
      p.place = first ? target.place : Range{target.place.end, target.place.end};
      p.escapes = bits | (first ? 0u : kPoGoesOn) | static_cast<uint32_t>(front.size()) << kPoShift;
    }
  }

  // Bytes of a string between two places, without the quotes of its lines.
  [[nodiscard]] std::string raw_between(const PoString& text, size_t begin, size_t end) const {
    std::string raw;
    for (const Range& piece : text.pieces)
      raw += Range{std::max(piece.begin, begin), std::max(std::min(piece.end, end), std::max(piece.begin, begin))}.of(
          bytes_);
    return raw;
  }

  [[nodiscard]] WrittenText decoded(const PoString& text) const {
    WrittenText words;
    for (const Range& piece : text.pieces) {
      size_t begin = piece.begin;
      for (size_t at = begin; (at = bytes_.substr(0, piece.end).find('\\', at)) != std::string_view::npos;) {
        size_t length = 0;
        const std::string meaning = po_escape(bytes_.substr(0, piece.end), at, length);
        words.literal(bytes_, {begin, at});
        words.escaped({at, at + std::max<size_t>(length, 1)}, meaning.size() == 1 ? meaning : " ");
        begin = at += std::max<size_t>(length, 1);
      }
      words.literal(bytes_, {begin, piece.end});
    }
    return words;
  }

  // Lines and cells; a line that was only wrapped goes on in the next one.
  static std::vector<Range> lines_of(std::string_view text) {
    std::vector<Range> lines;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = text.find_first_of("\n\t", begin);
      while (end < text.size() && is_wrapped(text, begin, end)) end = text.find_first_of("\n\t", end + 1);
      end = std::min(end, text.size());
      lines.push_back({begin, end});
      begin = end + 1;
    }
    return lines;
  }

  static bool is_wrapped(std::string_view text, size_t begin, size_t end) {
    const size_t line = text.rfind('\n', end - (end > 0 ? 1 : 0));
    const size_t length = end - (line == std::string_view::npos || line < begin ? begin : line);
    const char next = end + 1 < text.size() ? text[end + 1] : '\n';
    return text[end] == '\n' && length > kLeastWrapped && next >= 'a' && next <= 'z';
  }

  static void add_line(PartBuilder& builder, const WrittenText& text, Range line, const PoMarkup& markup) {
    for (size_t begin = line.begin; begin < line.end;) {
      const size_t end = std::min(text.text().find('\n', begin), line.end);
      add_po_text(builder, text, {begin, end}, markup);
      if (end < line.end) builder.line(text.source({end, end + 1}));
      begin = end + 1;
    }
  }

  std::string_view bytes_;
  const Options& options_;
  const PoFile file_;
  Found found_;
  ToldLines told_;
  bool has_header_ = false, has_plurals_ = false;
  PluralForms forms_;
  const PluralForms* forms_to_write_ = nullptr;
  std::unordered_map<std::string, size_t> lines_of_keys_;
};

// ---- writing ----

void encode_po(std::string& out, std::string_view text, Range range, bool, const Passage& passage) {
  for (const char c : range.of(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '%' && (passage.escapes & kPoPercent)) out += '%';
    out += c;
  }
}

// A placeholder with the number of its argument in an encoded text.
struct NumberedPlace {
  Range bytes;
  size_t number = 0;
  size_t type = 0;  // where its type begins, behind the $
};

std::vector<NumberedPlace> numbered_places(std::string_view text) {
  std::vector<NumberedPlace> all;
  for (size_t at = text.find('%'); at < text.size(); at = text.find('%', at)) {
    size_t end = at + 1;
    size_t number = 0;
    while (end < text.size() && is_ascii_digit(static_cast<unsigned char>(text[end])) && number < 1000)
      number = number * 10 + static_cast<size_t>(text[end++] - '0');
    if (text.substr(at, 2) == "%%") {
      at += 2;
      continue;
    }
    const size_t type = end + 1;
    const size_t last = text.find_first_of("diouxXeEfFgGaAcCsSp@", type);
    if (number > 0 && text.substr(end, 1) == "$" && last != std::string_view::npos) {
      all.push_back({{at, last + 1}, number, type});
      end = last + 1;
    }
    at = end;
  }
  return all;
}

// Numbers are left out again where the placeholders are in order; where the format knows none, they come into order.
std::string without_numbers(std::string_view text, bool must) {
  const std::vector<NumberedPlace> places = numbered_places(text);
  std::vector<NumberedPlace> sorted = places;
  std::ranges::stable_sort(sorted, {}, &NumberedPlace::number);
  const bool in_order = std::ranges::is_sorted(places, {}, &NumberedPlace::number);
  if (!in_order && !must) return std::string(text);
  std::string out;
  size_t at = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    out += text.substr(at, places[i].bytes.begin - at);
    out += '%';
    out += text.substr(sorted[i].type, sorted[i].bytes.end - sorted[i].type);
    at = places[i].bytes.end;
  }
  return out.append(text.substr(at));
}

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

// The end of the line that begins at `at`: behind a \n, or behind the last blank that fits.
size_t wrapped_end(std::string_view text, size_t at, size_t width) {
  size_t columns = 0, blank = 0;
  for (size_t i = at; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[i + 1] == 'n') return i + 2;
      ++columns, ++i;
    } else if (text[i] == ' ') {
      blank = i + 1;
    }
    if ((text[i] & 0xc0) != 0x80 && ++columns > width && blank > 0) return blank;
  }
  return text.size();
}

// Writes a string as gettext does: on the line of its keyword, or in lines of its own.
void append_po_string(std::string& out, std::string_view text, size_t column, uint32_t form) {
  const size_t width = form & kPoWide ? SIZE_MAX : kPageWidth - 2;
  const std::string line_end = form & kPoCarriage ? "\r\n" : "\n";
  const size_t first = text.find("\\n");
  const bool one_line = first == std::string_view::npos || first + 2 == text.size();
  const bool goes_on = form & kPoGoesOn;
  if (!goes_on && !(form & kPoSeveral) && one_line &&
      (width == SIZE_MAX || column + columns_of(text) + 2 <= kPageWidth)) {
    out.append("\"").append(text).append("\"");
    return;
  }
  if (!goes_on) out += "\"\"";
  for (size_t at = 0, end = 0; at < text.size(); at = end) {
    end = wrapped_end(text, at, width);
    out.append(line_end).append("\"").append(text.substr(at, end - at)).append("\"");
  }
}

void tidy_po(std::string& out, size_t begin, const Passage& passage) {
  const size_t front = passage.escapes >> kPoShift;
  const size_t at = begin + passage.before.size() - std::min(front, passage.before.size());
  std::string text = out.substr(at);
  out.resize(at);
  if (passage.escapes & kPoNumbered) text = without_numbers(text, passage.escapes & kPoOrdered);
  const size_t line = out.rfind('\n');
  append_po_string(out, text, columns_of(std::string_view(out).substr(line == std::string::npos ? 0 : line + 1)),
                   passage.escapes);
}

}  // namespace

const Style kPoStyle = {.encode = encode_po, .tidy = tidy_po};

std::string po_charset_advice(std::string_view charset) {
  const std::string name(charset.substr(0, 40));
  return "the catalogue says that its charset is '" + name + "': convert it to UTF-8 (msgconv -t UTF-8 -o NEW OLD)";
}

std::string po_charset_error(std::string_view bytes) {
  const size_t at = bytes.find("charset=");
  if (at == std::string_view::npos) return "";
  const std::string_view value = bytes.substr(at + 8);
  const std::string_view name = value.substr(0, value.find_first_of("\\\" \r\n"));
  const bool says =
      !name.empty() && ascii_lower(name) != "charset" && ascii_lower(name) != "utf-8" && !find_invalid_utf8(name);
  return says ? po_charset_advice(name) : "";
}

Result<Found> find_po(std::string_view bytes, size_t begin, const Options& options) {
  return PoWriter(bytes, begin, options).find();
}

}  // namespace lapilli::documents
