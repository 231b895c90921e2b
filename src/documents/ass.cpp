// Advanced SubStation Alpha (.ass, .ssa): the texts of Dialogue lines. Override blocks follow their words; styles,
// comments, drawings and karaoke stay.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/result.hpp"
#include "documents/cue_text.hpp"
#include "documents/kinds.hpp"
#include "documents/lines.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kMostColumns = 64;
constexpr std::string_view kWordJoiner = "\u2060";

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && is_blank(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && is_blank(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// The places of fields in a line of events; Format: gives them.
struct EventColumns {
  size_t start = 1, end = 2, style = 3, name = 4, text = 9;

  static EventColumns read(std::string_view format) {
    EventColumns columns;
    size_t n = 0;
    for (size_t at = 0; at <= format.size() && n < kMostColumns; ++n) {
      const size_t comma = std::min(format.find(',', at), format.size());
      columns.take(ascii_lower(without_spaces(format.substr(at, comma - at))), n);
      at = comma + 1;
    }
    columns.text = n - 1;  // all that is left of the line
    return columns;
  }

 private:
  void take(std::string_view field, size_t n) {
    if (field == "start") start = n;
    if (field == "end") end = n;
    if (field == "style") style = n;
    if (field == "name" || field == "actor") name = n;
  }
};

enum class BlockUse { words, drawing, karaoke };

// \p1 begins a drawing; \k20, \K20, \kf20 and \ko20 time syllables.
BlockUse use_of(std::string_view block) {
  BlockUse use = BlockUse::words;
  for (size_t at = block.find('\\'); at != std::string_view::npos; at = block.find('\\', at + 1)) {
    const std::string_view tag = block.substr(at + 1, 2);
    if (tag.starts_with('k') || tag.starts_with('K')) return BlockUse::karaoke;
    if (tag.size() == 2 && tag[0] == 'p' && tag[1] >= '1' && tag[1] <= '9') use = BlockUse::drawing;
  }
  return use;
}

BlockUse use_of_line(std::string_view text) {
  BlockUse use = BlockUse::words;
  for (size_t at = text.find('{'); at < text.size(); at = text.find('{', at)) {
    const size_t end = ass_block_end(text, at);
    use = end > 0 ? std::max(use, use_of(text.substr(at, end - at))) : use;
    at = std::max(end, at + 1);
  }
  return use;
}

class AssReader {
 public:
  explicit AssReader(std::string_view bytes) : bytes_(bytes) {}

  Found read(size_t begin) {
    LineReader lines(bytes_, begin);
    for (Range line; lines.next(line);) take(line);
    return found_in_cues(bytes_, cues_, CueMarkup::ass, {karaoke_, "syllables"});
  }

 private:
  void take(Range line) {
    const std::string_view text = line.of(bytes_);
    if (text.starts_with('[')) {
      in_events_ = ascii_lower(without_spaces(text)) == "[events]";
    } else if (in_events_ && text.starts_with("Format:")) {
      columns_ = EventColumns::read(text.substr(7));
    } else if (in_events_ && text.starts_with("Dialogue:")) {
      dialogue({line.begin + 9, line.end});
    }
  }

  void dialogue(Range line) {
    std::vector<Range> fields;
    for (size_t n = 0; n < columns_.text; ++n) {
      const size_t comma = bytes_.find(',', line.begin);
      if (comma >= line.end) return;
      fields.push_back({line.begin, comma});
      line.begin = comma + 1;
    }
    const BlockUse use = use_of_line(line.of(bytes_));
    if (use == BlockUse::karaoke) ++karaoke_;
    if (use == BlockUse::words) add_cue(fields, line);
  }

  void add_cue(const std::vector<Range>& fields, Range text) {
    const auto field = [&](size_t n) { return n < fields.size() ? fields[n].of(bytes_) : std::string_view(); };
    const std::string times =
        std::string(without_spaces(field(columns_.start))) + " --> " + std::string(without_spaces(field(columns_.end)));
    Cue cue;
    if (const auto time = read_timing(times, false)) cue.time = *time;
    const std::pair look(field(columns_.style), field(columns_.name));
    cue.new_speaker = !cues_.empty() && look != look_;
    look_ = look;
    add_lines(cue, text);
    cues_.push_back(std::move(cue));
  }

  // \N and \n end lines, also within a block's words.
  void add_lines(Cue& cue, Range text) const {
    size_t begin = text.begin;
    const std::string_view words = text.of(bytes_);
    for (size_t i = 0; i < words.size();) {
      const size_t block = ass_block_end(words, i);
      const bool breaks = words[i] == '\\' && i + 1 < words.size() && (words[i + 1] == 'N' || words[i + 1] == 'n');
      if (breaks) {
        cue.lines.push_back({begin, text.begin + i});
        begin = text.begin + i + 2;
      }
      i = std::max(block, i + (breaks ? 2 : 1));
    }
    cue.lines.push_back({begin, text.end});
  }

  std::string_view bytes_;
  bool in_events_ = false;
  EventColumns columns_;
  std::pair<std::string_view, std::string_view> look_;  // style and speaker of the line before
  std::vector<Cue> cues_;
  size_t karaoke_ = 0;
};

// A backslash that would begin a code gets a sign without width behind it, as FFmpeg writes it.
void encode_ass(std::string& out, std::string_view text, Range range, bool, const Passage&) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const bool hard_space = text.substr(i, 2) == "\u00a0" && i + 1 < range.end;
    if (hard_space)
      out += "\\h", ++i;
    else if (text[i] == '{' || text[i] == '}')
      out += '\\', out += text[i];
    else if (text[i] == '\\')
      out += '\\', out += kWordJoiner;
    else
      out += text[i];
  }
}

}  // namespace

const Style kAssStyle = {.encode = encode_ass, .balanced_lines = true};

Result<Found> find_ass(std::string_view bytes, size_t begin, const Options&) { return AssReader(bytes).read(begin); }

}  // namespace lapilli::documents
