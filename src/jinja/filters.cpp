// The filters of jinja2 that published templates use.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "jinja/interpreter.hpp"
#include "jinja/python_text.hpp"

namespace lapilli::jinja {

namespace {

Result<std::string> text_or_printed(Interpreter& in, const Value& v) { return printed(in.heap(), v); }

Result<int64_t> whole_or(const Value* v, int64_t otherwise, const char* what) {
  if (!v) return otherwise;
  if (!v->whole()) return fail(ErrorCode::invalid_data, "%s takes a whole number, not a %s", what, type_name(*v));
  return v->as_integer();
}

bool true_or(const Value* v, bool otherwise) { return v ? is_true(*v) : otherwise; }

Result<std::optional<std::string>> optional_text(const Value* v, const char* what) {
  if (!v || v->is(Kind::none)) return std::optional<std::string>();
  if (!v->is(Kind::text)) return fail(ErrorCode::invalid_data, "%s takes a text, not a %s", what, type_name(*v));
  return std::optional<std::string>(*v->text);
}

// ---- numbers ------------------------------------------------------------------------------------------------------

Result<Value> filter_abs(Interpreter&, const Value& v, const Arguments&) {
  LAPILLI_CHECK(require_defined(v));
  if (v.whole() && v.as_integer() != INT64_MIN) return integer_value(std::abs(v.as_integer()));
  if (v.is(Kind::real)) return real_value(std::abs(v.real));
  return fail(ErrorCode::invalid_data, "abs takes a number, not a %s", type_name(v));
}

Result<Value> filter_int(Interpreter&, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("int", a, {"default", "base"}));
  const Value otherwise = given[0] ? *given[0] : integer_value(0);
  if (given[1] && !(given[1]->whole() && given[1]->as_integer() == 10))
    return fail(ErrorCode::unsupported, "int with another base than ten");
  LAPILLI_CHECK(require_defined(v));
  if (v.whole()) return integer_value(v.as_integer());
  double real = std::nan("");
  if (v.is(Kind::real)) real = v.real;
  if (v.is(Kind::text)) {
    std::string text = stripped(*v.text, Side::both);
    if (text.starts_with('+')) text.erase(0, 1);
    int64_t whole = 0;
    const char* end = text.data() + text.size();
    if (const auto r = std::from_chars(text.data(), end, whole); r.ec == std::errc() && r.ptr == end)
      return integer_value(whole);
    if (const auto r = std::from_chars(text.data(), end, real); r.ec != std::errc() || r.ptr != end)
      real = std::nan("");
  }
  return std::abs(real) < 9e18 ? integer_value(static_cast<int64_t>(real)) : otherwise;
}

Result<Value> filter_float(Interpreter&, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("float", a, {"default"}));
  LAPILLI_CHECK(require_defined(v));
  if (v.number()) return real_value(v.as_real());
  if (v.is(Kind::text)) {
    std::string text = stripped(*v.text, Side::both);
    if (text.starts_with('+')) text.erase(0, 1);
    double real = 0;
    const char* end = text.data() + text.size();
    if (const auto r = std::from_chars(text.data(), end, real); r.ec == std::errc() && r.ptr == end)
      return real_value(real);
  }
  return given[0] ? *given[0] : real_value(0);
}

// Halves go to the even digit, as in Python.
double rounded(double d, const std::string& way, double scale) {
  const double scaled = d * scale;
  if (way == "ceil") return std::ceil(scaled) / scale;
  if (way == "floor") return std::floor(scaled) / scale;
  return std::nearbyint(scaled) / scale;
}

Result<Value> filter_round(Interpreter&, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("round", a, {"precision", "method"}));
  LAPILLI_TRY(const int64_t precision, whole_or(given[0], 0, "round"));
  LAPILLI_TRY(const auto way, optional_text(given[1], "round"));
  LAPILLI_CHECK(require_defined(v));
  if (!v.number()) return fail(ErrorCode::invalid_data, "round takes a number, not a %s", type_name(v));
  const std::string method = way.value_or("common");
  if (method != "common" && method != "ceil" && method != "floor")
    return fail(ErrorCode::invalid_data, "round by common, ceil or floor");
  if (precision < -15 || precision > 15) return fail(ErrorCode::unsupported, "round to more than 15 digits");
  if (v.whole() && method == "common" && precision >= 0) return integer_value(v.as_integer());
  return real_value(rounded(v.as_real(), method, std::pow(10.0, static_cast<double>(precision))));
}

// ---- texts --------------------------------------------------------------------------------------------------------

template <std::string (*Change)(std::string_view)>
Result<Value> filter_text(Interpreter& in, const Value& v, const Arguments&) {
  LAPILLI_TRY(const std::string text, text_or_printed(in, v));
  LAPILLI_CHECK(in.heap().room_for_case(text));
  return in.heap().text(Change(text));
}

std::string unchanged(std::string_view text) { return std::string(text); }

Result<Value> filter_trim(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("trim", a, {"chars"}));
  LAPILLI_TRY(const auto which, optional_text(given[0], "trim"));
  LAPILLI_TRY(const std::string text, text_or_printed(in, v));
  LAPILLI_CHECK(in.room_to_strip(text, which));
  return in.heap().text(stripped(text, Side::both, which));
}

Result<Value> filter_replace(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("replace", a, {"old", "new", "count"}));
  if (!given[0] || !given[1]) return fail(ErrorCode::invalid_data, "replace takes an old and a new text");
  LAPILLI_TRY(const std::string text, text_or_printed(in, v));
  LAPILLI_TRY(const std::string old, text_or_printed(in, *given[0]));
  LAPILLI_TRY(const std::string fresh, text_or_printed(in, *given[1]));
  const Value* most = given[2] && !given[2]->is(Kind::none) ? given[2] : nullptr;
  LAPILLI_TRY(const int64_t count, whole_or(most, -1, "replace"));
  LAPILLI_CHECK(in.heap().search(text, old));
  const uint64_t places = text.size() / std::max<size_t>(1, old.size()) + 1;
  LAPILLI_CHECK(in.heap().room_for(text.size() + (fresh.size() > old.size() ? places * fresh.size() : 0)));
  return in.heap().text(replaced(text, old, fresh, count));
}

Result<Value> filter_center(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("center", a, {"width"}));
  LAPILLI_TRY(const int64_t width, whole_or(given[0], 80, "center"));
  LAPILLI_TRY(std::string text, text_or_printed(in, v));
  const auto size = static_cast<int64_t>(character_count(text));
  if (width <= size) return in.heap().text(std::move(text));
  LAPILLI_CHECK(in.heap().room_for(text.size() + static_cast<uint64_t>(width)));
  const int64_t missing = width - size, left = missing / 2 + (missing & width & 1);
  return in.heap().text(std::string(static_cast<size_t>(left), ' ') + text +
                        std::string(static_cast<size_t>(missing - left), ' '));
}

// "    " or the text that was given; `width` spaces.
Result<std::string> indention(Interpreter& in, const Value* width) {
  if (width && width->is(Kind::text)) return *width->text;
  LAPILLI_TRY(const int64_t count, whole_or(width, 4, "indent"));
  const auto size = static_cast<uint64_t>(std::max<int64_t>(0, count));
  LAPILLI_CHECK(in.heap().room_for(size));
  return std::string(size, ' ');
}

Result<Value> filter_indent(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("indent", a, {"width", "first", "blank"}));
  LAPILLI_TRY(const std::string blanks, indention(in, given[0]));
  LAPILLI_CHECK(require_defined(v));
  if (!v.is(Kind::text)) return fail(ErrorCode::invalid_data, "indent takes a text, not a %s", type_name(v));
  const std::string& text = *v.text;
  const bool blank_too = true_or(given[2], false);
  const size_t count = line_count(text) + 1;
  LAPILLI_CHECK(in.heap().room_for_parts(text, count));
  LAPILLI_CHECK(in.heap().room_for(text.size() + count * (blanks.size() + 1)));
  const auto lines = split_lines(text + "\n", false);
  std::string out = true_or(given[1], false) ? blanks : "";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += "\n";
    if (i > 0 && (blank_too || !lines[i].empty())) out += blanks;
    out += lines[i];
  }
  return in.heap().text(std::move(out));
}

Result<Value> filter_wordcount(Interpreter& in, const Value& v, const Arguments&) {
  LAPILLI_TRY(const std::string text, text_or_printed(in, v));
  return integer_value(static_cast<int64_t>(word_count(text)));
}

Result<Value> filter_format(Interpreter& in, const Value& v, const Arguments& a) {
  if (!a.named.empty()) return fail(ErrorCode::unsupported, "format with names");
  LAPILLI_TRY(const std::string text, text_or_printed(in, v));
  return in.formatted(text, a.positional);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

Result<JsonForm> json_form(const Bound& given) {
  JsonForm form;
  form.ascii = true_or(given[0], false);
  form.sorted = true_or(given[3], false);
  if (const Value* indent = given[1]; indent && !indent->is(Kind::none)) {
    form.lines = true;
    form.comma = ",";
    LAPILLI_TRY(const int64_t width, indent->is(Kind::text) ? Result<int64_t>(0) : whole_or(indent, 0, "tojson"));
    form.indent = indent->is(Kind::text) ? *indent->text : std::string(std::clamp<int64_t>(width, 0, 64), ' ');
  }
  if (const Value* s = given[2]; s && !s->is(Kind::none)) {
    const bool two = s->is(Kind::list) && s->list->items.size() == 2 && s->list->items[0].is(Kind::text) &&
                     s->list->items[1].is(Kind::text);
    if (!two) return fail(ErrorCode::invalid_data, "the separators of tojson are two texts");
    form.comma = *s->list->items[0].text;
    form.colon = *s->list->items[1].text;
  }
  return form;
}

Result<Value> filter_tojson(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("tojson", a, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  LAPILLI_TRY(const JsonForm form, json_form(given));
  LAPILLI_TRY(std::string text, to_json(in.heap(), v, form));
  return in.heap().text(std::move(text));
}

// ---- any value ----------------------------------------------------------------------------------------------------

Result<Value> filter_default(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("default", a, {"default_value", "boolean"}));
  if (v.defined() && (!true_or(given[1], false) || is_true(v))) return v;
  return given[0] ? Result<Value>(*given[0]) : in.heap().text({});
}

Result<Value> filter_safe(Interpreter& in, const Value& v, const Arguments& a) {
  return filter_text<unchanged>(in, v, a);
}

Result<Value> filter_attr(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("attr", a, {"name"}));
  if (!given[0] || !given[0]->is(Kind::text)) return fail(ErrorCode::invalid_data, "attr takes a name");
  LAPILLI_CHECK(require_defined(v));
  // Members of a dict are no attributes.
  if (v.is(Kind::dict) && !has_method(v, *given[0]->text)) return in.heap().undefined("the dict has no such attribute");
  return in.attribute(v, *given[0]->text);
}

Result<Value> filter_length(Interpreter&, const Value& v, const Arguments&) {
  switch (v.kind) {
    case Kind::undefined: return integer_value(0);
    case Kind::text: return integer_value(static_cast<int64_t>(character_count(*v.text)));
    case Kind::dict: return integer_value(static_cast<int64_t>(v.dict->entries.size()));
    case Kind::list:
      if (v.list->flavor != Flavor::generator) return integer_value(static_cast<int64_t>(v.list->items.size()));
      break;
    case Kind::loop: return integer_value(static_cast<int64_t>(v.loop->items->size()));
    default: break;
  }
  return fail(ErrorCode::invalid_data, "a %s has no length", type_name(v));
}

// ---- lists --------------------------------------------------------------------------------------------------------

// The value to which an attribute such as "function.name" or 0 leads.
Result<Value> followed(Interpreter& in, Value v, const Value& path) {
  if (!path.is(Kind::text)) return in.item(v, path);
  LAPILLI_CHECK(in.heap().look_through(*path.text));
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    LAPILLI_CHECK(in.heap().step());
    end = path.text->find('.', begin);
    const std::string part = path.text->substr(begin, end == std::string::npos ? end : end - begin);
    const bool digits = !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == std::string::npos;
    LAPILLI_TRY(const Value name, digits ? Result<Value>(integer_value(std::stoi(part))) : in.heap().text(part));
    LAPILLI_TRY(v, in.item(v, name));
  }
  return v;
}

// The value by which lists are sorted and compared: of an attribute, texts in lower case unless case counts.
Result<Value> sort_key(Interpreter& in, const Value& v, const Value* attribute, bool exact) {
  Value key = v;
  if (attribute && !attribute->is(Kind::none)) {
    LAPILLI_TRY(key, followed(in, v, *attribute));
  }
  if (exact || !key.is(Kind::text)) return key;
  LAPILLI_CHECK(in.heap().room_for_case(*key.text));
  return in.heap().text(lower(*key.text));
}

struct Keyed {
  Value key, value;
};

Result<std::vector<Keyed>> keyed_items(Interpreter& in, const Value& v, const Value* attribute, bool exact) {
  LAPILLI_TRY(const auto items, in.items_of(v));
  LAPILLI_CHECK(in.heap().room_for(2 * items.size() * sizeof(Keyed)));  // sorting takes as much again
  std::vector<Keyed> all;
  for (const Value& item : items) {
    LAPILLI_TRY(const Value key, sort_key(in, item, attribute, exact));
    all.push_back({key, item});
  }
  return all;
}

// Sorts by merging, so that an order that contradicts itself (NaN) does no harm.
Status sort_keyed(Interpreter& in, std::vector<Keyed>& all, bool reverse) {
  Status bad;
  const auto before = [&](const Keyed& a, const Keyed& b) {
    if (!bad.ok()) return false;
    const auto order = compare(in.heap(), a.key, b.key);
    if (!order) bad = order.error();
    return order && *order < 0;
  };
  std::vector<Keyed> room(all.size());
  for (size_t width = 1; width < all.size(); width *= 2) {
    for (size_t begin = 0; begin < all.size(); begin += 2 * width) {
      const auto at = [&](size_t i) { return all.begin() + static_cast<ptrdiff_t>(std::min(i, all.size())); };
      const auto out = room.begin() + static_cast<ptrdiff_t>(begin);
      const auto swapped = [&](const Keyed& a, const Keyed& b) { return before(b, a); };
      if (reverse)
        std::merge(at(begin), at(begin + width), at(begin + width), at(begin + 2 * width), out, swapped);
      else
        std::merge(at(begin), at(begin + width), at(begin + width), at(begin + 2 * width), out, before);
    }
    all.swap(room);
  }
  return bad;
}

Result<Value> list_of_values(Interpreter& in, const std::vector<Keyed>& all) {
  std::vector<Value> items;
  for (const Keyed& k : all) items.push_back(k.value);
  return in.heap().list(std::move(items));
}

Result<Value> filter_sort(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("sort", a, {"reverse", "case_sensitive", "attribute"}));
  LAPILLI_TRY(auto all, keyed_items(in, v, given[2], true_or(given[1], false)));
  LAPILLI_CHECK(sort_keyed(in, all, true_or(given[0], false)));
  return list_of_values(in, all);
}

Result<Value> filter_dictsort(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("dictsort", a, {"case_sensitive", "by", "reverse"}));
  LAPILLI_CHECK(require_defined(v));
  if (!v.is(Kind::dict)) return fail(ErrorCode::invalid_data, "dictsort takes a dict, not a %s", type_name(v));
  LAPILLI_TRY(const auto by, optional_text(given[1], "dictsort"));
  std::vector<Keyed> all;
  for (const auto& [key, value] : v.dict->entries) {
    LAPILLI_TRY(const Value pair, in.heap().list({key, value}, Flavor::tuple));
    LAPILLI_TRY(const Value k, sort_key(in, by == "value" ? value : key, nullptr, true_or(given[0], false)));
    all.push_back({k, pair});
  }
  LAPILLI_CHECK(sort_keyed(in, all, true_or(given[2], false)));
  return list_of_values(in, all);
}

Result<Value> filter_unique(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("unique", a, {"case_sensitive", "attribute"}));
  LAPILLI_TRY(const auto all, keyed_items(in, v, given[1], true_or(given[0], false)));
  std::map<std::string, bool> seen;
  std::vector<Value> items;
  for (const Keyed& k : all) {
    if (k.key.is(Kind::text)) LAPILLI_CHECK(in.heap().look_through(*k.key.text));
    LAPILLI_TRY(std::string place, key_of(k.key));
    if (seen.try_emplace(std::move(place), true).second) items.push_back(k.value);
  }
  return in.heap().list(std::move(items), Flavor::generator);
}

Result<Value> extreme(Interpreter& in, const Value& v, const Arguments& a, int sign) {
  LAPILLI_TRY(const Bound given, bind("min and max", a, {"case_sensitive", "attribute"}));
  LAPILLI_TRY(const auto all, keyed_items(in, v, given[1], true_or(given[0], false)));
  if (all.empty()) return in.heap().undefined("No aggregated item, sequence was empty.");
  size_t best = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    LAPILLI_TRY(const int order, compare(in.heap(), all[i].key, all[best].key));
    if (order * sign > 0) best = i;
  }
  return all[best].value;
}

Result<Value> filter_max(Interpreter& in, const Value& v, const Arguments& a) { return extreme(in, v, a, 1); }
Result<Value> filter_min(Interpreter& in, const Value& v, const Arguments& a) { return extreme(in, v, a, -1); }

Result<Value> filter_sum(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("sum", a, {"attribute", "start"}));
  LAPILLI_TRY(const auto all, keyed_items(in, v, given[0], true));
  Value sum = given[1] ? *given[1] : integer_value(0);
  for (const Keyed& k : all) {
    LAPILLI_TRY(sum, in.add(sum, k.key));
  }
  return sum;
}

Result<Value> filter_first(Interpreter& in, const Value& v, const Arguments&) {
  LAPILLI_TRY(const auto items, in.items_of(v));
  return items.empty() ? in.heap().undefined("No first item, sequence was empty.") : Result<Value>(items.front());
}

Result<Value> filter_last(Interpreter& in, const Value& v, const Arguments&) {
  if (v.is(Kind::list) && v.list->flavor == Flavor::generator)
    return fail(ErrorCode::invalid_data, "last takes no generator");
  LAPILLI_TRY(const auto items, in.items_of(v));
  return items.empty() ? in.heap().undefined("No last item, sequence was empty.") : Result<Value>(items.back());
}

Result<Value> filter_list(Interpreter& in, const Value& v, const Arguments&) {
  LAPILLI_TRY(auto items, in.items_of(v));
  return in.heap().list(std::move(items));
}

Result<Value> filter_reverse(Interpreter& in, const Value& v, const Arguments&) {
  LAPILLI_TRY(auto items, in.items_of(v));
  std::reverse(items.begin(), items.end());
  if (!v.is(Kind::text)) return in.heap().list(std::move(items), Flavor::generator);
  std::string text;
  for (const Value& c : items) text += *c.text;
  return in.heap().text(std::move(text));
}

Result<Value> filter_join(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("join", a, {"d", "attribute"}));
  LAPILLI_TRY(const auto all, keyed_items(in, v, given[1], true));
  std::string between, out;
  if (given[0]) {
    LAPILLI_TRY(between, text_or_printed(in, *given[0]));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    LAPILLI_TRY(const std::string part, text_or_printed(in, all[i].key));
    LAPILLI_CHECK(in.heap().room_for(out.size() + between.size() + part.size()));
    out.append(i ? between : "").append(part);
  }
  return in.heap().text(std::move(out));
}

Result<Value> filter_items(Interpreter& in, const Value& v, const Arguments&) {
  std::vector<Value> pairs;
  if (v.defined() && !v.is(Kind::dict))
    return fail(ErrorCode::invalid_data, "items takes a dict, not a %s", type_name(v));
  if (v.defined())
    for (const auto& [key, value] : v.dict->entries) {
      LAPILLI_TRY(const Value pair, in.heap().list({key, value}, Flavor::tuple));
      pairs.push_back(pair);
    }
  return in.heap().list(std::move(pairs), Flavor::generator);
}

Result<Value> filter_batch(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("batch", a, {"linecount", "fill_with"}));
  LAPILLI_TRY(const int64_t count, whole_or(given[0], 0, "batch"));
  if (count < 1 || count > 1 << 20) return fail(ErrorCode::invalid_data, "batch takes a number of items");
  LAPILLI_TRY(const auto items, in.items_of(v));
  std::vector<Value> rows;
  for (size_t begin = 0; begin < items.size(); begin += static_cast<size_t>(count)) {
    const size_t end = std::min(items.size(), begin + static_cast<size_t>(count));
    std::vector<Value> row(items.begin() + static_cast<ptrdiff_t>(begin), items.begin() + static_cast<ptrdiff_t>(end));
    if (given[1] && !given[1]->is(Kind::none)) row.resize(static_cast<size_t>(count), *given[1]);
    LAPILLI_TRY(const Value made, in.heap().list(std::move(row)));
    rows.push_back(made);
  }
  return in.heap().list(std::move(rows), Flavor::generator);
}

// ---- filters that take filters and tests --------------------------------------------------------------------------

// The arguments behind the first `count`.
Arguments rest_of(const Arguments& a, size_t count) {
  return {{a.positional.begin() + static_cast<ptrdiff_t>(std::min(count, a.positional.size())), a.positional.end()},
          a.named};
}

Result<Value> map_attribute(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Bound given, bind("map", a, {"attribute", "default"}));
  LAPILLI_TRY(const auto items, in.items_of(v));
  std::vector<Value> all;
  for (const Value& item : items) {
    LAPILLI_TRY(Value found, followed(in, item, *given[0]));
    if (!found.defined() && given[1]) found = *given[1];
    all.push_back(found);
  }
  return in.heap().list(std::move(all), Flavor::generator);
}

Result<Value> filter_map(Interpreter& in, const Value& v, const Arguments& a) {
  if (a.positional.empty()) {
    if (a.named.empty() || a.named.front().first != "attribute")
      return fail(ErrorCode::invalid_data, "map takes the name of a filter or an attribute");
    return is_true(v) ? map_attribute(in, v, a) : in.heap().list({}, Flavor::generator);
  }
  if (!is_true(v)) return in.heap().list({}, Flavor::generator);  // whatever it is
  const Value& name = a.positional.front();
  const Filter filter = name.is(Kind::text) ? find_filter(*name.text) : nullptr;
  if (!filter) return fail(ErrorCode::unsupported, "map takes the name of a filter that is known");
  if (filter == filter_map) return fail(ErrorCode::unsupported, "map of map: write a loop instead");
  const Arguments rest = rest_of(a, 1);
  LAPILLI_TRY(const auto items, in.items_of(v));
  std::vector<Value> all;
  for (const Value& item : items) {
    LAPILLI_CHECK(in.heap().step());
    LAPILLI_CHECK(look_through(in.heap(), item, rest));
    LAPILLI_TRY(const Value made, filter(in, item, rest));
    all.push_back(made);
  }
  return in.heap().list(std::move(all), Flavor::generator);
}

// Keeps the items that pass, or do not; with an attribute, the items whose attribute does.
Result<Value> chosen(Interpreter& in, const Value& v, const Arguments& a, bool passing, bool by_attribute) {
  if (!is_true(v)) return in.heap().list({}, Flavor::generator);
  if (by_attribute && a.positional.empty()) return fail(ErrorCode::invalid_data, "the name of an attribute is missing");
  const size_t first = by_attribute ? 1 : 0;
  Test test = nullptr;
  if (a.positional.size() > first) {
    const Value& name = a.positional[first];
    test = name.is(Kind::text) ? find_test(*name.text) : nullptr;
    if (!test) return fail(ErrorCode::unsupported, "a test that is not known chooses items");
  }
  LAPILLI_TRY(const auto items, in.items_of(v));
  const Arguments rest = rest_of(a, first + 1);
  std::vector<Value> kept;
  for (const Value& item : items) {
    LAPILLI_CHECK(in.heap().step());
    LAPILLI_TRY(const Value judged, by_attribute ? followed(in, item, a.positional[0]) : Result<Value>(item));
    LAPILLI_CHECK(look_through(in.heap(), judged, rest));
    LAPILLI_TRY(const bool passes, test ? test(in, judged, rest) : Result<bool>(is_true(judged)));
    if (passes == passing) kept.push_back(item);
  }
  return in.heap().list(std::move(kept), Flavor::generator);
}

Result<Value> filter_select(Interpreter& in, const Value& v, const Arguments& a) {
  return chosen(in, v, a, true, false);
}
Result<Value> filter_reject(Interpreter& in, const Value& v, const Arguments& a) {
  return chosen(in, v, a, false, false);
}
Result<Value> filter_selectattr(Interpreter& in, const Value& v, const Arguments& a) {
  return chosen(in, v, a, true, true);
}
Result<Value> filter_rejectattr(Interpreter& in, const Value& v, const Arguments& a) {
  return chosen(in, v, a, false, true);
}

struct NamedFilter {
  std::string_view name;
  Filter filter;
};
constexpr NamedFilter kFilters[] = {
    {"abs", filter_abs},
    {"attr", filter_attr},
    {"batch", filter_batch},
    {"capitalize", filter_text<capitalized>},
    {"center", filter_center},
    {"count", filter_length},
    {"d", filter_default},
    {"default", filter_default},
    {"dictsort", filter_dictsort},
    {"e", filter_text<escaped>},
    {"escape", filter_text<escaped>},
    {"first", filter_first},
    {"float", filter_float},
    {"format", filter_format},
    {"indent", filter_indent},
    {"int", filter_int},
    {"items", filter_items},
    {"join", filter_join},
    {"last", filter_last},
    {"length", filter_length},
    {"list", filter_list},
    {"lower", filter_text<lower>},
    {"map", filter_map},
    {"max", filter_max},
    {"min", filter_min},
    {"reject", filter_reject},
    {"rejectattr", filter_rejectattr},
    {"replace", filter_replace},
    {"reverse", filter_reverse},
    {"round", filter_round},
    {"safe", filter_safe},
    {"select", filter_select},
    {"selectattr", filter_selectattr},
    {"sort", filter_sort},
    {"string", filter_text<unchanged>},
    {"sum", filter_sum},
    {"title", filter_text<title_by_words>},
    {"tojson", filter_tojson},
    {"trim", filter_trim},
    {"unique", filter_unique},
    {"upper", filter_text<upper>},
    {"wordcount", filter_wordcount},
};

}  // namespace

Filter find_filter(std::string_view name) {
  for (const NamedFilter& f : kFilters)
    if (f.name == name) return f.filter;
  return nullptr;
}

Status look_through(Heap& heap, const Value& self, const Arguments& arguments) {
  LAPILLI_CHECK(heap.step(1 + (arguments.positional.size() + arguments.named.size()) / 8));
  if (self.is(Kind::text)) LAPILLI_CHECK(heap.look_through(*self.text));
  for (const Value& v : arguments.positional)
    if (v.is(Kind::text)) LAPILLI_CHECK(heap.look_through(*v.text));
  for (const auto& [name, v] : arguments.named)
    if (v.is(Kind::text)) LAPILLI_CHECK(heap.look_through(*v.text));
  return {};
}

Result<Bound> bind(std::string_view what, const Arguments& arguments, std::initializer_list<const char*> names) {
  Bound bound{};
  if (arguments.positional.size() > names.size())
    return fail(ErrorCode::invalid_data, "%s takes at most %u arguments", what, names.size());
  for (size_t i = 0; i < arguments.positional.size(); ++i) bound[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return fail(ErrorCode::invalid_data, "%s takes no argument \"%s\"", what, name);
    bound[static_cast<size_t>(at - names.begin())] = &value;
  }
  return bound;
}

}  // namespace lapilli::jinja
