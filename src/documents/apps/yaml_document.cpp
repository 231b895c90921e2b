// YAML of apps, as Rails has it: block mappings and lists, flow collections, scalars of all kinds. The language that
// all of a file stands under becomes the target's.
#include <algorithm>
#include <optional>
#include <utility>

#include "documents/apps/app_kinds.hpp"
#include "documents/apps/entry_comments.hpp"
#include "documents/apps/messages.hpp"
#include "documents/apps/yaml_scalars.hpp"
#include "documents/plurals.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kDeepestYaml = 512;

// Flags of Passage::escapes.
constexpr uint32_t kYamlPlain = kFirstOwn << 4, kYamlInFlow = kFirstOwn << 5, kYamlSingle = kFirstOwn << 6,
                   kYamlDouble = kFirstOwn << 7;

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_break(char c) { return c == '\n' || c == '\r'; }

// A block mapping or list that is open.
struct YamlLevel {
  size_t column = 0;
  bool sequence = false;
  bool stays = false;        // all in it
  bool entry_stays = false;  // the present entry
  std::string_view key;      // of the present entry
  SeenKeys keys;
  PluralKeys plurals;
};

struct YamlRoot {
  Range key;
  bool quoted = false;
  size_t first_passage = 0;
};

class YamlReader {
 public:
  YamlReader(std::string_view bytes, size_t begin, const Options& options)
      : bytes_(bytes), at_(begin), options_(options), messages_(bytes, found_) {
    rules_.target_language = options.target_language;
  }

  Result<Found> read() {
    while (at_ < bytes_.size() && error_.empty()) line();
    pop_to(0);
    if (!error_.empty()) return fail(ErrorCode::invalid_data, "line %u: %s", messages_.notes.line(error_at_), error_);
    name_language();
    found_.notes = messages_.notes.sentences();
    return std::move(found_);
  }

 private:
  // ---- lines ----
  [[nodiscard]] char peek(size_t ahead = 0) const { return at_ + ahead < bytes_.size() ? bytes_[at_ + ahead] : '\n'; }
  [[nodiscard]] size_t line_end(size_t at) const { return std::min(bytes_.find_first_of("\r\n", at), bytes_.size()); }
  [[nodiscard]] size_t behind_break(size_t at) const {
    return std::min(at + (bytes_.substr(at, 2) == "\r\n" ? 2 : 1), bytes_.size());
  }
  [[nodiscard]] bool ends_at(size_t at) const {
    return at >= bytes_.size() || is_break(bytes_[at]) || is_space(bytes_[at]);
  }
  void skip_spaces() {
    while (at_ < bytes_.size() && is_space(bytes_[at_])) ++at_;
  }
  void wrong(size_t at, const char* what) {
    if (error_.empty()) error_ = what, error_at_ = std::min(at, bytes_.size());
    at_ = bytes_.size();
  }

  void line() {
    line_begin_ = at_;
    while (peek() == ' ' && at_ < bytes_.size()) ++at_;
    const size_t indent = at_ - line_begin_;
    const bool tab = peek() == '\t';
    skip_spaces();
    if (at_ >= bytes_.size()) return;
    if (is_break(peek())) return void(at_ = behind_break(at_));
    if (peek() == '#') return comment();
    if (tab) return wrong(at_, "a tab indents it: put blanks in its place");
    if (indent == 0 && marker()) return;
    item();
    if (error_.empty()) rest_of_line();
  }

  // "---", "...", "%YAML 1.2"
  bool marker() {
    const std::string_view three = bytes_.substr(at_, 3);
    if (peek() == '%' && levels_.empty()) return at_ = line_end(at_), true;
    if ((three != "---" && three != "...") || !ends_at(at_ + 3)) return false;
    pop_to(0);
    at_ += 3;
    ++documents_;
    skip_spaces();
    node(-1);
    rest_of_line();
    return true;
  }

  void comment() {
    const size_t begin = at_;
    at_ = line_end(at_);
    comments_.comment(bytes_.substr(begin, at_ - begin));
  }

  void rest_of_line() {
    if (at_ > 0 && at_ < bytes_.size() && is_break(bytes_[at_ - 1])) return;  // a block scalar took the line
    skip_spaces();
    if (peek() == '#') comment();
    if (at_ < bytes_.size() && !is_break(peek()))
      return wrong(at_, "something stands behind a text: put all of it in quotes");
    at_ = behind_break(at_);
  }

  // ---- mappings and lists ----
  [[nodiscard]] size_t column() const { return at_ - line_begin_; }

  void item() {
    while (peek() == '-' && ends_at(at_ + 1) && error_.empty()) {
      enter(column(), true);
      levels_.back().entry_stays = comments_.take();
      const auto parent = static_cast<long>(column());
      ++at_;
      skip_spaces();
      if (at_ >= bytes_.size() || is_break(peek()) || peek() == '#') return;
      if (peek() != '-' || !ends_at(at_ + 1)) return entry_or_node(parent);
    }
    if (error_.empty()) entry_or_node(levels_.empty() ? -1 : static_cast<long>(levels_.back().column));
  }

  void entry_or_node(long parent) {
    if (peek() == '?' && ends_at(at_ + 1)) return wrong(at_, "keys behind a ? are not read: write 'key: value'");
    const size_t begin = at_;
    bool quoted = false;
    const auto key = read_key(quoted);
    if (!key) return node(parent);
    const size_t behind = std::exchange(at_, begin);
    enter(column(), false);
    if (!error_.empty()) return;
    const auto here = static_cast<long>(column());
    take_key(*key, quoted);
    at_ = behind;
    node(here);
  }

  // The key at this place, and goes behind its colon; none if there is none.
  std::optional<Range> read_key(bool& quoted) {
    skip_properties();
    const char c = peek();
    const size_t begin = at_, end = line_end(at_);
    if (c == '"' || c == '\'') {
      quoted = true;
      const size_t close = quote_end(begin, end);
      const size_t colon = close < end ? without_spaces_before(close + 1, end) : end;
      if (colon >= end || bytes_[colon] != ':' || !ends_at(colon + 1)) return at_ = begin, std::nullopt;
      at_ = colon + 1;
      return Range{begin + 1, close};
    }
    if (std::string_view("[{|>*#").find(c) != std::string_view::npos) return std::nullopt;
    for (size_t at = begin; at < end; ++at) {
      if (bytes_[at] == '#' && at > begin && is_space(bytes_[at - 1])) return std::nullopt;
      if (bytes_[at] != ':' || !ends_at(at + 1)) continue;
      at_ = at + 1;
      return Range{begin, without_spaces(begin, at)};
    }
    return std::nullopt;
  }

  [[nodiscard]] size_t without_spaces_before(size_t at, size_t end) const {
    while (at < end && is_space(bytes_[at])) ++at;
    return at;
  }
  [[nodiscard]] size_t without_spaces(size_t begin, size_t end) const {
    while (end > begin && is_space(bytes_[end - 1])) --end;
    return end;
  }

  // Position of the closing quote; `end` if there is none before it.
  [[nodiscard]] size_t quote_end(size_t begin, size_t end) const {
    const char quote = bytes_[begin];
    for (size_t at = begin + 1; at < end; ++at) {
      if (quote == '"' && bytes_[at] == '\\')
        ++at;
      else if (bytes_[at] == quote && (quote == '"' || bytes_.substr(at + 1, 1) != "'"))
        return at;
      else if (bytes_[at] == quote)
        ++at;
    }
    return end;
  }

  // Anchors and tags: "&name", "!!str".
  void skip_properties() {
    while (peek() == '&' || peek() == '!') {
      while (!ends_at(at_)) ++at_;
      skip_spaces();
    }
  }

  void pop_to(size_t count) {
    for (; levels_.size() > count; levels_.pop_back())
      if (!levels_.back().stays) levels_.back().plurals.tell(options_.target_language, messages_.notes);
  }

  // Leaves what is indented more; a list may stand at the column of its key.
  void enter(size_t at, bool sequence) {
    const auto inner = [&](const YamlLevel& level) {
      return level.column > at || (level.column == at && level.sequence && !sequence);
    };
    while (!levels_.empty() && inner(levels_.back())) pop_to(levels_.size() - 1);
    if (!levels_.empty() && levels_.back().column == at && levels_.back().sequence == sequence) return;
    if (levels_.size() == kDeepestYaml) return wrong(at_, "more than 512 values contain each other");
    YamlLevel level;
    level.column = at;
    level.sequence = sequence;
    level.stays = stays();
    levels_.push_back(std::move(level));
  }

  [[nodiscard]] bool stays() const { return !levels_.empty() && (levels_.back().stays || levels_.back().entry_stays); }

  void take_key(Range range, bool quoted) {
    YamlLevel& level = levels_.back();
    level.key = range.of(bytes_);
    level.entry_stays = comments_.take() || is_formats(level.key);
    level.keys.add(level.key, range.begin, messages_.notes);
    if (!level.entry_stays) level.plurals.add(level.key, range.begin);
    if (levels_.size() == 1) add_root(range, quoted);
  }

  void add_root(Range key, bool quoted) {
    if (documents_ < 2) roots_.push_back({key, quoted, found_.passages.size()});
  }

  // Rails: date.formats, time.formats
  [[nodiscard]] bool is_formats(std::string_view key) const {
    if (key != "formats" || levels_.size() < 2) return false;
    const std::string_view above = levels_[levels_.size() - 2].key;
    return above == "date" || above == "time";
  }

  // ---- values ----
  void node(long parent) {
    skip_spaces();
    skip_properties();
    if (at_ >= bytes_.size()) return;
    switch (peek()) {
      case '\n':
      case '\r':
      case '#': return;
      case '|':
      case '>': return block(parent);
      case '"':
      case '\'': return quoted_scalar(false);
      case '*': return void(at_ = line_end(at_));
      case '[':
      case '{': return flow();
      default: return plain(parent);
    }
  }

  void block(long parent) {
    const YamlScalar scalar = peek() == '|' ? YamlScalar::literal : YamlScalar::folded;
    const size_t begin = at_, header = line_end(at_);
    long indent = -1;
    for (const char c : bytes_.substr(at_, header - at_))
      if (c > '0' && c <= '9' && indent < 0)
        indent = std::max(parent, 0L) + (c - '0');
      else if (c == '#')
        break;
    at_ = behind_break(header);
    const size_t first = at_;
    size_t end = first;
    while (at_ < bytes_.size()) {
      const size_t text = std::min(bytes_.find_first_not_of(' ', at_), bytes_.size()), stop = line_end(at_);
      const auto spaces = static_cast<long>(text - at_);
      const bool blank = text >= stop;
      if (!blank && indent < 0 && spaces > parent) indent = spaces;
      if (!blank && (indent < 0 || spaces < indent)) break;
      if (!blank) end = stop;
      at_ = behind_break(stop);
    }
    if (first < end) add({first, end}, scalar, static_cast<size_t>(std::max(indent, 0L)), 0);
    if (at_ == header) at_ = begin, wrong(begin, "a | or > has no text");
  }

  void quoted_scalar(bool in_flow) {
    const YamlScalar scalar = peek() == '"' ? YamlScalar::double_quoted : YamlScalar::single_quoted;
    const size_t begin = at_, close = quote_end(begin, bytes_.size());
    if (close >= bytes_.size()) return wrong(begin, "a quote is never closed");
    at_ = close + 1;
    if (in_flow && is_flow_key()) return flow_key({begin + 1, close}, true);
    add({begin + 1, close}, scalar, 0, scalar == YamlScalar::double_quoted ? kYamlDouble : kYamlSingle);
  }

  void plain(long parent) {
    const size_t begin = at_;
    size_t end = plain_end(begin);
    at_ = end;
    while (const size_t next = continued(parent, end)) end = at_ = plain_end(next);
    const std::string_view text = bytes_.substr(begin, end - begin);
    if (text.find(": ") != std::string_view::npos || text.find(":\n") != std::string_view::npos)
      return wrong(begin, "a text with ': ' in it has no quotes: put it in quotes");
    if (!is_yaml_value(text)) add_plain({begin, end}, kYamlPlain);
  }

  // The end of the words on this line.
  [[nodiscard]] size_t plain_end(size_t begin) const {
    size_t end = line_end(begin);
    const size_t comment = bytes_.substr(0, end).find(" #", begin);
    return without_spaces(begin, std::min(comment, end));
  }

  // The beginning of the words on the next line, if they continue the text that ends at `end`; 0 if not.
  [[nodiscard]] size_t continued(long parent, size_t end) const {
    const size_t stop = line_end(end);
    if (bytes_.substr(end, stop - end).find('#') != std::string_view::npos) return 0;
    for (size_t at = behind_break(stop); at < bytes_.size();) {
      const size_t text = std::min(bytes_.find_first_not_of(" \t", at), bytes_.size()), next = line_end(at);
      if (text < next) {
        const bool deeper = static_cast<long>(text - at) > parent && bytes_[text] != '#';
        const bool marks = text == at && (bytes_.substr(at, 3) == "---" || bytes_.substr(at, 3) == "...");
        return deeper && !marks ? text : 0;
      }
      if (next >= bytes_.size()) break;
      at = behind_break(next);
    }
    return 0;
  }

  // ---- [a, b], {a: b} ----
  void flow() {
    const size_t begin = at_;
    closing_.clear();
    do {
      skip_in_flow();
      if (at_ >= bytes_.size()) return wrong(begin, "a [ or { is never closed");
      const char c = peek();
      if (c == '[' || c == '{') {
        closing_ += c == '[' ? ']' : '}';
        if (closing_.size() > kDeepestYaml) return wrong(at_, "more than 512 values contain each other");
        ++at_;
      } else if (c == ']' || c == '}') {
        if (closing_.back() != c) return wrong(at_, "brackets do not match");
        closing_.pop_back();
        ++at_;
      } else if (c == ',' || (c == ':' && ends_flow_key(at_ + 1))) {
        ++at_;
      } else {
        flow_scalar(c);
      }
    } while (!closing_.empty() && error_.empty());
  }

  // Where all of the document is in braces, the outermost keys may be languages.
  void flow_key(Range key, bool quoted) {
    if (levels_.empty() && closing_ == "}") add_root(key, quoted);
  }

  void flow_scalar(char c) {
    if (c == '&' || c == '!') return skip_properties();
    if (c == '"' || c == '\'') return quoted_scalar(true);
    const size_t begin = at_;
    while (at_ < bytes_.size() && !ends_in_flow(at_)) ++at_;
    const size_t end = without_blanks(begin, at_);
    if (at_ == begin) ++at_;
    if (is_flow_key()) return flow_key({begin, end}, false);
    if (c == '*' || is_yaml_value(bytes_.substr(begin, end - begin))) return;
    if (begin < end) add_plain({begin, end}, kYamlPlain | kYamlInFlow);
  }

  [[nodiscard]] size_t without_blanks(size_t begin, size_t end) const {
    while (end > begin && is_blank(static_cast<unsigned char>(bytes_[end - 1]))) --end;
    return end;
  }
  [[nodiscard]] bool ends_flow_key(size_t at) const {
    return ends_at(at) || std::string_view(",[]{}\"'").find(bytes_[at]) != std::string_view::npos;
  }
  [[nodiscard]] bool ends_in_flow(size_t at) const {
    const char c = bytes_[at];
    if (std::string_view(",[]{}").find(c) != std::string_view::npos) return true;
    return (c == ':' && ends_flow_key(at + 1)) || (c == '#' && at > 0 && ends_at(at - 1));
  }
  [[nodiscard]] bool is_flow_key() const {
    const size_t next = std::min(bytes_.find_first_not_of(" \t\r\n", at_), bytes_.size());
    return next < bytes_.size() && bytes_[next] == ':';
  }
  void skip_in_flow() {
    while (at_ < bytes_.size() && (is_blank(static_cast<unsigned char>(peek())) || peek() == '#'))
      peek() == '#' ? comment() : void(++at_);
  }

  // ---- texts ----
  void add(Range range, YamlScalar scalar, size_t indent, uint32_t escapes) {
    if (stays()) return;
    rules_.escapes = escapes;
    messages_.add(yaml_text(bytes_, range, scalar, indent), rules_);
  }

  // All of a text without quotes is written anew, for it may need quotes.
  void add_plain(Range range, uint32_t escapes) {
    const size_t first = found_.passages.size();
    add(range, YamlScalar::plain, 0, escapes);
    if (found_.passages.size() == first) return;
    if (found_.passages.size() > first + 1) {
      found_.passages.resize(first);
      return messages_.notes.add(range.begin, "a text of several lines or blocks stays: put it in quotes");
    }
    Passage& passage = found_.passages.back();
    passage.before = Range{range.begin, passage.source().begin}.of(bytes_);
    passage.after = Range{passage.source().end, range.end}.of(bytes_);
    passage.place = range;
  }

  // ---- the language ----
  [[nodiscard]] bool is_source(std::string_view key) const {
    if (plural_categories(key).empty()) return false;
    const std::string& source = options_.source_language;
    return source.empty() || primary(source) == primary(key);
  }
  static std::string primary(std::string_view language) {
    return ascii_lower(language.substr(0, language.find_first_of("-_")));
  }

  // Where languages are the only keys of the document, the source's becomes the target's, and others stay.
  void name_language() {
    const auto known = [&](const YamlRoot& r) { return !plural_categories(r.key.of(bytes_)).empty(); };
    const auto source =
        std::find_if(roots_.begin(), roots_.end(), [&](const YamlRoot& r) { return is_source(r.key.of(bytes_)); });
    if (source == roots_.end() || !std::all_of(roots_.begin(), roots_.end(), known)) return;
    const auto next = source + 1;
    if (next != roots_.end()) found_.passages.resize(next->first_passage);
    found_.passages.erase(found_.passages.begin(),
                          found_.passages.begin() + static_cast<ptrdiff_t>(source->first_passage));
    if (roots_.size() > 1)
      messages_.notes.add(source->key.begin, "of several languages, only the texts of '" +
                                                 std::string(source->key.of(bytes_)) + "' are translated");
    if (options_.target_language.empty()) return;
    const bool word = is_yaml_value(options_.target_language) && !source->quoted;
    found_.edits.push_back({source->key, word ? '"' + options_.target_language + '"' : options_.target_language});
  }

  std::string_view bytes_;
  size_t at_, line_begin_ = 0;
  const Options& options_;
  Found found_;
  Messages messages_;
  MessageRules rules_;
  EntryComments comments_;
  std::vector<YamlLevel> levels_;
  std::vector<YamlRoot> roots_;
  std::string closing_;  // the brackets that are open in a flow collection
  size_t documents_ = 0;
  std::string error_;
  size_t error_at_ = 0;
};

void encode_yaml(std::string& out, std::string_view text, Range range, bool, const Passage& passage) {
  const std::string words = message_words(text, range, passage.escapes);
  if (passage.escapes & kYamlDouble)
    append_yaml_quoted(out, words, '"');
  else if (passage.escapes & kYamlSingle)
    append_yaml_quoted(out, words, '\'');
  else
    out += words;
}

void tidy_yaml(std::string& out, size_t begin, const Passage& passage) {
  if ((passage.escapes & kYamlPlain) == 0) return;
  const std::string words = out.substr(begin);
  if (is_plain_yaml(words, (passage.escapes & kYamlInFlow) != 0)) return;
  out.resize(begin);
  out += '"';
  append_yaml_quoted(out, words, '"');
  out += '"';
}

}  // namespace

const Style kYamlStyle = {.encode = encode_yaml, .tidy = tidy_yaml};

Result<Found> find_yaml(std::string_view bytes, size_t begin, const Options& options) {
  return YamlReader(bytes, begin, options).read();
}

}  // namespace lapilli::documents
