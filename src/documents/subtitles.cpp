// Subtitles of SubRip (.srt) and WebVTT (.vtt).
#include <optional>
#include <utility>

#include "documents/cue_text.hpp"
#include "documents/kinds.hpp"
#include "documents/lines.hpp"

namespace lapilli::documents {

namespace {

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

// SubRip has no escapes: an inserted blank keeps text from being read as markup or times.
void encode_srt(std::string& out, std::string_view text, Range range, bool, const Passage&) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const std::string_view here = text.substr(i);
    out += text[i];
    const char next = here.size() > 1 ? here[1] : ' ';
    const bool tag = text[i] == '<' && (next == '/' || is_ascii_letter(static_cast<unsigned char>(next)));
    const bool breaks = break_end(text, i, CueMarkup::srt) > 0;
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

const Style kSrtStyle = {.encode = encode_srt, .balanced_lines = true};
const Style kVttStyle = {.encode = encode_vtt, .balanced_lines = true};

std::vector<Passage> find_srt_passages(std::string_view bytes, size_t begin) {
  return passages_of_cues(bytes, CueFinder(bytes, begin, false).run(), CueMarkup::srt);
}

std::vector<Passage> find_vtt_passages(std::string_view bytes, size_t begin) {
  return passages_of_cues(bytes, CueFinder(bytes, begin, true).run(), CueMarkup::vtt);
}

}  // namespace lapilli::documents
