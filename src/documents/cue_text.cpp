// The words of cues as parts, and the sentences that continue from one cue to the next as passages.
#include "documents/cue_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "documents/character_references.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kMostParts = 16;   // cues that share a sentence
constexpr size_t kMostText = 2000;  // bytes of text in them
constexpr size_t kLongestTag = 1000;
constexpr double kLongestPause = 3;  // seconds between cues of one sentence

// ---- the text of a subtitle
// -------------------------------------------------------------------------------------------

// The end of markup at `at`: <i>, </i>, {\an8}; in WebVTT anything in angle brackets.
size_t tag_end(std::string_view line, size_t at, CueMarkup markup) {
  if (markup == CueMarkup::plain) return 0;
  if (markup == CueMarkup::ass) return ass_block_end(line, at);
  const bool vtt = markup == CueMarkup::vtt;
  const char next = at + 1 < line.size() ? line[at + 1] : ' ';
  const bool angle = line[at] == '<' && (vtt || next == '/' || is_ascii_letter(static_cast<unsigned char>(next)));
  const bool brace = !vtt && line[at] == '{' && next == '\\';
  if (!angle && !brace) return 0;
  const size_t length = line.substr(at, kLongestTag).find(angle ? '>' : '}');
  return length == std::string_view::npos ? 0 : at + length + 1;
}

// Skips tags and blanks.
size_t behind_markup(std::string_view line, size_t at, CueMarkup markup) {
  while (at < line.size()) {
    const size_t tag = tag_end(line, at, markup);
    if (tag == 0 && !is_blank(static_cast<unsigned char>(line[at]))) break;
    at = tag == 0 ? at + 1 : tag;
  }
  return at;
}

// Dividers separate the words of a line and stay as they are.
struct Divider {
  enum Kind { line_break, note, speaker } kind = line_break;
  size_t begin = 0, end = 0;  // empty if there is none
};

constexpr std::array<std::string_view, 7> kNotes = {"\u2669", "\u266a",     "\u266b",    "\u266c",
                                                    "\u00b6", "\U0001f3b5", "\U0001f3b6"};
constexpr std::array<std::string_view, 4> kSpeakers = {">>", "&gt;&gt;", "\u226b", "\uff1e\uff1e"};
constexpr std::string_view kDividerBytes = "<\\>&#\xc2\xe2\xef\xf0";  // first bytes of all dividers

size_t length_at(const auto& signs, std::string_view here) {
  const auto sign = std::find_if(signs.begin(), signs.end(), [&](std::string_view s) { return here.starts_with(s); });
  return sign == signs.end() ? 0 : sign->size();
}

// True for the marks of "# I love you #": apart from the words, at an end of the line.
bool is_hash_note(std::string_view line, size_t at, size_t first, CueMarkup markup) {
  const auto apart = [&](size_t i, char tag) {
    return i >= line.size() || line[i] == tag || is_blank(static_cast<unsigned char>(line[i]));
  };
  const bool alone = apart(at + 1, '<') && (at == 0 || apart(at - 1, '>'));
  return alone && (at == first || behind_markup(line, at + 1, markup) == line.size());
}

// `first`: the position of the line's first sign.
Divider divider_at(std::string_view line, size_t at, size_t first, CueMarkup markup) {
  if (const size_t end = break_end(line, at, markup)) return {Divider::line_break, at, end};
  const std::string_view here = line.substr(at);
  if (const size_t length = length_at(kNotes, here)) return {Divider::note, at, at + length};
  if (here[0] == '#' && is_hash_note(line, at, first, markup)) return {Divider::note, at, at + 1};
  const size_t length = length_at(kSpeakers, here);
  if (length == 0) return {};
  const size_t more = here[0] == '>' ? std::min(here.find_first_not_of('>'), here.size()) : length;
  return {Divider::speaker, at, at + more};
}

Divider find_divider(std::string_view line, CueMarkup markup) {
  const size_t first = behind_markup(line, 0, markup);
  for (size_t at = line.find_first_of(kDividerBytes); at < line.size();) {
    const Divider divider = divider_at(line, at, first, markup);
    if (divider.end > 0) return divider;
    at = line.find_first_of(kDividerBytes, std::max(tag_end(line, at, markup), at + 1));
  }
  return {};
}

constexpr std::array<std::string_view, 9> kSpans = {"i", "b", "u", "s", "c", "v", "font", "lang", "ruby"};

// The number of a tag's name; none for tags without a partner.
std::optional<uint32_t> span_key(std::string_view tag) {
  const size_t begin = tag.starts_with("</") ? 2 : 1;
  const size_t end = std::min(tag.find_first_of(" \t.>/", begin), tag.size());
  const std::string name = ascii_lower(tag.substr(begin, end - begin));
  for (uint32_t i = 0; i < kSpans.size(); ++i) {
    if (kSpans[i] == name) return i;
  }
  return std::nullopt;
}

// {\i1} and {\i0} are a pair, and so are those of b, u and s.
void add_block(PartBuilder& builder, std::string_view block, Range source) {
  constexpr std::string_view kSwitches = "ibus";
  const bool switches = block.size() == 5 && block[1] == '\\' && (block[3] == '0' || block[3] == '1');
  const size_t key = switches ? kSwitches.find(block[2]) : std::string_view::npos;
  if (key == std::string_view::npos) return builder.point(source);
  const auto switch_key = static_cast<uint32_t>(kSpans.size() + key);
  if (block[3] == '0')
    builder.close(source, switch_key);
  else
    builder.open(source, switch_key);
}

void add_tag(PartBuilder& builder, std::string_view tag, Range source) {
  if (tag.starts_with("{")) return add_block(builder, tag, source);
  const auto key = span_key(tag);
  if (!key)
    builder.point(source);
  else if (tag.starts_with("</"))
    builder.close(source, *key);
  else
    builder.open(source, *key);
}

class CueReader {
 public:
  CueReader(std::string_view bytes, CueMarkup markup, std::vector<Speech>& out)
      : bytes_(bytes), markup_(markup), out_(out) {}

  void read(const Cue& cue, size_t index) {
    const size_t first = out_.size();
    cue_ = &cue;
    index_ = index;
    behind_break_ = song_ = false;
    new_speaker_ = cue.new_speaker;
    for (size_t i = 0; i < cue.lines.size(); ++i) read_line(i);
    finish();
    if (out_.size() > first) out_.back().last_in_cue = true;
  }

 private:
  void read_line(size_t i) {
    Range rest = cue_->lines[i];
    bool begins = true;
    for (Divider d = find_divider(rest.of(bytes_), markup_); d.end > 0; d = find_divider(rest.of(bytes_), markup_)) {
      read_run({rest.begin, rest.begin + d.begin}, i, begins);
      divide(d.kind);
      rest.begin += d.end;
      begins = false;
    }
    read_run(rest, i, begins);
  }

  void divide(Divider::Kind kind) {
    const bool note = kind == Divider::note;
    song_ |= note;
    finish();
    song_ &= note || kind == Divider::line_break;
    behind_break_ = kind == Divider::line_break;
    new_speaker_ |= kind == Divider::speaker;
  }

  // Reads words without a divider; `begins`: at the beginning of line `i`.
  void read_run(Range line, size_t i, bool begins) {
    const size_t dash = skip_dash(line);
    const bool speaks = dash > line.begin;
    if (speaks || (begins && line.empty())) {
      finish();
    } else if (begins && i > 0 && !builder_.empty()) {
      builder_.line({cue_->lines[i - 1].end, line.begin});
    }
    if (speaks) new_speaker_ = true;
    read_words({dash, line.end});
  }

  // Skips the dash of a new speaker and the tags in front of it; gives the line's beginning if there is none. A
  // sentence may begin with a negative number.
  [[nodiscard]] size_t skip_dash(Range line) const {
    const std::string_view text = line.of(bytes_);
    size_t at = behind_markup(text, 0, markup_);
    if (at == text.size() || !is_dash(next_character(text, at))) return line.begin;
    const bool number = at < text.size() && is_ascii_digit(static_cast<unsigned char>(text[at]));
    return number ? line.begin : line.begin + at;
  }

  // Appends the words that an escape at the beginning means.
  [[nodiscard]] size_t escape_length(std::string_view here, std::string& meaning) const {
    if (markup_ == CueMarkup::vtt) return here[0] == '&' ? decode_reference(here, meaning) : 0;
    if (markup_ != CueMarkup::ass || here[0] != '\\' || here.size() < 2) return 0;
    if (here[1] == 'h') return meaning = "\u00a0", 2;
    return here[1] == '{' || here[1] == '}' ? (meaning = here[1], 2) : 0;
  }

  void read_words(Range line) {
    size_t words = line.begin;
    const std::string_view text = line.of(bytes_);
    for (size_t i = 0; i < text.size();) {
      const size_t tag = tag_end(text, i, markup_);
      std::string meaning;
      const size_t length = tag > 0 ? tag - i : escape_length(text.substr(i), meaning);
      if (length == 0) {
        ++i;
        continue;
      }
      const Range markup{line.begin + i, line.begin + i + length};
      builder_.words({words, markup.begin}, Range{words, markup.begin}.of(bytes_));
      if (tag > 0)
        add_tag(builder_, markup.of(bytes_), markup);
      else
        builder_.words(markup, meaning);
      words = markup.end;
      i = markup.end - line.begin;
    }
    builder_.words({words, line.end}, Range{words, line.end}.of(bytes_));
  }

  void finish() {
    std::vector<Part> part;
    if (builder_.finish(part)) {
      out_.push_back(
          {std::move(part.front()), index_, cue_->time, cue_->verse, new_speaker_, behind_break_, song_, false});
      new_speaker_ = behind_break_ = false;
    }
  }

  std::string_view bytes_;
  CueMarkup markup_;
  std::vector<Speech>& out_;
  const Cue* cue_ = nullptr;
  size_t index_ = 0;
  PartBuilder builder_;
  bool new_speaker_ = false, behind_break_ = false, song_ = false;
};

// ---- sentences
// --------------------------------------------------------------------------------------------------------

bool in_brackets(std::string_view text) {
  return (text.starts_with('[') && text.ends_with(']')) || (text.starts_with('(') && text.ends_with(')'));
}

bool trails_off(std::string_view text) { return text.ends_with("...") || text.ends_with("\u2026"); }

bool begins_small(std::string_view text) {
  const size_t at = std::min(text.find_first_not_of(". \"'"), text.size());
  return text.starts_with("...") || (at < text.size() && text[at] >= 'a' && text[at] <= 'z');
}

// True if `b` is in the next subtitle, or behind a break in the same one.
bool follows(const Speech& a, const Speech& b) {
  if (b.cue == a.cue) return b.behind_break;
  const double pause = b.time.begin - a.time.end;
  return b.cue == a.cue + 1 && a.last_in_cue && pause <= kLongestPause && pause >= -kLongestPause;
}

bool goes_on(const Speech& a, const Speech& b) {
  const std::string &text = a.part.text, &next = b.part.text;
  if (b.new_speaker || a.song || b.song || !follows(a, b)) return false;
  if (in_brackets(text) || in_brackets(next)) return false;
  if (trails_off(text)) return begins_small(next);
  return !ends_sentence(text) && (!b.verse || begins_small(next));
}

}  // namespace

std::vector<Passage> join_sentences(std::vector<Speech> speeches) {
  std::vector<Passage> passages;
  size_t text = 0;
  for (size_t i = 0; i < speeches.size(); ++i) {
    const size_t more = speeches[i].part.text.size() + 1;
    const bool joins = i > 0 && goes_on(speeches[i - 1], speeches[i]) && text + more <= kMostText &&
                       passages.back().parts.size() < kMostParts;
    if (!joins) {
      passages.emplace_back();
      text = 0;
    }
    text += more;
    passages.back().parts.push_back(speeches[i].part);
  }
  return passages;
}

size_t ass_block_end(std::string_view line, size_t at) {
  if (line[at] != '{' || (at > 0 && line[at - 1] == '\\')) return 0;
  const size_t length = line.substr(at, kLongestTag).find('}');
  return length == std::string_view::npos ? 0 : at + length + 1;
}

// Players accept \N in SubRip from ASS. Not in C:\New.
size_t break_end(std::string_view line, size_t at, CueMarkup markup) {
  if (line[at] == '\\') {
    const bool breaks = markup == CueMarkup::srt && line.substr(at, 2) == "\\N" && (at == 0 || line[at - 1] != ':');
    return breaks ? at + 2 : 0;
  }
  if (line[at] != '<') return 0;
  const size_t name = line.substr(at, 2) == "</" ? at + 2 : at + 1, behind = name + 2;
  const bool longer = behind < line.size() && is_ascii_letter(static_cast<unsigned char>(line[behind]));
  return ascii_lower(line.substr(name, 2)) == "br" && !longer ? tag_end(line, at, markup) : 0;
}

std::vector<Passage> passages_of_cues(std::string_view bytes, const std::vector<Cue>& cues, CueMarkup markup) {
  std::vector<Speech> speeches;
  CueReader reader(bytes, markup, speeches);
  for (size_t i = 0; i < cues.size(); ++i) reader.read(cues[i], i);
  return join_sentences(std::move(speeches));
}

Found found_in_cues(std::string_view bytes, const std::vector<Cue>& cues, CueMarkup markup, const Karaoke& karaoke) {
  Found found;
  found.passages = passages_of_cues(bytes, cues, markup);
  if (karaoke.lines == 0) return found;
  const bool one = karaoke.lines == 1;
  found.notes.push_back(std::to_string(karaoke.lines) + (one ? " line" : " lines") + " of karaoke " +
                        (one ? "stays as it is: its" : "stay as they are: their") + " times belong to " +
                        std::string(karaoke.owners));
  return found;
}

}  // namespace lapilli::documents
