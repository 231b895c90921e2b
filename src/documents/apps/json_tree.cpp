#include "documents/apps/json_tree.hpp"

#include <algorithm>
#include <optional>

#include "documents/apps/entry_comments.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kDeepestJson = 512;

// Without recursion: `open_` are the objects and arrays around the place.
class JsonReader {
 public:
  JsonReader(std::string_view bytes, size_t begin) : at_(begin) { tree_.bytes = bytes; }

  Result<JsonTree> read() {
    skip();
    if (at_ == bytes().size()) return std::move(tree_);
    add({}, false);
    while (!open_.empty() && error_.empty()) member();
    if (error_.empty()) skip();
    if (error_.empty() && at_ < bytes().size()) error_ = "nothing may follow the value";
    if (!error_.empty())
      return fail(ErrorCode::invalid_data, "line %u: %s: this is no JSON, repair it", line(), error_);
    return std::move(tree_);
  }

 private:
  [[nodiscard]] std::string_view bytes() const { return tree_.bytes; }
  [[nodiscard]] char here() const { return at_ < bytes().size() ? bytes()[at_] : '\0'; }
  [[nodiscard]] size_t line() const {
    return 1 + static_cast<size_t>(std::count(
                   bytes().begin(), bytes().begin() + static_cast<ptrdiff_t>(std::min(at_, bytes().size())), '\n'));
  }

  void skip() {
    while (at_ < bytes().size()) {
      if (is_blank(static_cast<unsigned char>(bytes()[at_])))
        ++at_;
      else if (!comment())
        return;
    }
  }

  bool comment() {
    const std::string_view two = bytes().substr(at_, 2);
    if (two != "//" && two != "/*") return false;
    const size_t begin = at_, end = bytes().find(two == "//" ? "\n" : "*/", at_ + 2);
    at_ = end == std::string_view::npos ? bytes().size() : end + 1;
    if (two == "/*" && end != std::string_view::npos) ++at_;
    comments_.comment(bytes().substr(begin, at_ - begin));
    return true;
  }

  // Reads one member or the end of the innermost object or array.
  void member() {
    const bool object = tree_.nodes[open_.back()].type == JsonNode::object;
    skip();
    if (here() == (object ? '}' : ']')) return close();
    if (behind_value_ && !pass(',')) return void(error_ = object ? "a , or } is missing" : "a , or ] is missing");
    skip();
    if (behind_value_ && here() == (object ? '}' : ']')) return close();
    const bool ignored = comments_.take();
    Range key;
    if (object && !read_key(key)) return;
    add(key, ignored);
  }

  bool read_key(Range& key) {
    const auto name = string();
    skip();
    if (name && pass(':')) {
      key = *name;
      skip();
      return true;
    }
    if (error_.empty()) error_ = name ? "a : is missing" : "a name in double quotes is missing";
    return false;
  }

  void close() {
    ++at_;
    tree_.nodes[open_.back()].value.end = at_;
    open_.pop_back();
    behind_value_ = true;
  }

  bool pass(char c) {
    if (here() != c) return false;
    ++at_;
    return true;
  }

  std::optional<Range> string() {
    if (here() != '"') return std::nullopt;
    const size_t begin = ++at_;
    while (at_ < bytes().size() && bytes()[at_] != '"' && bytes()[at_] != '\n') at_ += bytes()[at_] == '\\' ? 2 : 1;
    if (at_ >= bytes().size() || bytes()[at_] == '\n')
      return error_ = "a string is never closed", at_ = begin, std::nullopt;
    return Range{begin, at_++};
  }

  void link(uint32_t node) {
    if (open_.empty()) return;
    JsonNode& parent = tree_.nodes[open_.back()];
    tree_.nodes[node].parent = open_.back();
    if (parent.first_child == JsonNode::kNone)
      parent.first_child = node;
    else
      tree_.nodes[parent.last_child].next = node;
    parent.last_child = node;
  }

  void add(Range key, bool ignored) {
    JsonNode node;
    node.key = key;
    node.ignored = ignored || (!open_.empty() && tree_.nodes[open_.back()].ignored);
    node.value.begin = at_;
    const auto index = static_cast<uint32_t>(tree_.nodes.size());
    behind_value_ = here() != '{' && here() != '[';
    if (!behind_value_) {
      node.type = here() == '{' ? JsonNode::object : JsonNode::array;
      ++at_;
    } else if (const auto text = string()) {
      node.type = JsonNode::string;
      node.value = *text;
    } else {
      scalar();
      node.value.end = at_;
    }
    tree_.nodes.push_back(node);
    link(index);
    if (!behind_value_) open_.push_back(index);
    if (open_.size() > kDeepestJson) error_ = "more than 512 values contain each other";
  }

  // true, null, -1.5e3
  void scalar() {
    const size_t begin = at_;
    const auto belongs = [](char c) {
      return is_ascii_letter(static_cast<unsigned char>(c)) || is_ascii_digit(static_cast<unsigned char>(c)) ||
             c == '-' || c == '+' || c == '.';
    };
    while (at_ < bytes().size() && belongs(bytes()[at_])) ++at_;
    if (at_ == begin && error_.empty()) error_ = "a value is missing";
  }

  JsonTree tree_;
  size_t at_;
  std::vector<uint32_t> open_;
  bool behind_value_ = false;
  EntryComments comments_;
  std::string error_;
};

std::optional<char32_t> hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  char32_t value = 0;
  for (const char c : text.substr(at, 4)) {
    const char low = ascii_lower(c);
    const bool digit = is_ascii_digit(static_cast<unsigned char>(c));
    if (!digit && (low < 'a' || low > 'f')) return std::nullopt;
    value = value * 16 + static_cast<char32_t>(digit ? c - '0' : low - 'a' + 10);
  }
  return value;
}

bool is_surrogate(char32_t c) { return c >= 0xd800 && c < 0xe000; }

}  // namespace

size_t decode_u_escape(std::string_view text, size_t at, std::string& means) {
  const auto first = text.substr(at, 2) == "\\u" ? hex4(text, at + 2) : std::nullopt;
  if (!first) return 0;
  if (!is_surrogate(*first)) return append_character(means, *first), 6;
  const auto second = text.substr(at + 6, 2) == "\\u" ? hex4(text, at + 8) : std::nullopt;
  if (*first >= 0xdc00 || !second || *second < 0xdc00 || *second > 0xdfff) return 0;
  append_character(means, 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00));
  return 12;
}

const JsonNode* JsonTree::member(const JsonNode& object, std::string_view name) const {
  const JsonNode* child = first(object);
  while (child && key(*child) != name) child = next(*child);
  return child;
}

Result<JsonTree> read_json_tree(std::string_view bytes, size_t begin) { return JsonReader(bytes, begin).read(); }

WrittenText json_text(std::string_view bytes, Range string) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  WrittenText text;
  for (size_t at = string.begin; at < string.end;) {
    const size_t escape = std::min(bytes.substr(0, string.end).find('\\', at), string.end);
    text.literal(bytes, {at, escape});
    at = escape;
    if (at >= string.end) break;
    std::string means;
    size_t length = decode_u_escape(bytes.substr(0, string.end), at, means);
    const size_t name = at + 1 < string.end ? kNames.find(bytes[at + 1]) : std::string_view::npos;
    if (length == 0 && name != std::string_view::npos) length = 2, means = kMeanings[name];
    if (length == 0) length = std::min<size_t>(2, string.end - at), means = bytes.substr(at, length);
    text.escaped({at, at + length}, means);
    at += length;
  }
  return text;
}

void append_json_escapes(std::string& out, std::string_view words) {
  for (const char c : words) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= ' ')
      out += c;
    else
      out += ' ';
  }
}

}  // namespace lapilli::documents
