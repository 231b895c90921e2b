// Subtitles of SubRip (.srt) and WebVTT (.vtt). The words of one speaker in one subtitle are a part; parts of a
// sentence that continues in the next subtitle form one passage.
#include <array>
#include <optional>
#include <utility>

#include "documents/character_references.hpp"
#include "documents/kinds.hpp"
#include "documents/lines.hpp"
#include "documents/subtitle_times.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kMostParts = 16;   // subtitles that share a sentence
constexpr size_t kMostText = 2000;  // bytes of text in them
constexpr size_t kLongestTag = 1000;
constexpr double kLongestPause = 3;  // seconds between subtitles of one sentence

struct Cue {
  Timing time;
  std::vector<Range> lines;
};

// A part with the facts that decide if its sentence continues.
struct Speech {
  Part part;
  size_t cue = 0;
  Timing time;
  bool new_speaker = false;
  bool behind_break = false;  // <br> precedes it in the same subtitle
  bool song = false;          // beside a musical note
  bool last_in_cue = false;
};

std::vector<Range> lines_of(std::string_view bytes, size_t begin) {
  std::vector<Range> lines;
  LineReader reader(bytes, begin);
  for (Range line; reader.next(line);) lines.push_back(line);
  return lines;
}

// A subtitle's text ends at an empty line. Text that follows and is no subtitle belongs to the previous one in .srt,
// and is a comment or a style in .vtt.
class CueFinder {
 public:
  CueFinder(std::string_view bytes, size_t begin, bool vtt)
      : bytes_(bytes), vtt_(vtt), lines_(lines_of(bytes, begin)) {}

  std::vector<Cue> run() {
    for (size_t i = 0; i < lines_.size(); ++i) take(i);
    return std::move(cues_);
  }

 private:
  void take(size_t i) {
    const std::string_view line = text(i);
    if (const auto time = timing(i))
      begin_cue(*time);
    else if (vtt_ ? line.empty() : is_blank_line(line))
      empty_line(i);
    else if (is_number(i))
      in_header_ = true;
    else if (!vtt_ && in_header_ && resembles_timing(line))
      begin_cue({});
    else
      text_line(i);
  }

  [[nodiscard]] std::string_view text(size_t i) const { return lines_[i].of(bytes_); }
  [[nodiscard]] std::optional<Timing> timing(size_t i) const {
    return i < lines_.size() ? read_timing(text(i), vtt_) : std::nullopt;
  }
  // At the beginning of a block a number is no text, whatever follows.
  [[nodiscard]] bool is_number(size_t i) const {
    return !vtt_ && is_cue_number(text(i)) && (in_header_ || timing(i + 1).has_value());
  }

  void begin_cue(Timing time) {
    cues_.push_back({time, {}});
    in_text_ = true;
    in_header_ = false;
  }

  void empty_line(size_t i) {
    in_text_ = in_text_ && !vtt_;
    in_header_ = true;
    if (in_text_ && !cues_.back().lines.empty()) cues_.back().lines.push_back({lines_[i].begin, lines_[i].begin});
  }

  void text_line(size_t i) {
    in_header_ = false;
    if (in_text_ && text(i).find("-->") == std::string_view::npos) cues_.back().lines.push_back(lines_[i]);
  }

  std::string_view bytes_;
  bool vtt_;
  std::vector<Range> lines_;
  std::vector<Cue> cues_;
  bool in_text_ = false;
  bool in_header_ = true;  // only a number, if anything, follows the last empty line
};

// ---- the text of a subtitle
// -------------------------------------------------------------------------------------------

// The end of markup at `at`: <i>, </i>, {\an8}; in WebVTT anything in angle brackets.
size_t tag_end(std::string_view line, size_t at, bool vtt) {
  const char next = at + 1 < line.size() ? line[at + 1] : ' ';
  const bool angle = line[at] == '<' && (vtt || next == '/' || is_ascii_letter(static_cast<unsigned char>(next)));
  const bool brace = !vtt && line[at] == '{' && next == '\\';
  if (!angle && !brace) return 0;
  const size_t length = line.substr(at, kLongestTag).find(angle ? '>' : '}');
  return length == std::string_view::npos ? 0 : at + length + 1;
}

// The end of an explicit line break at `at`: <br>, and \N in SubRip, where players accept it from ASS. Not in C:\New.
size_t break_end(std::string_view line, size_t at, bool vtt) {
  if (line[at] == '\\') return !vtt && line.substr(at, 2) == "\\N" && (at == 0 || line[at - 1] != ':') ? at + 2 : 0;
  if (line[at] != '<') return 0;
  const size_t name = line.substr(at, 2) == "</" ? at + 2 : at + 1, behind = name + 2;
  const bool longer = behind < line.size() && is_ascii_letter(static_cast<unsigned char>(line[behind]));
  return ascii_lower(line.substr(name, 2)) == "br" && !longer ? tag_end(line, at, vtt) : 0;
}

// Skips tags and blanks.
size_t behind_markup(std::string_view line, size_t at, bool vtt) {
  while (at < line.size()) {
    const size_t tag = tag_end(line, at, vtt);
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
bool is_hash_note(std::string_view line, size_t at, size_t first, bool vtt) {
  const auto apart = [&](size_t i, char tag) {
    return i >= line.size() || line[i] == tag || is_blank(static_cast<unsigned char>(line[i]));
  };
  const bool alone = apart(at + 1, '<') && (at == 0 || apart(at - 1, '>'));
  return alone && (at == first || behind_markup(line, at + 1, vtt) == line.size());
}

// `first`: the position of the line's first sign.
Divider divider_at(std::string_view line, size_t at, size_t first, bool vtt) {
  if (const size_t end = break_end(line, at, vtt)) return {Divider::line_break, at, end};
  const std::string_view here = line.substr(at);
  if (const size_t length = length_at(kNotes, here)) return {Divider::note, at, at + length};
  if (here[0] == '#' && is_hash_note(line, at, first, vtt)) return {Divider::note, at, at + 1};
  const size_t length = length_at(kSpeakers, here);
  if (length == 0) return {};
  const size_t more = here[0] == '>' ? std::min(here.find_first_not_of('>'), here.size()) : length;
  return {Divider::speaker, at, at + more};
}

Divider find_divider(std::string_view line, bool vtt) {
  const size_t first = behind_markup(line, 0, vtt);
  for (size_t at = line.find_first_of(kDividerBytes); at < line.size();) {
    const Divider divider = divider_at(line, at, first, vtt);
    if (divider.end > 0) return divider;
    at = line.find_first_of(kDividerBytes, std::max(tag_end(line, at, vtt), at + 1));
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

void add_tag(PartBuilder& builder, std::string_view tag, Range source) {
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
  CueReader(std::string_view bytes, bool vtt, std::vector<Speech>& out) : bytes_(bytes), vtt_(vtt), out_(out) {}

  void read(const Cue& cue, size_t index) {
    const size_t first = out_.size();
    cue_ = &cue;
    index_ = index;
    new_speaker_ = behind_break_ = song_ = false;
    for (size_t i = 0; i < cue.lines.size(); ++i) read_line(i);
    finish();
    if (out_.size() > first) out_.back().last_in_cue = true;
  }

 private:
  void read_line(size_t i) {
    Range rest = cue_->lines[i];
    bool begins = true;
    for (Divider d = find_divider(rest.of(bytes_), vtt_); d.end > 0; d = find_divider(rest.of(bytes_), vtt_)) {
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
    size_t at = behind_markup(text, 0, vtt_);
    if (at == text.size() || !is_dash(next_character(text, at))) return line.begin;
    const bool number = at < text.size() && is_ascii_digit(static_cast<unsigned char>(text[at]));
    return number ? line.begin : line.begin + at;
  }

  void read_words(Range line) {
    size_t words = line.begin;
    const std::string_view text = line.of(bytes_);
    for (size_t i = 0; i < text.size();) {
      Range markup{line.begin + i, line.begin + i};
      std::string reference;
      if (const size_t end = tag_end(text, i, vtt_)) markup.end = line.begin + end;
      if (vtt_ && text[i] == '&') markup.end += decode_reference(text.substr(i), reference);
      if (markup.empty()) {
        ++i;
        continue;
      }
      builder_.words({words, markup.begin}, Range{words, markup.begin}.of(bytes_));
      if (text[i] == '&')
        builder_.words(markup, reference);
      else
        add_tag(builder_, markup.of(bytes_), markup);
      words = markup.end;
      i = markup.end - line.begin;
    }
    builder_.words({words, line.end}, Range{words, line.end}.of(bytes_));
  }

  void finish() {
    std::vector<Part> part;
    if (builder_.finish(part)) {
      out_.push_back({std::move(part.front()), index_, cue_->time, new_speaker_, behind_break_, song_, false});
      new_speaker_ = behind_break_ = false;
    }
  }

  std::string_view bytes_;
  bool vtt_;
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
  return trails_off(text) ? begins_small(next) : !ends_sentence(text);
}

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

std::vector<Passage> find_subtitle_passages(std::string_view bytes, size_t begin, bool vtt) {
  std::vector<Speech> speeches;
  CueReader reader(bytes, vtt, speeches);
  const std::vector<Cue> cues = CueFinder(bytes, begin, vtt).run();
  for (size_t i = 0; i < cues.size(); ++i) reader.read(cues[i], i);
  return join_sentences(std::move(speeches));
}

// SubRip has no escapes: an inserted blank keeps text from being read as markup or times.
void encode_srt(std::string& out, std::string_view text, Range range, bool, const Passage&) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const std::string_view here = text.substr(i);
    out += text[i];
    const char next = here.size() > 1 ? here[1] : ' ';
    const bool tag = text[i] == '<' && (next == '/' || is_ascii_letter(static_cast<unsigned char>(next)));
    const bool breaks = break_end(text, i, false) > 0;
    if (tag || breaks || here.starts_with("{\\") || here.starts_with("->")) out += ' ';
  }
}

void encode_vtt(std::string& out, std::string_view text, Range range, bool, const Passage&) {
  for (const char c : range.of(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
}

}  // namespace

const Style kSrtStyle = {encode_srt, true};
const Style kVttStyle = {encode_vtt, true};

std::vector<Passage> find_srt_passages(std::string_view bytes, size_t begin) {
  return find_subtitle_passages(bytes, begin, false);
}

std::vector<Passage> find_vtt_passages(std::string_view bytes, size_t begin) {
  return find_subtitle_passages(bytes, begin, true);
}

}  // namespace lapilli::documents
