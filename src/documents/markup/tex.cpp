// LaTeX: the words of paragraphs, headings, captions and footnotes. Commands among words are marks; mathematics, code,
// the preamble and what is unknown stay.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "documents/lines.hpp"
#include "documents/markup/markup.hpp"
#include "documents/markup/tex_tables.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kNowhere = SIZE_MAX;
constexpr size_t kDeepestFrame = 200;   // braces and options within each other
constexpr size_t kLongestVerb = 2000;   // bytes of \\verb|...|
constexpr size_t kLongestCommand = 64;  // letters of a name
constexpr uint32_t kGroupKey = 1;       // braces of PartBuilder

bool is_tex_letter(char c) { return is_ascii_letter(static_cast<unsigned char>(c)) || c == '@'; }
bool is_tex_space(char c) { return c == ' ' || c == '\t'; }

// Looks for the ends of things. What fails costs from a budget, so that no input takes quadratic time.
class TexScanner {
 public:
  explicit TexScanner(std::string_view bytes) : bytes_(bytes), budget_(8 * bytes.size() + 4096) {}

  // The position of a token from `from` on; kNowhere if there is none.
  size_t next(std::string_view token, size_t from) {
    auto& [searched, found] = cache_[std::string(token)];
    if (searched <= from && from <= found && found > 0) return found;
    if (budget_ == 0) return kNowhere;
    const size_t at = bytes_.find(token, from);
    spend(std::min(at, bytes_.size()) - from);
    if (cache_.size() > kMostTokens)
      cache_.erase(std::string(token));
    else
      cache_[std::string(token)] = {from, at};
    return at;
  }

  // The end of the group at `at`, "{...}" or "[...]"; kNowhere if it has none.
  size_t group_end(size_t at) {
    if (budget_ == 0) return kNowhere;
    const char closes = bytes_[at] == '{' ? '}' : ']';
    size_t depth = 0;
    size_t i = at + 1;
    for (; i < bytes_.size(); ++i) {
      const char c = bytes_[i];
      if (c == '\\')
        ++i;
      else if (c == '%')
        i = std::min(bytes_.find('\n', i), bytes_.size());
      else if (depth == 0 && c == closes)
        return i + 1;
      else if (c == '{')
        ++depth;
      else if (c == '}' && depth-- == 0)
        break;
    }
    spend(std::min(i, bytes_.size()) - at);
    return kNowhere;
  }

 private:
  static constexpr size_t kMostTokens = 1000;
  void spend(size_t n) { budget_ -= std::min(budget_, n); }

  std::string_view bytes_;
  size_t budget_;
  std::map<std::string, std::pair<size_t, size_t>, std::less<>> cache_;
};

class TexReader {
 public:
  TexReader(std::string_view bytes, size_t begin) : bytes_(bytes), scanner_(bytes), at_(begin) {}

  Found read() {
    flows_.push_back(std::make_unique<TextFlow>(found_));
    in_preamble_ = bytes_.find("\\begin{document}") != std::string_view::npos;
    while (at_ < bytes_.size()) step();
    end_run();
    while (!frames_.empty()) pop_unclosed();
    flow().finish();
    tell();
    switches_.apply(found_);
    return std::move(found_);
  }

 private:
  struct Frame {
    enum Type { group, heading, option, footnote } type = group;
    size_t at = 0;
  };

  TextFlow& flow() { return *flows_.back(); }
  PartBuilder& builder() { return flow().builder(); }
  [[nodiscard]] char peek(size_t at) const { return at < bytes_.size() ? bytes_[at] : '\0'; }
  [[nodiscard]] std::string_view here(size_t at, size_t n) const {
    return bytes_.substr(std::min(at, bytes_.size()), n);
  }

  // ---- runs of plain words: from run_ to at_ ----
  void end_run() {
    if (!in_preamble_ && run_ < at_) builder().words({run_, at_}, Range{run_, at_}.of(bytes_));
    run_ = at_;
  }
  // Goes behind something that is no plain word.
  void move_to(size_t end) { run_ = at_ = end; }

  void mark(Range range) {
    if (found_.markup.empty() || found_.markup.back().at <= range.begin)
      found_.markup.push_back({range.begin, number_of(range.of(bytes_))});
  }
  void point(size_t end) {
    mark({at_, end});
    if (!in_preamble_) builder().point({at_, end});
    move_to(end);
  }
  void kept(size_t end, std::string_view text) {
    mark({at_, end});
    builder().kept({at_, end}, text);
    move_to(end);
  }
  void decoded(size_t end, std::string_view text) {
    if (!in_preamble_) builder().words({at_, end}, text);
    move_to(end);
  }
  // Ends the text; the bytes up to `end` stay.
  void boundary(size_t end) {
    mark({at_, end});
    flow().finish();
    move_to(end);
  }

  // ---- one step ----
  void step() {
    const char c = bytes_[at_];
    if (std::string_view("\\{}%$~&#^_`'-\n\r]").find(c) == std::string_view::npos) {
      ++at_;
      return;
    }
    if (c == '\n' || c == '\r') return line_end();
    if (c == ']' && (frames_.empty() || frames_.back().type != Frame::option)) {
      ++at_;
      return;
    }
    if (c == '`' || c == '\'' || c == '-') return ligature(c);
    end_run();
    switch (c) {
      case '\\': return command();
      case '{': return open_group();
      case '}': return close_group();
      case ']': return close_frame();
      case '%': return comment();
      case '$': return dollar();
      case '~': return tie();
      case '&': return boundary(at_ + 1);
      default: return point(at_ + 1);
    }
  }

  void line_end() {
    size_t next = at_;
    size_t lines = 0;
    for (; next < bytes_.size() && is_blank(static_cast<unsigned char>(bytes_[next])); ++next)
      lines += bytes_[next] == '\n' || (bytes_[next] == '\r' && peek(next + 1) != '\n') ? 1 : 0;
    if (lines < 2) {
      at_ = next;
      return;
    }
    end_run();
    found_.markup.push_back({at_, 1});
    if (!in_preamble_) flow().finish();
    move_to(next);
  }

  void ligature(char c) {
    const std::string_view two = here(at_, 2), three = here(at_, 3);
    const auto means = [&](size_t length, std::string_view meaning) {
      end_run();
      decoded(at_ + length, meaning);
    };
    if (three == "---") return means(3, "\u2014");
    if (two == "--") return means(2, "\u2013");
    if (two == "``") return means(2, "\u201c");
    if (two == "''") return means(2, "\u201d");
    if (c == '`') return means(1, "\u2018");
    ++at_;
  }

  // A comment ends its line and what is blank before the next one; the sentence goes on behind it.
  void comment() {
    size_t end = std::min(bytes_.find_first_of("\r\n", at_), bytes_.size());
    switches_.comment(bytes_, {at_, end});
    if (here(end, 2) == "\r\n") ++end;
    if (end < bytes_.size()) ++end;
    while (is_tex_space(peek(end))) ++end;
    mark({at_, end});
    if (!in_preamble_) flow().divide();
    move_to(end);
    if (end < bytes_.size() && (bytes_[end] == '\n' || bytes_[end] == '\r') && !in_preamble_) {
      found_.markup.push_back({at_, 1});
      flow().finish();
    }
  }

  void dollar() {
    if (in_preamble_) return point(at_ + 1);
    const bool display = here(at_, 2) == "$$";
    if (display) {
      const size_t end = scanner_.next("$$", at_ + 2);
      return end == kNowhere ? point(at_ + 2) : boundary(end + 2);
    }
    size_t end = at_ + 1;
    while (end < bytes_.size() && bytes_[end] != '$' && !blank_line_at(end)) end += bytes_[end] == '\\' ? 2 : 1;
    if (peek(end) != '$') {
      note_once(lost_dollar_, "'$' has no partner in its paragraph");
      return point(at_ + 1);
    }
    kept(end + 1, Range{at_ + 1, end}.of(bytes_));
  }

  [[nodiscard]] bool blank_line_at(size_t at) const { return here(at, 2) == "\n\n" || here(at, 3) == "\n\r\n"; }

  // A tie in front of a reference belongs to it.
  void tie() {
    if (peek(at_ + 1) == '\\') {
      const std::string_view name = name_at(at_ + 2);
      const TexUse use = tex_command(name).use;
      if (use == TexUse::citation || use == TexUse::reference) {
        tied_ = true;
        return use_command(name, at_ + 2 + name.size());
      }
    }
    decoded(at_ + 1, "\u00a0");
  }

  // ---- braces ----
  void open_group() {
    if (in_preamble_) {
      const size_t end = scanner_.group_end(at_);
      return move_to(end == kNowhere ? at_ + 1 : end);
    }
    if (peek(at_ + 1) == '}') return decoded(at_ + 2, "");
    push(Frame::group, behind_switches(at_ + 1));
  }

  // "{\bf words}": the command is part of the opening.
  [[nodiscard]] size_t behind_switches(size_t at) const {
    while (peek(at) == '\\') {
      const std::string_view name = name_at(at + 1);
      const TexCommand command = tex_command(name);
      if (command.use != TexUse::point || command.takes_groups) break;
      at += 1 + name.size();
      while (is_tex_space(peek(at))) ++at;
    }
    return at;
  }

  // Opens from at_ to `end`, where the words begin.
  void push(Frame::Type type, size_t end) {
    mark({at_, end});
    if (frames_.size() >= kDeepestFrame) {
      const size_t behind = scanner_.group_end(end - 1);
      return move_to(behind == kNowhere ? end : behind);
    }
    frames_.push_back({type, at_});
    if (type == Frame::group) {
      builder().open({at_, end}, kGroupKey);
    } else if (type == Frame::footnote) {
      flow().divide();
      flows_.push_back(std::make_unique<TextFlow>(found_));
    } else {
      flow().finish();
    }
    move_to(end);
  }

  void close_group() {
    while (!frames_.empty() && frames_.back().type == Frame::option) pop_unclosed();
    if (!frames_.empty()) return close_frame();
    if (!in_preamble_) note_once(lost_brace_, "'}' closes nothing");
    point(at_ + 1);
  }

  void close_frame() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    mark({at_, at_ + 1});
    if (frame.type == Frame::group)
      builder().close({at_, at_ + 1}, kGroupKey);
    else
      flow().finish();
    if (frame.type == Frame::footnote) flows_.pop_back();
    const size_t behind = at_ + 1;
    move_to(behind);
    if (frame.type == Frame::option && peek(behind) == '{') push(Frame::heading, behind + 1);
    if (frame.type == Frame::heading && title_in_preamble_ && no_heading())
      title_in_preamble_ = false, in_preamble_ = true;
  }
  [[nodiscard]] bool no_heading() const {
    return std::none_of(frames_.begin(), frames_.end(), [](const Frame& f) { return f.type != Frame::group; });
  }

  void pop_unclosed() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    note_at(lost_open_, frame.at, "what opens is never closed");
    flow().finish();
    if (frame.type == Frame::footnote) flows_.pop_back();
  }

  // ---- commands ----
  [[nodiscard]] std::string_view name_at(size_t at) const {
    size_t end = at;
    while (end < bytes_.size() && end - at < kLongestCommand && is_tex_letter(bytes_[end])) ++end;
    return Range{at, end}.of(bytes_);
  }

  void command() {
    const std::string_view name = name_at(at_ + 1);
    if (name.empty()) return sign_command();
    size_t end = at_ + 1 + name.size();
    if (name == "begin" || name == "end") return environment(name == "begin", end);
    if (in_preamble_) return preamble_command(name, end);
    if (name == "verb") return verb(end);
    if (name == "item") return item(end);
    if (is_tex_accent(name)) return accent(name, end);
    if (const std::string_view symbol = tex_symbol(name); !symbol.empty()) return decoded(behind_name(end), symbol);
    if (name == "LaTeX" || name == "TeX" || name == "BibTeX") return kept(here(end, 2) == "{}" ? end + 2 : end, name);
    use_command(name, end);
  }

  // TeX skips white space behind a command's name, and empty braces end it.
  [[nodiscard]] size_t behind_name(size_t end) const {
    if (here(end, 2) == "{}") return end + 2;
    while (is_tex_space(peek(end))) ++end;
    return end;
  }

  void preamble_command(std::string_view name, size_t end) {
    if (name == "newtheorem") learn_theorem(end);
    if ((name == "title" || name == "subtitle") && (peek(end) == '{' || peek(end) == '[')) {
      in_preamble_ = false;
      use_command(name, end);
      title_in_preamble_ = !frames_.empty();
      in_preamble_ = frames_.empty();
      return;
    }
    if (name == "def") end = std::min(bytes_.find('{', end), bytes_.size());
    move_to(behind_groups(end));
  }

  // \newtheorem{thm}{Theorem}: its text is text.
  void learn_theorem(size_t end) {
    if (peek(end) == '*') ++end;
    const size_t behind = peek(end) == '{' ? scanner_.group_end(end) : kNowhere;
    if (behind != kNowhere && behind - end < kLongestCommand && theorems_.size() < kLongestCommand)
      theorems_.emplace_back(Range{end + 1, behind - 1}.of(bytes_));
  }

  // \%, \\, \(, \'e
  void sign_command() {
    const char c = peek(at_ + 1);
    if (std::string_view("%&#$_{}").find(c) != std::string_view::npos && c != '\0')
      return decoded(at_ + 2, here(at_ + 1, 1));
    if (in_preamble_) return move_to(std::min(at_ + 2, bytes_.size()));
    if (c == '\\') return line_break();
    if (c == '(') return closed_by("\\)", false);
    if (c == '[') return closed_by("\\]", true);
    if (is_tex_accent(here(at_ + 1, 1))) return accent(here(at_ + 1, 1), at_ + 2);
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') return decoded(at_ + 2, " ");
    if (c == ',') return decoded(at_ + 2, "\u202f");
    if (c == '-' || c == '/' || c == '@') return decoded(at_ + 2, "");
    size_t next = std::min(at_ + 1, bytes_.size());
    if (next < bytes_.size()) next_character(bytes_, next);
    point(next);
  }

  void line_break() {
    size_t end = at_ + 2;
    if (peek(end) == '*') ++end;
    if (peek(end) == '[') {
      const size_t behind = scanner_.group_end(end);
      if (behind != kNowhere) end = behind;
    }
    boundary(end);
  }

  void closed_by(std::string_view token, bool display) {
    const size_t at = scanner_.next(token, at_ + 2);
    if (at == kNowhere) return point(at_ + 2);
    if (display) return boundary(at + 2);
    kept(at + 2, Range{at_ + 2, at}.of(bytes_));
  }

  void accent(std::string_view name, size_t end) {
    size_t at = end;
    while (is_tex_letter(name[0]) && is_tex_space(peek(at))) ++at;
    const bool braces = peek(at) == '{';
    if (braces) ++at;
    const size_t length = here(at, 2) == "\\i" ? 2 : 1;
    const std::string letter = tex_accented(name, here(at, length));
    at += length;
    if (letter.empty() || (braces && peek(at) != '}')) return point(end);
    decoded(braces ? at + 1 : at, letter);
  }

  void verb(size_t end) {
    if (peek(end) == '*') ++end;
    const std::string_view code = here(end, kLongestVerb);
    const size_t length = code.empty() ? std::string_view::npos : code.find(code[0], 1);
    if (length == std::string_view::npos || code.substr(0, length).find_first_of("\r\n") != std::string_view::npos)
      return point(end);
    const size_t close = end + length;
    kept(close + 1, Range{end + 1, close}.of(bytes_));
  }

  void item(size_t end) {
    if (peek(end) != '[') return boundary(end);
    boundary(end);
    push_option(false);
  }

  // "[words]" at at_, which a heading may follow.
  void push_option(bool) {
    if (scanner_.group_end(at_) == kNowhere) return;
    push(Frame::option, at_ + 1);
  }

  // Behind "*", "[...]" and "{...}".
  size_t behind_groups(size_t end, size_t most = SIZE_MAX) {
    if (peek(end) == '*') ++end;
    for (; most > 0 && (peek(end) == '[' || peek(end) == '{'); --most) {
      const size_t behind = scanner_.group_end(end);
      if (behind == kNowhere) break;
      end = behind;
    }
    return end;
  }

  void use_command(std::string_view name, size_t end) {
    const TexCommand command = tex_command(name);
    switch (command.use) {
      case TexUse::pair:
      case TexUse::footnote: return words_in_braces(command, end);
      case TexUse::heading: return heading(command, end);
      case TexUse::reference: return reference(end);
      case TexUse::kept: return kept_command(end);
      case TexUse::ends: return boundary(command.takes_groups ? behind_groups(end) : end);
      case TexUse::unknown: left_.count("\\" + std::string(name)); [[fallthrough]];
      default: point(command.takes_groups ? behind_groups(end) : end); tied_ = false;
    }
  }

  // The beginning of the last argument, whose words are translated; kNowhere if there is none.
  size_t words_begin(TexCommand command, size_t end) {
    if (peek(end) == '*') ++end;
    for (size_t n = 0; peek(end) == '[' || (peek(end) == '{' && n < command.arguments);) {
      n += peek(end) == '{' ? 1 : 0;
      end = scanner_.group_end(end);
      if (end == kNowhere) return end;
    }
    return peek(end) == '{' ? end + 1 : kNowhere;
  }

  void words_in_braces(TexCommand command, size_t end) {
    const size_t words = words_begin(command, end);
    if (words == kNowhere) return point(end);
    push(command.use == TexUse::footnote ? Frame::footnote : Frame::group, words);
  }

  // \section[short]{long}: both have words.
  void heading(TexCommand command, size_t end) {
    if (peek(end) == '*') ++end;
    const size_t option = peek(end) == '[' ? scanner_.group_end(end) : kNowhere;
    if (command.arguments == 0 && option != kNowhere && peek(option) == '{') {
      boundary(end);
      return push_option(true);
    }
    const size_t words = words_begin(command, end);
    if (words == kNowhere) return boundary(end);
    push(Frame::heading, words);
  }

  // The model sees a number, as the reader does.
  void reference(size_t end) {
    const std::string number(1, static_cast<char>('1' + references_++ % 9));
    if (tied_) builder().words({at_, at_}, " ");
    tied_ = false;
    kept(behind_groups(end, 2), number);
  }

  void kept_command(size_t end) {
    const size_t behind = behind_groups(end);
    const size_t open = Range{end, behind}.of(bytes_).rfind('{');
    if (behind == end || open == std::string_view::npos) return point(end);
    kept(behind, Range{end + open + 1, behind - 1}.of(bytes_));
  }

  // ---- environments ----
  void environment(bool begins, size_t end) {
    const size_t behind = peek(end) == '{' ? scanner_.group_end(end) : kNowhere;
    if (behind == kNowhere || behind - end > kLongestCommand) return boundary(end);
    const std::string name(Range{end + 1, behind - 1}.of(bytes_));
    if (begins)
      begin_environment(name, behind);
    else
      boundary(behind);
  }

  void begin_environment(const std::string& name, size_t end) {
    if (name == "document") {
      in_preamble_ = false;
      return boundary(end);
    }
    const bool theorem = std::find(theorems_.begin(), theorems_.end(), name) != theorems_.end();
    const TexEnvironment use = theorem ? TexEnvironment::text : tex_environment(name);
    if (use == TexEnvironment::left || use == TexEnvironment::unknown) {
      const std::string token = "\\end{" + name + "}";
      const size_t close = scanner_.next(token, end);
      if (use == TexEnvironment::unknown) environments_.count(name);
      if (close != kNowhere) end = close + token.size();
      return in_preamble_ ? move_to(end) : boundary(end);
    }
    if (in_preamble_) return move_to(end);
    while (name.starts_with("tab") && is_tex_space(peek(end)) && (peek(end + 1) == '{' || peek(end + 1) == '[')) ++end;
    if (use == TexEnvironment::title || name == "frame") return titled(end);
    boundary(theorem || name == "proof" || name == "theorem" || name == "lemma" ? end : behind_groups(end));
    if (peek(end) == '[' && at_ == end) push_option(false);
  }

  // \begin{block}<1->[options]{Title}
  void titled(size_t end) {
    if (peek(end) == '<') {
      const size_t behind = scanner_.next(">", end);
      if (behind != kNowhere) end = behind + 1;
    }
    while (peek(end) == '[') {
      const size_t behind = scanner_.group_end(end);
      if (behind == kNowhere) break;
      end = behind;
    }
    boundary(end);
    if (peek(end) == '{') push(Frame::heading, end + 1);
  }

  // ---- notes ----
  void note_once(bool& told, std::string_view what) { note_at(told, at_, what); }
  void note_at(bool& told, size_t at, std::string_view what) {
    if (told) return;
    told = true;
    const auto line = 1 + std::count(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(at), '\n');
    found_.notes.push_back("line " + std::to_string(line) + ": " + std::string(what) + "; it stays as it is");
  }
  void tell() {
    left_.tell(found_.notes, "command that is not known", "commands that are not known");
    environments_.tell(found_.notes, "environment that is not known", "environments that are not known");
  }

  std::string_view bytes_;
  TexScanner scanner_;
  size_t at_ = 0, run_ = 0;
  bool in_preamble_ = false, title_in_preamble_ = false, tied_ = false;
  size_t references_ = 0;
  std::vector<Frame> frames_;
  std::vector<std::unique_ptr<TextFlow>> flows_;  // the last one collects
  std::vector<std::string> theorems_;
  bool lost_dollar_ = false, lost_brace_ = false, lost_open_ = false;
  LeftAlone left_, environments_;
  Switches switches_;
  Found found_;
};

constexpr std::pair<std::string_view, std::string_view> kTexSigns[] = {{"\\", "\\textbackslash{}"},
                                                                       {"{", "\\{"},
                                                                       {"}", "\\}"},
                                                                       {"%", "\\%"},
                                                                       {"&", "\\&"},
                                                                       {"#", "\\#"},
                                                                       {"$", "\\$"},
                                                                       {"_", "\\_"},
                                                                       {"~", "\\textasciitilde{}"},
                                                                       {"^", "\\textasciicircum{}"},
                                                                       {"<", "\\textless{}"},
                                                                       {">", "\\textgreater{}"},
                                                                       {"--", "-{}"},
                                                                       {"''", "'{}"},
                                                                       {"`", "\\textquoteleft{}"},
                                                                       {"\u201c", "``"},
                                                                       {"\u201d", "''"},
                                                                       {"\u2018", "`"},
                                                                       {"\u2013", "--"},
                                                                       {"\u2014", "---"},
                                                                       {"\u2026", "\\ldots{}"},
                                                                       {"\u00a0", "~"},
                                                                       {"\u202f", "\\,"}};

void encode_tex(std::string& out, std::string_view text, Range range, bool, const Passage&) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const std::string_view rest = Range{i, range.end}.of(text);
    const auto sign = std::find_if(std::begin(kTexSigns), std::end(kTexSigns),
                                   [&](const auto& s) { return rest.starts_with(s.first); });
    if (sign == std::end(kTexSigns)) {
      out += text[i];
      continue;
    }
    out += sign->second;
    const bool ascii_pair = sign->first == "--" || sign->first == "''";
    i += ascii_pair ? 0 : sign->first.size() - 1;
  }
}

bool ends_in_command(std::string_view out) {
  size_t letters = 0;
  while (letters < out.size() && letters < kLongestCommand && is_tex_letter(out[out.size() - 1 - letters])) ++letters;
  return letters > 0 && letters < out.size() && out[out.size() - 1 - letters] == '\\';
}

// TeX drops the blank behind a command, and takes letters for a part of its name. A tie is no second blank.
void join_tex(std::string& out, std::string_view next, Side) {
  const bool name_goes_on = !next.empty() && (next[0] == ' ' || is_tex_letter(next[0]));
  if (name_goes_on && ends_in_command(out)) out += "{}";
  while (next.starts_with('~') && out.ends_with(' ')) out.pop_back();
}

}  // namespace

const Style kTexStyle = {.encode = encode_tex, .join = join_tex};

Result<Found> find_tex(std::string_view bytes, size_t begin, const Options&) { return TexReader(bytes, begin).read(); }

}  // namespace lapilli::documents
