#include "random_apps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

namespace lapilli::documents {

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

const std::vector<std::string> kAppWords = {"the",          "red",   "house,",     "of",   "many",          "words.",
                                            "it's",         "Paris", "42",         "a: b", "\u00e9t\u00e9", "q#x",
                                            "\u65e5\u672c", "(see)", "well-known", "x86"};
const std::vector<std::string> kAppMarks = {"{name}", "{{count}}", "%{n}",      "%1$s",
                                            "%@",     "<strong>",  "</strong>", "<br/>"};
const std::vector<std::string> kNastyWords = {"mot",
                                              "l'eau",
                                              "a: b",
                                              "# x",
                                              "- y",
                                              "\"q\"",
                                              "'s'",
                                              "\\n",
                                              "[",
                                              "]",
                                              "&",
                                              "<",
                                              ">",
                                              "@w",
                                              "?",
                                              "*",
                                              "|",
                                              "%",
                                              "\u00e9t\u00e9",
                                              "\u65e5\u672c\u8a9e",
                                              "=",
                                              ":",
                                              "!",
                                              "no",
                                              "---",
                                              "\\",
                                              "'",
                                              "\u00a0",
                                              "&lt;",
                                              "]]>"};

std::string app_words(Chance& chance) {
  std::string out = chance.of({"Some", "The", "All"});
  for (size_t n = 1 + chance.below(5); n > 0; --n) out += " " + chance.of(kAppWords);
  return out;
}

std::string app_message(Chance& chance) {
  switch (chance.below(9)) {
    case 0: return "{n, plural, one {# " + app_words(chance) + "} other {" + app_words(chance) + " {name}}}";
    case 1:
      return app_words(chance) + " {g, select, male {his " + app_words(chance) + "} other {# " + app_words(chance) +
             "}} end";
    case 2: return app_words(chance) + " <strong>" + app_words(chance) + "</strong> " + app_words(chance);
    case 3: return app_words(chance) + " {{count}} %{n}";
    case 4: return "{name} " + app_words(chance) + " %1$s and %@";
    case 5: return app_words(chance) + "\n" + app_words(chance);
    case 6: return app_words(chance) + "\n\n" + app_words(chance) + "<br/>" + app_words(chance);
    default: return app_words(chance);
  }
}

std::string hex4_of(unsigned value, const char* head) {
  char text[16];
  std::snprintf(text, sizeof text, "%s%04x", head, value);
  return text;
}

// Some characters beyond ASCII as escapes; all of them lie below U+10000.
std::string with_u_escapes(const std::string& text, const char* head, Chance& chance) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_character(text, at);
    if (c >= 0x80 && (!head || chance.one_in(2)))
      out += hex4_of(static_cast<unsigned>(c), head ? head : "\\u");
    else
      out += text.substr(begin, at - begin);
  }
  return out;
}

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto pair = std::find_if(pairs.begin(), pairs.end(),
                                   [&](const auto& p) { return text.compare(at, p.first.size(), p.first) == 0; });
    out += pair == pairs.end() ? text.substr(at, 1) : pair->second;
    at += pair == pairs.end() ? 1 : pair->first.size();
  }
  return out;
}

std::string in_c_quotes(const std::string& text, const char* head, Chance& chance) {
  return "\"" + with_u_escapes(replaced(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}), head, chance) + "\"";
}

// ---- JSON ----

void random_object(AppFile& file, const std::string& path, size_t depth, Chance& chance) {
  file.bytes += "{";
  for (size_t i = 0, n = 1 + chance.below(4); i < n; ++i) {
    const std::string key = "k" + std::to_string(i), blank = chance.of({"", " ", "\n  ", "\r\n\t"});
    file.bytes += (i > 0 ? "," : "") + blank + "\"" + key + "\":" + blank;
    const size_t what = chance.below(8);
    if (what == 0)
      file.bytes += chance.of({"12", "true", "null", "-1.5e3", "\"\"", "[]", "\"%d/%m\""});
    else if (what == 1 && depth < 3)
      random_object(file, path + key + ".", depth + 1, chance);
    else
      file.entries.emplace_back(path + key, app_message(chance)),
          file.bytes += in_c_quotes(file.entries.back().second, "\\u", chance);
  }
  file.bytes += chance.of({"}", "\n}", " }"});
}

void read_object(const nlohmann::ordered_json& node, const std::string& path, Entries& out) {
  for (const auto& [key, value] : node.items()) {
    if (value.is_object())
      read_object(value, path + key + ".", out);
    else if (value.is_string() && value != "" && value != "%d/%m")
      out.emplace_back(path + key, value.get<std::string>());
  }
}

// ---- .xcstrings ----

AppFile random_xcstrings(Chance& chance) {
  AppFile file;
  nlohmann::ordered_json all = {{"sourceLanguage", "en"}, {"strings", nlohmann::ordered_json::object()}};
  for (size_t i = 0, n = 1 + chance.below(4); i < n; ++i) {
    const std::string text = app_message(chance) + " x" + std::to_string(i);
    auto& entry = all["strings"][chance.one_in(2) ? text : "key" + std::to_string(i)] =
        nlohmann::ordered_json::object();
    const std::string key = std::prev(all["strings"].end()).key();
    if (key != text || chance.one_in(2))
      entry["localizations"]["en"]["stringUnit"] = {{"state", "translated"}, {"value", text}};
    if (chance.one_in(3)) entry["comment"] = "c";
    file.entries.emplace_back(key, text);
  }
  file.bytes = all.dump(chance.one_in(3) ? -1 : 2);
  return file;
}

Entries read_xcstrings(const std::string& bytes) {
  Entries out;
  const auto all = nlohmann::ordered_json::parse(bytes);
  for (const auto& [key, entry] : all["strings"].items()) {
    const auto unit = entry.value("/localizations/fr/stringUnit/value"_json_pointer, std::string());
    out.emplace_back(key, unit);
  }
  return out;
}

// ---- YAML ----

bool is_safe_plain(const std::string& text) {
  return text.find_first_of("\n#:\"'\\&*|%@`{}[],<>!") == std::string::npos;
}

std::string yaml_scalar(const std::string& text, const std::string& indent, Chance& chance) {
  const size_t style = chance.below(4);
  if (style == 0 && is_safe_plain(text)) return replaced(text, {{" many", "\n" + indent + "  many"}});
  if (style == 1 && text.find('\n') == std::string::npos) return "'" + replaced(text, {{"'", "''"}}) + "'";
  if (style == 2)
    return "|-\n" + indent + "    " +
           replaced(text, {{"\n\n", "\n\n" + indent + "    "}, {"\n", "\n" + indent + "    "}});
  return in_c_quotes(text, "\\u", chance);
}

AppFile random_yaml(Chance& chance) {
  AppFile file;
  const std::string end = "\n";
  file.bytes = chance.of({"", "# a comment\n", "---\n"});
  for (size_t i = 0, n = 1 + chance.below(4); i < n; ++i) {
    const std::string key = "k" + std::to_string(i);
    file.bytes += chance.of({key, "\"" + key + "\""}) + ":";
    const bool list = chance.one_in(4), map = !list && chance.one_in(3);
    if (list || map) file.bytes += end;
    for (size_t j = 0, m = list || map ? 1 + chance.below(3) : 1; j < m; ++j) {
      if (list) file.bytes += "- ";
      if (map) file.bytes += "  x" + std::to_string(j) + ": ";
      if (!list && !map) file.bytes += " ";
      file.entries.emplace_back(key +
                                    (map    ? ".x"
                                     : list ? ".-"
                                            : "") +
                                    (list || map ? std::to_string(j) : ""),
                                app_message(chance));
      file.bytes += yaml_scalar(file.entries.back().second, list || map ? "  " : "", chance) + end;
    }
    if (chance.one_in(4)) file.bytes += chance.of({"\n", "# more: words\n", "n" + key + ": 12\n"});
  }
  return file;
}

std::string from_c_quotes(const std::string& text) {
  // A string of JSON has the escapes that these tests write; .strings has \U.
  return nlohmann::json::parse("\"" + replaced(text, {{"\\\\", "\\\\"}, {"\\U", "\\u"}, {"\\'", "'"}, {"\n", " "}}) +
                               "\"")
      .get<std::string>();
}

// Reads the YAML that random_yaml() writes, and words in quotes where there were none.
class LittleYaml {
 public:
  explicit LittleYaml(const std::string& bytes) : in_(bytes) { more_ = !!std::getline(in_, line_); }

  Entries read() {
    static const std::regex entry("^(  )?(?:(- )(.*)|\"?([kx]\\d+)\"?:(?: (.*))?)$");
    std::smatch parts;
    while (more_) {
      const std::string line = line_;
      more_ = !!std::getline(in_, line_);
      if (line.empty() || line[0] == '#' || line == "---" || line[0] == 'n') continue;
      if (!std::regex_match(line, parts, entry)) return {{"not read", line}};
      if (parts[2].matched) {
        out_.emplace_back(key_ + ".-" + std::to_string(count_++), value(line.substr(2), 0));
      } else if (parts[1].matched) {
        out_.emplace_back(key_ + "." + parts[4].str(), value(parts[5], 2));
      } else {
        key_ = parts[4];
        count_ = 0;
        if (parts[5].matched) out_.emplace_back(key_, value(parts[5], 0));
      }
    }
    return out_;
  }

 private:
  std::string value(std::string text, size_t indent) {
    if (text == "|-") return block();
    static const std::regex nested("  x\\d+:.*");
    while (more_ && text[0] != '"' && text[0] != '\'' && line_.starts_with(std::string(indent + 2, ' ')) &&
           !std::regex_match(line_, nested))
      take(text);
    static const std::regex closed("\"(\\\\.|[^\"\\\\])*\"");
    while (more_ && text[0] == '"' && !std::regex_match(text, closed)) take(text);
    if (text[0] == '"') return from_c_quotes(text.substr(1, text.size() - 2));
    if (text[0] == '\'') return replaced(text.substr(1, text.size() - 2), {{"''", "'"}});
    return text;
  }
  void take(std::string& text) {
    text += " " + line_.substr(line_.find_first_not_of(' '));
    more_ = !!std::getline(in_, line_);
  }
  std::string block() {
    std::string text;
    for (; more_ && (line_.starts_with("    ") || line_.empty()); more_ = !!std::getline(in_, line_))
      text += (text.empty() ? "" : "\n") +
              line_.substr(std::min(line_.size(), std::max<size_t>(line_.find_first_not_of(' '), 4)));
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  std::istringstream in_;
  std::string line_, key_;
  bool more_ = false;
  size_t count_ = 0;
  Entries out_;
};

// ---- .properties ----

AppFile random_properties(Chance& chance) {
  AppFile file;
  const bool ascii = chance.one_in(2);
  for (size_t i = 0, n = 1 + chance.below(5); i < n; ++i) {
    const std::string key = "k" + std::to_string(i), text = app_message(chance);
    file.entries.emplace_back(key, text);
    std::string value =
        replaced(text, {{"\\", "\\\\"}, {"\n", "\\n"}, {" many", chance.one_in(2) ? " \\\n    many" : " many"}});
    value = ascii ? with_u_escapes(value, nullptr, chance) : with_u_escapes(value, "\\u", chance);
    file.bytes += chance.of({"", "# c\n", "! it's\n", "\n", "  "}) + key + chance.of({"=", " = ", ": ", " "}) + value +
                  chance.of({"\n", "\r\n"});
  }
  return file;
}

// A line whose end is escaped goes on behind the next one's blanks.
std::string without_continuations(const std::string& bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] == '\r') continue;
    if (bytes[at] == '\\' && bytes.compare(at, 2, "\\\n") == 0) {
      at = bytes.find_first_not_of(' ', at + 2) - 1;
    } else {
      out += bytes[at];
      if (bytes[at] == '\\') out += bytes[++at];
    }
  }
  return out;
}

Entries read_properties(const std::string& bytes) {
  Entries out;
  std::istringstream in(without_continuations(bytes));
  static const std::regex entry(" *(k\\d+)(?: *[=:] *| +)(.*)");
  std::smatch parts;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line[0] == '!') continue;
    if (!std::regex_match(line, parts, entry)) return {{"not read", line}};
    out.emplace_back(parts[1], from_c_quotes(replaced(parts[2], {{"\\\\", "\\\\"}, {"\"", "\\\""}, {"\\n", "\\n"}})));
  }
  return out;
}

// ---- .strings ----

AppFile random_strings(Chance& chance) {
  AppFile file;
  for (size_t i = 0, n = 1 + chance.below(5); i < n; ++i) {
    file.entries.emplace_back("k" + std::to_string(i), app_message(chance));
    file.bytes += chance.of({"", "/* \"c\" = */\n", "// it's\n"}) + "\"k" + std::to_string(i) + "\"" +
                  chance.of({" = ", "="}) + in_c_quotes(file.entries.back().second, "\\U", chance) +
                  chance.of({";\n", " ;\r\n"});
  }
  return file;
}

Entries read_strings(std::string bytes) {
  Entries out;
  static const std::regex entry(
      "\\s*(?:/\\* \"c\" = \\*/\\s*|// it's\\s*)?\"(k\\d+)\" ?= ?\"((?:\\\\.|[^\"\\\\])*)\" ?;\\s*");
  std::smatch parts;
  for (; std::regex_search(bytes, parts, entry, std::regex_constants::match_continuous); bytes = parts.suffix())
    out.emplace_back(parts[1], from_c_quotes(parts[2]));
  if (!bytes.empty()) return {{"not read", bytes}};
  return out;
}

// ---- XML ----

std::string in_xml(const std::string& text, bool android) {
  std::vector<std::pair<std::string, std::string>> pairs = {{"&", "&amp;"}};
  if (android) pairs.insert(pairs.end(), {{"'", "\\'"}, {"\"", "\\\""}, {"\\", "\\\\"}, {"\n", "\\n"}});
  return replaced(text, pairs);
}

AppFile random_xml(bool android, Chance& chance) {
  AppFile file;
  file.bytes = android ? "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<resources>\n"
                       : "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\n";
  for (size_t i = 0, n = 1 + chance.below(5); i < n; ++i) {
    const std::string key = "k" + std::to_string(i);
    file.entries.emplace_back(key, app_message(chance));
    const std::string text = in_xml(file.entries.back().second, android);
    file.bytes += chance.of({"", "  ", "<!-- it's -->\n"});
    file.bytes += android ? "<string name=\"" + key + "\">" + text + "</string>\n"
                          : "<key>" + key + "</key><dict><key>NSStringLocalizedFormatKey</key><string>" + text +
                                "</string></dict>\n";
  }
  file.bytes += android ? "</resources>\n" : "</dict></plist>\n";
  return file;
}

Entries read_xml(std::string bytes, bool android) {
  Entries out;
  static const std::regex app("\\s*(?:<!-- it's -->\\s*)?<string name=\"(k\\d+)\">([^]*?)</string>\\s*"),
      plist(
          "\\s*(?:<!-- it's "
          "-->\\s*)?<key>(k\\d+)</key><dict><key>NSStringLocalizedFormatKey</key><string>([^]*?)</string></dict>\\s*");
  static const std::regex bare_quote("(^|[^\\\\])(\\\\\\\\)*['\"]");
  static const std::vector<std::pair<std::string, std::string>> references = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}};
  const size_t begin = bytes.find(android ? "<resources>" : "<dict>") + (android ? 11 : 6);
  bytes = bytes.substr(begin);
  std::smatch parts;
  for (; std::regex_search(bytes, parts, android ? app : plist, std::regex_constants::match_continuous);
       bytes = parts.suffix()) {
    const std::string text = parts[2];
    if (android && std::regex_search(text, bare_quote)) return {{"not escaped", text}};
    out.emplace_back(parts[1], replaced(text, references));
  }
  if (bytes != (android ? "</resources>\n" : "</dict></plist>\n")) return {{"not read", bytes}};
  return out;
}

}  // namespace

AppFile random_app_file(Kind kind, Chance& chance) {
  AppFile file;
  switch (kind) {
    case Kind::json: random_object(file, "", 0, chance); return file;
    case Kind::xcstrings: return random_xcstrings(chance);
    case Kind::yaml: return random_yaml(chance);
    case Kind::properties: return random_properties(chance);
    case Kind::strings: return random_strings(chance);
    default: return random_xml(kind == Kind::android, chance);
  }
}

std::vector<std::pair<std::string, std::string>> read_app_file(Kind kind, const std::string& bytes) {
  Entries entries;
  switch (kind) {
    case Kind::json: read_object(nlohmann::ordered_json::parse(bytes), "", entries); return entries;
    case Kind::xcstrings: return read_xcstrings(bytes);
    case Kind::yaml: return LittleYaml(bytes).read();
    case Kind::properties: return read_properties(bytes);
    case Kind::strings: return read_strings(bytes);
    default: return read_xml(bytes, kind == Kind::android);
  }
}

std::vector<std::string> app_marks(const std::string& text) {
  static const std::regex mark(
      "\\{n, plural, one \\{|other \\{|\\{g, select, male "
      "\\{|\\{name\\}|\\{\\{count\\}\\}|%\\{n\\}|%1\\$s|%@|</?strong>|<br/>");
  std::vector<std::string> marks;
  for (std::sregex_iterator at(text.begin(), text.end(), mark), end; at != end; ++at) marks.push_back(at->str());
  std::sort(marks.begin(), marks.end());
  return marks;
}

Translation app_translation(const Segment& segment, Chance& chance) {
  Translation t;
  std::vector<std::string> words;
  for (size_t n = 1 + chance.below(6); n > 0; --n)
    words.push_back(chance.one_in(3) ? chance.of(kNastyWords) : "mot" + std::to_string(chance.below(50)));
  for (const Mark& mark : segment.marks) {
    if (!mark.kept || chance.one_in(4)) continue;
    const std::string kept = segment.text.substr(mark.begin, mark.end - mark.begin);
    words.insert(words.begin() + static_cast<ptrdiff_t>(chance.below(words.size() + 1)),
                 (chance.one_in(4) ? "l'" : "") + kept);
  }
  for (const std::string& word : words) t.text += (t.text.empty() ? "" : " ") + word;
  for (size_t n = chance.below(4); n > 0; --n) {
    const size_t s = chance.below(segment.text.size()), d = chance.below(t.text.size());
    t.links.push_back({s, std::min(segment.text.find(' ', s), segment.text.size()), d,
                       std::min(t.text.find(' ', d), t.text.size()), 1});
  }
  return t;
}

}  // namespace lapilli::documents
