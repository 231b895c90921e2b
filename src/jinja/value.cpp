#include "jinja/value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "jinja/python_text.hpp"

namespace lapilli::jinja {

Value none_value() {
  Value v;
  v.kind = Kind::none;
  return v;
}

Value boolean_value(bool b) {
  Value v;
  v.kind = Kind::boolean;
  v.boolean = b;
  return v;
}

Value integer_value(int64_t i) {
  Value v;
  v.kind = Kind::integer;
  v.integer = i;
  return v;
}

Value real_value(double d) {
  Value v;
  v.kind = Kind::real;
  v.real = d;
  return v;
}

Value text_value(const std::string& text) {
  Value v;
  v.kind = Kind::text;
  v.text = &text;
  return v;
}

// ---- what a rendering owns ----------------------------------------------------------------------------------------

Status Heap::step(uint64_t count) {
  if (count > steps_)
    return fail(ErrorCode::unsupported, "it takes more than %u steps: loops without end are not run", most_steps_);
  steps_ -= count;
  return {};
}

Status Heap::room_for(uint64_t bytes) {
  if (bytes > memory_) return fail(ErrorCode::unsupported, "it makes values of more than %u bytes", most_memory_);
  return {};
}

Status Heap::take(uint64_t bytes) {
  LAPILLI_CHECK(room_for(bytes));
  memory_ -= bytes;
  return {};
}

Status Heap::room_for_parts(std::string_view text, size_t count) {
  constexpr uint64_t kPart = 2 * sizeof(std::string) + sizeof(Value);  // before it is a value, and as one
  return room_for(text.size() + count * kPart);
}

Status Heap::room_for_case(std::string_view text) {
  LAPILLI_CHECK(look_closely(text));
  return room_for(16 * uint64_t{text.size()});
}

Result<Value> Heap::text(std::string text) {
  LAPILLI_CHECK(take(text.size() + sizeof(std::string)));
  texts_.push_back(std::move(text));
  return text_value(texts_.back());
}

Result<Value> Heap::undefined(std::string why) {
  LAPILLI_TRY(Value v, text(std::move(why)));
  v.kind = Kind::undefined;
  return v;
}

Result<Value> Heap::list(std::vector<Value> items, Flavor flavor) {
  LAPILLI_CHECK(take(items.size() * sizeof(Value) + sizeof(List)));
  lists_.push_back({std::move(items), flavor, false});
  Value v;
  v.kind = Kind::list;
  v.list = &lists_.back();
  return v;
}

Result<Value> Heap::dict() {
  LAPILLI_CHECK(take(sizeof(Dict)));
  dicts_.emplace_back();
  Value v;
  v.kind = Kind::dict;
  v.dict = &dicts_.back();
  return v;
}

Result<Value> Heap::space() {
  LAPILLI_TRY(Value v, dict());
  v.kind = Kind::space;
  return v;
}

Result<Value> Heap::loop(const std::vector<Value>& items, uint32_t depth) {
  LAPILLI_CHECK(take(sizeof(Loop)));
  loops_.push_back({&items, 0, depth, {}, false});
  Value v;
  v.kind = Kind::loop;
  v.loop = &loops_.back();
  return v;
}

Result<Value> Heap::function(Function function) {
  LAPILLI_CHECK(take(sizeof(Function)));
  functions_.push_back(std::move(function));
  Value v;
  v.kind = Kind::function;
  v.function = &functions_.back();
  return v;
}

Status Heap::put(Dict& dict, const Value& key, const Value& value) {
  if (key.is(Kind::text)) LAPILLI_CHECK(look_through(*key.text));
  LAPILLI_TRY(std::string place, key_of(key));
  const uint64_t bytes = place.size() + 128;
  LAPILLI_CHECK(room_for(bytes));
  const auto [at, fresh] = dict.places.try_emplace(std::move(place), dict.entries.size());
  if (!fresh) {
    dict.entries[at->second].second = value;
    return {};
  }
  memory_ -= bytes;
  dict.entries.emplace_back(key, value);
  return {};
}

namespace {

Result<Value> list_from_json(Heap& heap, const nlohmann::ordered_json& json) {
  std::vector<Value> items;
  for (const auto& item : json) {
    LAPILLI_TRY(const Value v, heap.from_json(item));
    items.push_back(v);
  }
  return heap.list(std::move(items));
}

Result<Value> dict_from_json(Heap& heap, const nlohmann::ordered_json& json) {
  LAPILLI_TRY(Value d, heap.dict());
  for (const auto& member : json.items()) {
    LAPILLI_TRY(const Value key, heap.text(member.key()));
    LAPILLI_TRY(const Value v, heap.from_json(member.value()));
    LAPILLI_CHECK(heap.put(*d.dict, key, v));
  }
  return d;
}

}  // namespace

// The caller has bounded the depth.
Result<Value> Heap::from_json(const nlohmann::ordered_json& json) {
  switch (json.type()) {
    case nlohmann::ordered_json::value_t::array: return list_from_json(*this, json);
    case nlohmann::ordered_json::value_t::object: return dict_from_json(*this, json);
    case nlohmann::ordered_json::value_t::string: return text(json.get<std::string>());
    case nlohmann::ordered_json::value_t::boolean: return boolean_value(json.get<bool>());
    case nlohmann::ordered_json::value_t::number_integer: return integer_value(json.get<int64_t>());
    case nlohmann::ordered_json::value_t::number_unsigned:
      if (json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return real_value(json.get<double>());
      return integer_value(json.get<int64_t>());
    case nlohmann::ordered_json::value_t::number_float: return real_value(json.get<double>());
    default: return none_value();
  }
}

// ---- what holds of them -------------------------------------------------------------------------------------------

const Value* Dict::find(std::string_view name) const {
  const auto at = places.find("t" + std::string(name));
  return at == places.end() ? nullptr : &entries[at->second].second;
}

Result<std::string> key_of(const Value& v) {
  switch (v.kind) {
    case Kind::text: return "t" + *v.text;
    case Kind::none: return std::string("n");
    case Kind::boolean:
    case Kind::integer: return "i" + std::to_string(v.as_integer());
    case Kind::real:
      if (std::floor(v.real) == v.real && std::abs(v.real) < 9e15)
        return "i" + std::to_string(static_cast<int64_t>(v.real));
      return "r" + printed_real(v.real);
    default: return fail(ErrorCode::invalid_data, "a %s cannot be the key of a dict here", type_name(v));
  }
}

bool is_true(const Value& v) {
  switch (v.kind) {
    case Kind::undefined:
    case Kind::none: return false;
    case Kind::boolean: return v.boolean;
    case Kind::integer: return v.integer != 0;
    case Kind::real: return v.real != 0;
    case Kind::text: return !v.text->empty();
    case Kind::list: return v.list->flavor == Flavor::generator || !v.list->items.empty();
    case Kind::dict: return !v.dict->entries.empty();
    case Kind::space:
    case Kind::loop:
    case Kind::function: return true;
  }
  return false;
}

std::string type_name(const Value& v) {
  switch (v.kind) {
    case Kind::undefined: return "undefined value";
    case Kind::none: return "None";
    case Kind::boolean: return "bool object";
    case Kind::integer: return "int object";
    case Kind::real: return "float object";
    case Kind::text: return "str object";
    case Kind::list:
      switch (v.list->flavor) {
        case Flavor::list: return "list object";
        case Flavor::tuple: return "tuple object";
        case Flavor::range: return "range object";
        case Flavor::view: return "view of a dict";
        case Flavor::generator: return "generator object";
      }
      break;
    case Kind::dict: return "dict object";
    case Kind::space: return "namespace";
    case Kind::loop: return "loop";
    case Kind::function: return "function";
  }
  return "value";
}

Status require_defined(const Value& v) {
  if (v.defined()) return {};
  return fail(ErrorCode::invalid_data, "%s",
              v.text ? std::string_view(*v.text) : std::string_view("a value is undefined"));
}

namespace {

Failure too_deep() { return fail(ErrorCode::unsupported, "values nest deeper than %d", kDeepestValue); }

Result<bool> equal_lists(Heap& heap, const List& a, const List& b, int depth) {
  if (a.flavor != b.flavor || a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    LAPILLI_TRY(const bool same, equal(heap, a.items[i], b.items[i], depth + 1));
    if (!same) return false;
  }
  return true;
}

Result<bool> equal_dicts(Heap& heap, const Dict& a, const Dict& b, int depth) {
  if (a.places.size() != b.places.size()) return false;
  for (const auto& [key, place] : a.places) {
    const auto at = b.places.find(key);
    if (at == b.places.end()) return false;
    LAPILLI_TRY(const bool same, equal(heap, a.entries[place].second, b.entries[at->second].second, depth + 1));
    if (!same) return false;
  }
  return true;
}

}  // namespace

Result<bool> equal(Heap& heap, const Value& a, const Value& b, int depth) {
  LAPILLI_CHECK(heap.step());
  if (depth > kDeepestValue) return too_deep();
  if (a.whole() && b.whole()) return a.as_integer() == b.as_integer();
  if (a.number() && b.number()) return a.as_real() == b.as_real();
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::text: LAPILLI_CHECK(heap.look_through(*a.text)); return *a.text == *b.text;
    case Kind::list:
      if (a.list->flavor == Flavor::generator || a.list->flavor == Flavor::view) return a.list == b.list;
      return equal_lists(heap, *a.list, *b.list, depth);
    case Kind::dict: return equal_dicts(heap, *a.dict, *b.dict, depth);
    case Kind::space: return a.dict == b.dict;
    case Kind::loop: return a.loop == b.loop;
    case Kind::function: return a.function == b.function;
    default: return true;
  }
}

namespace {

Result<int> compare_lists(Heap& heap, const List& a, const List& b, int depth) {
  for (size_t i = 0; i < a.items.size() && i < b.items.size(); ++i) {
    LAPILLI_TRY(const bool same, equal(heap, a.items[i], b.items[i], depth + 1));
    if (!same) return compare(heap, a.items[i], b.items[i], depth + 1);
  }
  return a.items.size() < b.items.size() ? -1 : a.items.size() > b.items.size() ? 1 : 0;
}

}  // namespace

Result<int> compare(Heap& heap, const Value& a, const Value& b, int depth) {
  LAPILLI_CHECK(heap.step());
  if (depth > kDeepestValue) return too_deep();
  LAPILLI_CHECK(require_defined(a));
  LAPILLI_CHECK(require_defined(b));
  if (a.whole() && b.whole()) {
    const int64_t x = a.as_integer(), y = b.as_integer();
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (a.number() && b.number()) {
    const double x = a.as_real(), y = b.as_real();
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (a.is(Kind::text) && b.is(Kind::text)) {
    LAPILLI_CHECK(heap.look_through(*a.text));
    const int order = a.text->compare(*b.text);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (a.is(Kind::list) && b.is(Kind::list) && a.list->flavor == b.list->flavor && a.list->flavor <= Flavor::tuple)
    return compare_lists(heap, *a.list, *b.list, depth);
  return fail(ErrorCode::invalid_data, "a %s and a %s have no order", type_name(a), type_name(b));
}

// ---- as texts -----------------------------------------------------------------------------------------------------

// The shortest digits that give the number again, as Python writes them.
std::string printed_real(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), d, std::chars_format::scientific).ptr;
  const std::string_view all(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t e = all.find('e');
  int exponent = 0;
  const char* digits = all.data() + e + (all[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits, end, exponent);
  if (exponent < -4 || exponent >= 16) return std::string(all);
  const auto plain = std::to_chars(buffer.data(), buffer.data() + buffer.size(), d, std::chars_format::fixed).ptr;
  std::string text(buffer.data(), static_cast<size_t>(plain - buffer.data()));
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

Result<std::string> printed(Heap& heap, const Value& v) {
  if (v.is(Kind::text)) return *v.text;
  if (v.is(Kind::undefined)) return std::string();
  return quoted(heap, v);
}

namespace {

struct Brackets {
  std::string_view open, close;
};

Brackets brackets_of(const List& list) {
  if (list.flavor == Flavor::tuple) return {"(", list.items.size() == 1 ? ",)" : ")"};
  if (list.flavor == Flavor::view) return {"dict_items([", "])"};
  return {"[", "]"};
}

Result<std::string> quoted_list(Heap& heap, const List& list, int depth) {
  if (list.flavor == Flavor::generator)
    return fail(ErrorCode::invalid_data, "a generator is printed: |list is missing");
  if (list.flavor == Flavor::range) return "range(0, " + std::to_string(list.items.size()) + ")";
  std::string out(brackets_of(list).open);
  for (size_t i = 0; i < list.items.size(); ++i) {
    LAPILLI_TRY(const std::string item, quoted(heap, list.items[i], depth + 1));
    out.append(i ? ", " : "").append(item);
    LAPILLI_CHECK(heap.room_for(out.size()));
  }
  return out.append(brackets_of(list).close);
}

Result<std::string> quoted_dict(Heap& heap, const Dict& dict, int depth) {
  std::string out = "{";
  for (const auto& [key, value] : dict.entries) {
    LAPILLI_TRY(const std::string name, quoted(heap, key, depth + 1));
    LAPILLI_TRY(const std::string item, quoted(heap, value, depth + 1));
    out.append(out.size() > 1 ? ", " : "").append(name).append(": ").append(item);
    LAPILLI_CHECK(heap.room_for(out.size()));
  }
  return out + "}";
}

}  // namespace

Result<std::string> quoted_text(Heap& heap, std::string_view text) {
  constexpr uint64_t kLongestEscape = 4;  // \x00
  LAPILLI_CHECK(heap.look_closely(text));
  LAPILLI_CHECK(heap.room_for(kLongestEscape * text.size()));
  return quote(text);
}

Result<std::string> quoted(Heap& heap, const Value& v, int depth) {
  LAPILLI_CHECK(heap.step());
  if (depth > kDeepestValue) return too_deep();
  switch (v.kind) {
    case Kind::undefined: return std::string("Undefined");
    case Kind::none: return std::string("None");
    case Kind::boolean: return std::string(v.boolean ? "True" : "False");
    case Kind::integer: return std::to_string(v.integer);
    case Kind::real: return printed_real(v.real);
    case Kind::text: return quoted_text(heap, *v.text);
    case Kind::list: return quoted_list(heap, *v.list, depth);
    case Kind::dict: return quoted_dict(heap, *v.dict, depth);
    case Kind::space: {
      LAPILLI_TRY(const std::string inside, quoted_dict(heap, *v.dict, depth + 1));
      return "<Namespace " + inside + ">";
    }
    default: return fail(ErrorCode::invalid_data, "a %s is printed", type_name(v));
  }
}

// ---- as JSON ------------------------------------------------------------------------------------------------------

namespace {

Result<std::string> json_of_text(Heap& heap, std::string_view text, const JsonForm& form) {
  constexpr uint64_t kLongestEscape = 6;  // \u0000
  LAPILLI_CHECK(heap.look_closely(text));
  LAPILLI_CHECK(heap.room_for(kLongestEscape * text.size()));
  return json_text(text, form.ascii);
}

// The texts between items are a template's own, and may be long.
Status room_between(Heap& heap, const JsonForm& form, size_t made, int depth) {
  const uint64_t line = 1 + form.indent.size() * static_cast<uint64_t>(depth + 1);
  const uint64_t bytes = form.comma.size() + form.colon.size() + line;
  LAPILLI_CHECK(heap.step(1 + bytes / 64));
  return heap.room_for(made + bytes);
}

std::string line_of(const JsonForm& form, int depth) {
  if (!form.lines) return {};
  std::string line = "\n";
  for (int i = 0; i < depth; ++i) line += form.indent;
  return line;
}

Result<std::string> json_list(Heap& heap, const List& list, const JsonForm& form, int depth) {
  if (list.flavor > Flavor::tuple) return fail(ErrorCode::invalid_data, "tojson takes no generator, range or view");
  if (list.items.empty()) return std::string("[]");
  LAPILLI_CHECK(room_between(heap, form, 0, depth));
  std::string out = "[" + line_of(form, depth + 1);
  for (size_t i = 0; i < list.items.size(); ++i) {
    LAPILLI_TRY(const std::string item, to_json(heap, list.items[i], form, depth + 1));
    LAPILLI_CHECK(room_between(heap, form, out.size(), depth));
    if (i) out += form.comma + line_of(form, depth + 1);
    LAPILLI_CHECK(heap.room_for(out.size() + item.size()));
    out += item;
  }
  return out + line_of(form, depth) + "]";
}

// Keys that are no texts become some.
Result<std::string> json_key(Heap& heap, const Value& key, const JsonForm& form) {
  if (key.is(Kind::text)) return json_of_text(heap, *key.text, form);
  LAPILLI_TRY(const std::string text, to_json(heap, key, form, kDeepestValue));
  return "\"" + text + "\"";
}

Result<std::vector<std::pair<Value, Value>>> entries_of(Heap& heap, const Dict& dict, bool sorted) {
  auto entries = dict.entries;
  if (!sorted) return entries;
  Status bad;
  std::stable_sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
    const auto order = compare(heap, a.first, b.first);
    if (!order && bad.ok()) bad = order.error();
    return order && *order < 0;
  });
  LAPILLI_CHECK(std::move(bad));
  return entries;
}

Result<std::string> json_dict(Heap& heap, const Dict& dict, const JsonForm& form, int depth) {
  if (dict.entries.empty()) return std::string("{}");
  LAPILLI_CHECK(room_between(heap, form, 0, depth));
  LAPILLI_TRY(const auto entries, entries_of(heap, dict, form.sorted));
  std::string out = "{" + line_of(form, depth + 1);
  for (size_t i = 0; i < entries.size(); ++i) {
    LAPILLI_TRY(const std::string key, json_key(heap, entries[i].first, form));
    LAPILLI_TRY(const std::string item, to_json(heap, entries[i].second, form, depth + 1));
    LAPILLI_CHECK(room_between(heap, form, out.size() + key.size(), depth));
    if (i) out += form.comma + line_of(form, depth + 1);
    LAPILLI_CHECK(heap.room_for(out.size() + item.size()));
    out.append(key).append(form.colon).append(item);
  }
  return out + line_of(form, depth) + "}";
}

std::string json_real(double d) {
  if (std::isnan(d)) return "NaN";
  if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
  return printed_real(d);
}

}  // namespace

Result<std::string> to_json(Heap& heap, const Value& v, const JsonForm& form, int depth) {
  LAPILLI_CHECK(heap.step());
  if (depth > kDeepestValue) return too_deep();
  switch (v.kind) {
    case Kind::none: return std::string("null");
    case Kind::boolean: return std::string(v.boolean ? "true" : "false");
    case Kind::integer: return std::to_string(v.integer);
    case Kind::real: return json_real(v.real);
    case Kind::text: return json_of_text(heap, *v.text, form);
    case Kind::list: return json_list(heap, *v.list, form, depth);
    case Kind::dict: return json_dict(heap, *v.dict, form, depth);
    default:
      LAPILLI_CHECK(require_defined(v));
      return fail(ErrorCode::invalid_data, "tojson takes no %s", type_name(v));
  }
}

}  // namespace lapilli::jinja
