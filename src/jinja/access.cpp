// Members, items and slices of values.
#include <algorithm>

#include "jinja/interpreter.hpp"
#include "jinja/python_text.hpp"

namespace lapilli::jinja {

Result<std::vector<Value>> Interpreter::items_of(const Value& value) {
  std::vector<Value> items;
  switch (value.kind) {
    case Kind::undefined: return items;
    case Kind::list:
      LAPILLI_CHECK(heap_.step(1 + value.list->items.size() / 8));
      LAPILLI_CHECK(heap_.room_for(value.list->items.size() * sizeof(Value)));
      if (value.list->flavor != Flavor::generator) return value.list->items;
      if (std::exchange(value.list->consumed, true)) return items;
      return value.list->items;
    case Kind::dict:
      LAPILLI_CHECK(heap_.step(1 + value.dict->entries.size() / 8));
      LAPILLI_CHECK(heap_.room_for(value.dict->entries.size() * sizeof(Value)));
      for (const auto& entry : value.dict->entries) items.push_back(entry.first);
      return items;
    case Kind::text: return characters_of(*value.text);
    default: return fail(ErrorCode::invalid_data, "a %s is taken for a list", type_name(value));
  }
}

Result<std::vector<Value>> Interpreter::characters_of(const std::string& text) {
  LAPILLI_CHECK(heap_.step(1 + text.size() / 8));
  const size_t count = character_count(text);
  LAPILLI_CHECK(heap_.room_for_parts(text, count));
  std::vector<Value> items;
  items.reserve(count);
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = begin + character_start(std::string_view(text).substr(begin, 5), 1);
    LAPILLI_TRY(const Value v, heap_.text(text.substr(begin, end - begin)));
    items.push_back(v);
  }
  return items;
}

namespace {

std::string missing_member(const Value& of, const std::string& name) {
  const std::string type = type_name(of);
  return (of.is(Kind::none) ? quote(type) : "'" + type + "'") + " has no attribute " + quote(name);
}

// The place of an index that may count from the end; size: none.
size_t place_of(int64_t index, size_t size) {
  const auto n = static_cast<int64_t>(size);
  if (index < -n || index >= n) return size;
  return static_cast<size_t>(index < 0 ? index + n : index);
}

}  // namespace

Result<Value> Interpreter::loop_member(const Value& loop, const std::string& name) {
  const Loop& l = *loop.loop;
  const auto number = [](size_t n) { return integer_value(static_cast<int64_t>(n)); };
  const size_t size = l.items->size();
  if (name == "index") return number(l.at + 1);
  if (name == "index0") return number(l.at);
  if (name == "revindex") return number(size - l.at);
  if (name == "revindex0") return number(size - l.at - 1);
  if (name == "first") return boolean_value(l.at == 0);
  if (name == "last") return boolean_value(l.at + 1 == size);
  if (name == "length") return number(size);
  if (name == "depth") return number(l.depth);
  if (name == "depth0") return number(l.depth - 1);
  if (name == "previtem")
    return l.at > 0 ? Result<Value>((*l.items)[l.at - 1]) : heap_.undefined("there is no previous item");
  if (name == "nextitem")
    return l.at + 1 < size ? Result<Value>((*l.items)[l.at + 1]) : heap_.undefined("there is no next item");
  return heap_.undefined("the loop has no attribute " + quote(name));
}

// A message may quote it, with escapes.
Status Interpreter::room_for_name(const std::string& name) {
  LAPILLI_CHECK(heap_.look_closely(name));
  return heap_.room_for(4 * name.size());
}

Result<Value> Interpreter::attribute(const Value& of, const std::string& name) {
  LAPILLI_CHECK(require_defined(of));
  LAPILLI_CHECK(room_for_name(name));
  if (has_method(of, name)) return heap_.function({nullptr, nullptr, name, of});
  if (of.is(Kind::loop)) return loop_member(of, name);
  if (of.is(Kind::dict) || of.is(Kind::space))
    if (const Value* v = of.dict->find(name)) return *v;
  if (name.starts_with("__")) return fail(ErrorCode::unsupported, "access to %s of a value is not safe", quote(name));
  return heap_.undefined(missing_member(of, name));
}

Result<Value> Interpreter::item(const Value& of, const Value& key) {
  LAPILLI_CHECK(require_defined(of));
  if (key.is(Kind::text)) LAPILLI_CHECK(room_for_name(*key.text));
  if (of.is(Kind::dict)) {
    const auto place = key_of(key);
    const auto at = place ? of.dict->places.find(*place) : of.dict->places.end();
    if (at != of.dict->places.end()) return of.dict->entries[at->second].second;
  }
  if (key.is(Kind::text))
    return of.is(Kind::dict) && !has_method(of, *key.text) ? heap_.undefined(missing_member(of, *key.text))
                                                           : attribute(of, *key.text);
  if (key.whole() && of.is(Kind::list) && of.list->flavor < Flavor::view) {
    const size_t place = place_of(key.as_integer(), of.list->items.size());
    if (place < of.list->items.size()) return of.list->items[place];
  }
  if (key.whole() && of.is(Kind::text)) {
    LAPILLI_CHECK(heap_.step(1 + of.text->size() / 8));
    const size_t count = character_count(*of.text), place = place_of(key.as_integer(), count);
    const size_t begin = character_start(*of.text, place), end = character_start(*of.text, place + 1);
    if (place < count) return heap_.text(of.text->substr(begin, end - begin));
  }
  LAPILLI_TRY(const std::string name, quoted(heap_, key));
  return heap_.undefined(type_name(of) + " has no element " + name);
}

namespace {

// The places of a slice, as Python finds them.
struct Slice {
  std::optional<int64_t> from, to;
  int64_t step = 1;

  [[nodiscard]] std::vector<size_t> places(size_t count) const {
    const auto n = static_cast<int64_t>(count);
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    const auto bound = [&](const std::optional<int64_t>& given, int64_t otherwise) {
      if (!given) return otherwise;
      return std::clamp(*given < 0 ? std::max<int64_t>(*given, -n - 1) + n : *given, low, high);
    };
    std::vector<size_t> all;
    const int64_t begin = bound(from, step > 0 ? low : high), end = bound(to, step > 0 ? high : low);
    // A step beyond all items is as good as one that is just beyond.
    const int64_t by = std::clamp<int64_t>(step, -n - 1, n + 1);
    for (int64_t i = begin; by > 0 ? i < end : i > end; i += by) all.push_back(static_cast<size_t>(i));
    return all;
  }
};

}  // namespace

Result<Value> Interpreter::eval_slice(const Node& n, Scope& scope) {
  LAPILLI_TRY(const Value of, eval(*n.children[0], scope));
  Slice slice;
  for (size_t i = 1; i < 4; ++i) {
    if (!n.children[i]) continue;
    LAPILLI_TRY(const Value v, eval(*n.children[i], scope));
    if (v.is(Kind::none)) continue;
    LAPILLI_CHECK(require_defined(v));
    if (!v.whole()) return fail(ErrorCode::invalid_data, "a %s is the place of a slice", type_name(v));
    if (i == 3) slice.step = v.as_integer();
    if (i == 1) slice.from = v.as_integer();
    if (i == 2) slice.to = v.as_integer();
  }
  LAPILLI_CHECK(require_defined(of));
  if (slice.step == 0) return fail(ErrorCode::invalid_data, "the step of a slice is 0");
  if (of.is(Kind::text)) {
    LAPILLI_CHECK(heap_.step(1 + of.text->size() / 8));
    LAPILLI_CHECK(heap_.room_for(2 * sizeof(size_t) * (character_count(*of.text) + 1)));  // two lists of places
    const auto starts = character_starts(*of.text);
    std::string text;
    for (const size_t i : slice.places(starts.size() - 1)) text.append(*of.text, starts[i], starts[i + 1] - starts[i]);
    return heap_.text(std::move(text));
  }
  if (!of.is(Kind::list) || of.list->flavor >= Flavor::view)
    return fail(ErrorCode::invalid_data, "a %s has no slices", type_name(of));
  LAPILLI_CHECK(heap_.step(1 + of.list->items.size() / 8));
  std::vector<Value> items;
  for (const size_t i : slice.places(of.list->items.size())) items.push_back(of.list->items[i]);
  return heap_.list(std::move(items), of.list->flavor);
}

Result<bool> Interpreter::contains(const Value& all, const Value& wanted) {
  if (all.is(Kind::text)) {
    LAPILLI_CHECK(require_defined(wanted));
    if (!wanted.is(Kind::text)) return fail(ErrorCode::invalid_data, "a %s is looked for in a text", type_name(wanted));
    LAPILLI_CHECK(heap_.search(*all.text, *wanted.text));
    return all.text->find(*wanted.text) != std::string::npos;
  }
  if (all.is(Kind::dict)) {
    if (wanted.is(Kind::text)) LAPILLI_CHECK(heap_.look_through(*wanted.text));
    LAPILLI_TRY(const std::string place, key_of(wanted));
    return all.dict->places.contains(place);
  }
  LAPILLI_TRY(const auto items, items_of(all));
  for (const Value& v : items) {
    LAPILLI_TRY(const bool same, equal(heap_, v, wanted));
    if (same) return true;
  }
  return false;
}

}  // namespace lapilli::jinja
