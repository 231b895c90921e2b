// Methods of texts, dicts and lists, and the functions of the environment.
#include <algorithm>
#include <span>

#include "jinja/interpreter.hpp"
#include "jinja/python_text.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli::jinja {

namespace {

using Method = Result<Value> (*)(Interpreter& in, const Value& self, const Arguments& a);

// ---- arguments ----------------------------------------------------------------------------------------------------

Result<std::optional<std::string>> text_or_none(const Value* v) {
  if (!v || v->is(Kind::none)) return std::optional<std::string>();
  LAPILLI_CHECK(require_defined(*v));
  if (!v->is(Kind::text)) return fail(ErrorCode::invalid_data, "a %s stands where a text belongs", type_name(*v));
  return std::optional<std::string>(*v->text);
}

Result<std::string> text_of_argument(const Value* v) {
  LAPILLI_TRY(auto text, text_or_none(v));
  if (!text) return fail(ErrorCode::invalid_data, "the text of a method's argument is missing");
  return std::move(*text);
}

Result<int64_t> number_or(const Value* v, int64_t otherwise) {
  if (!v || v->is(Kind::none)) return otherwise;
  LAPILLI_CHECK(require_defined(*v));
  if (!v->whole()) return fail(ErrorCode::invalid_data, "a %s stands where a number belongs", type_name(*v));
  return v->as_integer();
}

Result<Value> list_of_texts(Interpreter& in, std::vector<std::string> texts, Flavor flavor = Flavor::list) {
  std::vector<Value> items;
  for (std::string& text : texts) {
    LAPILLI_TRY(const Value v, in.heap().text(std::move(text)));
    items.push_back(v);
  }
  return in.heap().list(std::move(items), flavor);
}

// ---- texts --------------------------------------------------------------------------------------------------------

template <std::string (*Change)(std::string_view)>
Result<Value> changed_text(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_CHECK(bind("a method of texts", a, {}).ok() ? Status() : fail(ErrorCode::invalid_data, "too many arguments"));
  LAPILLI_CHECK(in.heap().room_for_case(*self.text));
  return in.heap().text(Change(*self.text));
}

}  // namespace

Status Interpreter::room_to_strip(std::string_view text, const std::optional<std::string>& which) {
  if (!which) return heap_.room_for(text.size());
  // Each character is looked for among them.
  LAPILLI_CHECK(heap_.step((1 + text.size() / 64) * (1 + which->size() / 16)));
  return heap_.room_for(text.size() + sizeof(char32_t) * which->size());
}

namespace {

// Cuts at white space without a separator.
Status room_to_split(Heap& heap, const std::string& text, const std::optional<std::string>& separator, int64_t most) {
  if (separator) LAPILLI_CHECK(heap.search(text, *separator));
  const size_t parts = (separator ? part_count(text, *separator) : word_count(text)) + 1;
  return heap.room_for_parts(text, most < 0 ? parts : std::min<uint64_t>(parts, static_cast<uint64_t>(most) + 1));
}

template <Side S>
Result<Value> text_strip(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("strip", a, {"chars"}));
  LAPILLI_TRY(const auto which, text_or_none(given[0]));
  LAPILLI_CHECK(in.room_to_strip(*self.text, which));
  return in.heap().text(stripped(*self.text, S, which));
}

template <bool Right>
Result<Value> text_split(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("split", a, {"sep", "maxsplit"}));
  LAPILLI_TRY(const auto separator, text_or_none(given[0]));
  LAPILLI_TRY(const int64_t most, number_or(given[1], -1));
  if (separator && separator->empty()) return fail(ErrorCode::invalid_data, "a text is split at an empty text");
  if (Right && !separator && most >= 0) return fail(ErrorCode::unsupported, "rsplit at blanks with a limit");
  LAPILLI_CHECK(room_to_split(in.heap(), *self.text, separator, most));
  if (!Right || !separator) return list_of_texts(in, split(*self.text, separator, most));
  return list_of_texts(in, split_right(*self.text, separator, most));
}

Result<Value> text_splitlines(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("splitlines", a, {"keepends"}));
  LAPILLI_CHECK(in.heap().room_for_parts(*self.text, line_count(*self.text)));
  return list_of_texts(in, split_lines(*self.text, given[0] && is_true(*given[0])));
}

bool matches(std::string_view text, std::string_view part, bool at_end) {
  return at_end ? text.ends_with(part) : text.starts_with(part);
}

template <bool AtEnd>
Result<Value> text_begins(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("startswith", a, {"prefix"}));
  if (given[0] && given[0]->is(Kind::list) && given[0]->list->flavor == Flavor::tuple) {
    for (const Value& v : given[0]->list->items) {
      LAPILLI_CHECK(look_through(in.heap(), v, {}));
      LAPILLI_TRY(const std::string part, text_of_argument(&v));
      if (matches(*self.text, part, AtEnd)) return boolean_value(true);
    }
    return boolean_value(false);
  }
  LAPILLI_TRY(const std::string part, text_of_argument(given[0]));
  return boolean_value(matches(*self.text, part, AtEnd));
}

Result<Value> text_replace(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("replace", a, {"old", "new", "count"}));
  LAPILLI_TRY(const std::string old, text_of_argument(given[0]));
  LAPILLI_TRY(const std::string fresh, text_of_argument(given[1]));
  LAPILLI_TRY(const int64_t most, number_or(given[2], -1));
  LAPILLI_CHECK(in.heap().search(*self.text, old));
  const uint64_t places = self.text->size() / std::max<size_t>(1, old.size()) + 1;
  LAPILLI_CHECK(in.heap().room_for(self.text->size() + (fresh.size() > old.size() ? places * fresh.size() : 0)));
  return in.heap().text(replaced(*self.text, old, fresh, most));
}

template <bool Last, bool Required>
Result<Value> text_find(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("find", a, {"sub"}));
  LAPILLI_TRY(const std::string part, text_of_argument(given[0]));
  LAPILLI_CHECK(in.heap().search(*self.text, part));
  const size_t at = Last ? self.text->rfind(part) : self.text->find(part);
  if (at != std::string::npos)
    return integer_value(static_cast<int64_t>(character_count(std::string_view(*self.text).substr(0, at))));
  if (Required) return fail(ErrorCode::invalid_data, "a text does not have the part that is looked for");
  return integer_value(-1);
}

Result<Value> text_count(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("count", a, {"sub"}));
  LAPILLI_TRY(const std::string part, text_of_argument(given[0]));
  if (part.empty()) return integer_value(static_cast<int64_t>(character_count(*self.text)) + 1);
  LAPILLI_CHECK(in.heap().search(*self.text, part));
  return integer_value(static_cast<int64_t>(part_count(*self.text, part)));
}

Result<Value> text_join(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("join", a, {"iterable"}));
  if (!given[0]) return fail(ErrorCode::invalid_data, "join takes a list");
  LAPILLI_CHECK(require_defined(*given[0]));
  LAPILLI_TRY(const auto items, in.items_of(*given[0]));
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    LAPILLI_TRY(const std::string part, text_of_argument(&items[i]));
    LAPILLI_CHECK(in.heap().room_for(out.size() + self.text->size() + part.size()));
    out.append(i ? *self.text : "").append(part);
  }
  return in.heap().text(std::move(out));
}

template <bool AtEnd>
Result<Value> text_without(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("removeprefix", a, {"prefix"}));
  LAPILLI_TRY(const std::string part, text_of_argument(given[0]));
  if (!matches(*self.text, part, AtEnd)) return self;
  return in.heap().text(AtEnd ? self.text->substr(0, self.text->size() - part.size()) : self.text->substr(part.size()));
}

template <bool Last>
Result<Value> text_partition(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("partition", a, {"sep"}));
  LAPILLI_TRY(const std::string part, text_of_argument(given[0]));
  if (part.empty()) return fail(ErrorCode::invalid_data, "a text is split at an empty text");
  const std::string& text = *self.text;
  LAPILLI_CHECK(in.heap().search(text, part));
  LAPILLI_CHECK(in.heap().room_for(2 * text.size()));
  const size_t at = Last ? text.rfind(part) : text.find(part);
  if (at == std::string::npos)
    return list_of_texts(in, Last ? std::vector<std::string>{"", "", text} : std::vector<std::string>{text, "", ""},
                         Flavor::tuple);
  return list_of_texts(in, {text.substr(0, at), part, text.substr(at + part.size())}, Flavor::tuple);
}

// Widened to a number of characters; 'l', 'r' or 'z': where the text stands, 'z' behind zeros.
template <char How>
Result<Value> text_widened(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("ljust", a, {"width", "fillchar"}));
  LAPILLI_TRY(const int64_t width, number_or(given[0], 0));
  LAPILLI_TRY(const auto filler, text_or_none(given[1]));
  const std::string& text = *self.text;
  const auto size = static_cast<int64_t>(character_count(text));
  if (width <= size) return self;
  const std::string fill = How == 'z' ? "0" : filler.value_or(" ");
  if (character_count(fill) != 1) return fail(ErrorCode::invalid_data, "a text is filled up with one character");
  const auto missing = static_cast<uint64_t>(width - size);
  LAPILLI_CHECK(in.heap().room_for(missing));  // so that the product below fits
  LAPILLI_CHECK(in.heap().room_for(text.size() + fill.size() * missing));
  std::string more;
  for (uint64_t i = 0; i < missing; ++i) more += fill;
  const bool sign = How == 'z' && (text.starts_with('-') || text.starts_with('+'));
  return in.heap().text(How == 'l' ? text + more : sign ? text.substr(0, 1) + more + text.substr(1) : more + text);
}

// True for a text of such characters alone that is not empty.
template <bool (*Holds)(char32_t)>
Result<Value> text_all(Interpreter&, const Value& self, const Arguments&) {
  bool all = !self.text->empty();
  for (size_t at = 0; at < self.text->size() && all;) all = Holds(next_character(*self.text, at));
  return boolean_value(all);
}

bool is_letter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return unicode_available() && is_word(c) && !is_number(c) && !is_mark(c);
}
bool is_digit_character(char32_t c) { return c < 0x80 ? c >= '0' && c <= '9' : unicode_available() && is_number(c); }
bool is_letter_or_digit(char32_t c) { return is_letter(c) || is_digit_character(c); }
bool is_space_character(char32_t c) { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

template <std::string (*Same)(std::string_view), std::string (*Other)(std::string_view)>
Result<Value> text_cased(Interpreter& in, const Value& self, const Arguments&) {
  LAPILLI_CHECK(in.heap().room_for_case(*self.text));
  return boolean_value(Same(*self.text) == *self.text && Other(*self.text) != *self.text);
}

// "{}", "{0}" and "{name}", without formats.
Result<Value> text_format(Interpreter& in, const Value& self, const Arguments& a) {
  const std::string& pattern = *self.text;
  std::string out;
  size_t next = 0;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if ((c == '{' || c == '}') && at + 1 < pattern.size() && pattern[at + 1] == c)
      ++at;
    else if (c == '}')
      return fail(ErrorCode::invalid_data, "a single } in a format");
    else if (c == '{') {
      const size_t end = pattern.find('}', at);
      if (end == std::string::npos) return fail(ErrorCode::invalid_data, "a single { in a format");
      LAPILLI_CHECK(in.heap().step(1 + a.named.size() / 8));
      LAPILLI_CHECK(in.heap().room_for(4 * (end - at)));  // a message quotes it
      const std::string name = pattern.substr(at + 1, end - at - 1);
      const bool number = name.find_first_not_of("0123456789") == std::string::npos && name.size() < 6;
      const size_t place = !number ? a.positional.size() : name.empty() ? next++ : static_cast<size_t>(std::stoi(name));
      const auto named = std::find_if(a.named.begin(), a.named.end(), [&](const auto& n) { return n.first == name; });
      if (place >= a.positional.size() && named == a.named.end())
        return fail(ErrorCode::unsupported, "a format asks for %s, which is not given", quote(name));
      LAPILLI_TRY(const std::string text,
                  printed(in.heap(), place < a.positional.size() ? a.positional[place] : named->second));
      LAPILLI_CHECK(in.heap().room_for(out.size() + text.size()));
      out += text;
      at = end;
      continue;
    }
    out += c;
  }
  return in.heap().text(std::move(out));
}

// ---- dicts and lists ----------------------------------------------------------------------------------------------

Result<Value> dict_get(Interpreter&, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("get", a, {"key", "default"}));
  if (!given[0]) return fail(ErrorCode::invalid_data, "get takes a key");
  LAPILLI_TRY(const std::string place, key_of(*given[0]));
  const auto at = self.dict->places.find(place);
  if (at != self.dict->places.end()) return self.dict->entries[at->second].second;
  return given[1] ? *given[1] : none_value();
}

template <int Which>  // 0: keys, 1: values, 2: both
Result<Value> dict_view(Interpreter& in, const Value& self, const Arguments&) {
  std::vector<Value> items;
  for (const auto& [key, value] : self.dict->entries) {
    LAPILLI_TRY(const Value item,
                Which == 2 ? in.heap().list({key, value}, Flavor::tuple) : Result<Value>(Which == 0 ? key : value));
    items.push_back(item);
  }
  return in.heap().list(std::move(items), Flavor::view);
}

Result<Value> copied(Interpreter&, const Value& self, const Arguments&) { return self; }

Result<Value> list_count(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("count", a, {"value"}));
  int64_t count = 0;
  for (const Value& v : self.list->items) {
    LAPILLI_TRY(const bool same, given[0] ? equal(in.heap(), v, *given[0]) : Result<bool>(false));
    count += same;
  }
  return integer_value(count);
}

Result<Value> list_index(Interpreter& in, const Value& self, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("index", a, {"value"}));
  for (size_t i = 0; given[0] && i < self.list->items.size(); ++i) {
    LAPILLI_TRY(const bool same, equal(in.heap(), self.list->items[i], *given[0]));
    if (same) return integer_value(static_cast<int64_t>(i));
  }
  return fail(ErrorCode::invalid_data, "a list does not have the value that is looked for");
}

Result<Value> unsafe(Interpreter&, const Value& self, const Arguments&) {
  return fail(ErrorCode::unsupported, "a template may not change a %s: it can only make another", type_name(self));
}

// ---- loops --------------------------------------------------------------------------------------------------------

Result<Value> loop_cycle(Interpreter&, const Value& self, const Arguments& a) {
  if (a.positional.empty()) return fail(ErrorCode::invalid_data, "cycle takes values");
  return a.positional[self.loop->at % a.positional.size()];
}

Result<Value> loop_changed(Interpreter& in, const Value& self, const Arguments& a) {
  Loop& l = *self.loop;
  bool same = l.changed_before && l.last_changed.size() == a.positional.size();
  for (size_t i = 0; same && i < a.positional.size(); ++i) {
    LAPILLI_TRY(same, equal(in.heap(), l.last_changed[i], a.positional[i]));
  }
  LAPILLI_CHECK(in.heap().take(a.positional.size() * sizeof(Value)));
  l.last_changed = a.positional;
  l.changed_before = true;
  return boolean_value(!same);
}

struct NamedMethod {
  std::string_view name;
  Method method;
};
constexpr NamedMethod kTextMethods[] = {
    {"capitalize", changed_text<capitalized>},
    {"count", text_count},
    {"endswith", text_begins<true>},
    {"find", text_find<false, false>},
    {"format", text_format},
    {"index", text_find<false, true>},
    {"isalnum", text_all<is_letter_or_digit>},
    {"isalpha", text_all<is_letter>},
    {"isdecimal", text_all<is_digit_character>},
    {"isdigit", text_all<is_digit_character>},
    {"islower", text_cased<lower, upper>},
    {"isnumeric", text_all<is_digit_character>},
    {"isspace", text_all<is_space_character>},
    {"isupper", text_cased<upper, lower>},
    {"join", text_join},
    {"ljust", text_widened<'l'>},
    {"lower", changed_text<lower>},
    {"lstrip", text_strip<Side::left>},
    {"partition", text_partition<false>},
    {"removeprefix", text_without<false>},
    {"removesuffix", text_without<true>},
    {"replace", text_replace},
    {"rfind", text_find<true, false>},
    {"rindex", text_find<true, true>},
    {"rjust", text_widened<'r'>},
    {"rpartition", text_partition<true>},
    {"rsplit", text_split<true>},
    {"rstrip", text_strip<Side::right>},
    {"split", text_split<false>},
    {"splitlines", text_splitlines},
    {"startswith", text_begins<false>},
    {"strip", text_strip<Side::both>},
    {"title", changed_text<title>},
    {"upper", changed_text<upper>},
    {"zfill", text_widened<'z'>},
};
constexpr NamedMethod kDictMethods[] = {
    {"clear", unsafe}, {"copy", copied},    {"get", dict_get},      {"items", dict_view<2>}, {"keys", dict_view<0>},
    {"pop", unsafe},   {"popitem", unsafe}, {"setdefault", unsafe}, {"update", unsafe},      {"values", dict_view<1>},
};
constexpr NamedMethod kListMethods[] = {
    {"append", unsafe}, {"clear", unsafe},     {"copy", copied},   {"count", list_count},
    {"extend", unsafe}, {"index", list_index}, {"insert", unsafe}, {"pop", unsafe},
    {"remove", unsafe}, {"reverse", unsafe},   {"sort", unsafe},
};
constexpr NamedMethod kLoopMethods[] = {{"changed", loop_changed}, {"cycle", loop_cycle}};

std::span<const NamedMethod> methods_of(const Value& self) {
  switch (self.kind) {
    case Kind::text: return kTextMethods;
    case Kind::dict: return kDictMethods;
    case Kind::loop: return kLoopMethods;
    case Kind::list:
      return self.list->flavor == Flavor::list ? std::span<const NamedMethod>(kListMethods)
                                               : std::span<const NamedMethod>();
    default: return {};
  }
}

Method find_method(const Value& self, std::string_view name) {
  for (const NamedMethod& m : methods_of(self))
    if (m.name == name) return m.method;
  return nullptr;
}

// ---- functions ----------------------------------------------------------------------------------------------------

using Global = Result<Value> (*)(Interpreter& in, const Arguments& a);

Result<Value> global_raise(Interpreter& in, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("raise_exception", a, {"message"}));
  std::string words = "the template refuses without a word";
  if (given[0]) {
    LAPILLI_TRY(words, printed(in.heap(), *given[0]));
  }
  return fail(ErrorCode::invalid_argument, "%s", words);
}

Result<Value> global_strftime(Interpreter& in, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("strftime_now", a, {"format"}));
  LAPILLI_TRY(const std::string pattern, text_of_argument(given[0]));
  // A directive of two bytes writes at most some 24.
  LAPILLI_CHECK(in.heap().step(1 + pattern.size() / 2));
  LAPILLI_CHECK(in.heap().room_for(16 * pattern.size()));
  LAPILLI_TRY(std::string text, time_text(in.now(), pattern));
  return in.heap().text(std::move(text));
}

Result<Value> named_dict(Interpreter& in, const Arguments& a, bool space) {
  LAPILLI_TRY(const Value made, space ? in.heap().space() : in.heap().dict());
  if (a.positional.size() > 1) return fail(ErrorCode::invalid_data, "dict and namespace take one dict, and names");
  if (!a.positional.empty()) {
    const Value& from = a.positional.front();
    if (!from.is(Kind::dict))
      return fail(ErrorCode::unsupported, "dict and namespace are made of dicts and names alone");
    for (const auto& [key, value] : from.dict->entries) LAPILLI_CHECK(in.heap().put(*made.dict, key, value));
  }
  for (const auto& [name, value] : a.named) {
    LAPILLI_TRY(const Value key, in.heap().text(name));
    LAPILLI_CHECK(in.heap().put(*made.dict, key, value));
  }
  return made;
}

Result<Value> global_namespace(Interpreter& in, const Arguments& a) { return named_dict(in, a, true); }
Result<Value> global_dict(Interpreter& in, const Arguments& a) { return named_dict(in, a, false); }

Result<Value> global_range(Interpreter& in, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("range", a, {"start", "stop", "step"}));
  if (!given[0]) return fail(ErrorCode::invalid_data, "range takes a number");
  LAPILLI_TRY(const int64_t first, number_or(given[0], 0));
  LAPILLI_TRY(const int64_t second, number_or(given[1], 0));
  LAPILLI_TRY(const int64_t step, number_or(given[2], 1));
  const int64_t begin = given[1] ? first : 0, end = given[1] ? second : first;
  constexpr int64_t kFarthest = int64_t{1} << 40, kMost = 100'000;  // the reference's sandbox has this limit, too
  if (step == 0 || std::abs(begin / 2) > kFarthest || std::abs(end / 2) > kFarthest || std::abs(step / 2) > kFarthest)
    return fail(ErrorCode::invalid_data, "a range that cannot be walked");
  const int64_t count = std::max<int64_t>(0, (end - begin + step + (step > 0 ? -1 : 1)) / step);
  if (count > kMost) return fail(ErrorCode::unsupported, "a range of more than %d numbers", kMost);
  std::vector<Value> items;
  for (int64_t i = 0; i < count; ++i) items.push_back(integer_value(begin + i * step));
  return in.heap().list(std::move(items), Flavor::range);
}

struct NamedGlobal {
  std::string_view name;
  Global global;
};
constexpr NamedGlobal kGlobals[] = {
    {"dict", global_dict},   {"namespace", global_namespace},   {"raise_exception", global_raise},
    {"range", global_range}, {"strftime_now", global_strftime},
};

Global find_global(std::string_view name) {
  for (const NamedGlobal& g : kGlobals)
    if (g.name == name) return g.global;
  return nullptr;
}

}  // namespace

bool has_method(const Value& self, std::string_view name) { return find_method(self, name) != nullptr; }

Result<Value> call_method(Interpreter& in, const Function& method, const Arguments& arguments) {
  if (method.self.is(Kind::list)) LAPILLI_CHECK(in.heap().step(1 + method.self.list->items.size() / 8));
  if (method.self.is(Kind::dict)) LAPILLI_CHECK(in.heap().step(1 + method.self.dict->entries.size() / 8));
  return find_method(method.self, method.name)(in, method.self, arguments);
}

bool is_global(std::string_view name) { return find_global(name) != nullptr; }

Result<Value> call_global(Interpreter& in, std::string_view name, const Arguments& arguments) {
  return find_global(name)(in, arguments);
}

}  // namespace lapilli::jinja
