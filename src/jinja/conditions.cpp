// The tests of jinja2: what may stand behind "is".
#include <cmath>

#include "jinja/interpreter.hpp"
#include "jinja/python_text.hpp"

namespace lapilli::jinja {

namespace {

template <Kind K>
Result<bool> is_kind(Interpreter&, const Value& v, const Arguments&) {
  return v.is(K);
}

Result<bool> is_defined(Interpreter&, const Value& v, const Arguments&) { return v.defined(); }
Result<bool> is_number_value(Interpreter&, const Value& v, const Arguments&) { return v.number(); }
Result<bool> is_mapping(Interpreter&, const Value& v, const Arguments&) { return v.is(Kind::dict); }
Result<bool> is_never(Interpreter&, const Value&, const Arguments&) { return false; }
Result<bool> is_true_value(Interpreter&, const Value& v, const Arguments&) { return v.is(Kind::boolean) && v.boolean; }
Result<bool> is_false_value(Interpreter&, const Value& v, const Arguments&) {
  return v.is(Kind::boolean) && !v.boolean;
}

Result<bool> is_sequence(Interpreter&, const Value& v, const Arguments&) {
  if (v.is(Kind::list)) return v.list->flavor < Flavor::view;
  return v.is(Kind::text) || v.is(Kind::dict) || v.is(Kind::undefined);
}

Result<bool> is_iterable(Interpreter&, const Value& v, const Arguments&) {
  return v.is(Kind::list) || v.is(Kind::text) || v.is(Kind::dict) || v.is(Kind::undefined) || v.is(Kind::loop);
}

// The rest of a division of numbers, as Python's % gives it.
Result<double> rest_of(const Value& v, double by, const char* what) {
  LAPILLI_CHECK(require_defined(v));
  if (!v.number()) return fail(ErrorCode::invalid_data, "%s is asked of a %s", what, type_name(v));
  if (by == 0) return fail(ErrorCode::invalid_data, "a division by zero");
  if (v.whole() && std::floor(by) == by && std::abs(by) < 9e15)
    return by == -1 ? 0.0 : static_cast<double>(v.as_integer() % static_cast<int64_t>(by));
  return std::fmod(v.as_real(), by);
}

Result<bool> is_odd(Interpreter&, const Value& v, const Arguments&) {
  LAPILLI_TRY(const double rest, rest_of(v, 2, "odd"));
  return std::abs(rest) == 1;
}

Result<bool> is_even(Interpreter&, const Value& v, const Arguments&) {
  LAPILLI_TRY(const double rest, rest_of(v, 2, "even"));
  return rest == 0;
}

Result<const Value*> operand(const Arguments& a, const char* what) {
  LAPILLI_TRY(const Bound given, bind(what, a, {"other"}));
  if (!given[0]) return fail(ErrorCode::invalid_data, "the test %s compares with a value, which is missing", what);
  return given[0];
}

Result<bool> is_divisible(Interpreter&, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Value* by, operand(a, "divisibleby"));
  if (!by->number()) return fail(ErrorCode::invalid_data, "divisibleby takes a number, not a %s", type_name(*by));
  LAPILLI_TRY(const double rest, rest_of(v, by->as_real(), "divisibleby"));
  return rest == 0;
}

Result<bool> is_equal(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Value* other, operand(a, "equalto"));
  return equal(in.heap(), v, *other);
}

Result<bool> is_different(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const bool same, is_equal(in, v, a));
  return !same;
}

template <bool (*Holds)(int)>
Result<bool> is_ordered(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Value* other, operand(a, "of an order"));
  LAPILLI_TRY(const int order, compare(in.heap(), v, *other));
  return Holds(order);
}

bool below(int order) { return order < 0; }
bool not_above(int order) { return order <= 0; }
bool above(int order) { return order > 0; }
bool not_below(int order) { return order >= 0; }

Result<bool> is_in(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Value* all, operand(a, "in"));
  return in.contains(*all, v);
}

// The same object: for what is not compared by its value, the value.
Result<bool> is_same(Interpreter& in, const Value& v, const Arguments& a) {
  LAPILLI_TRY(const Value* other, operand(a, "sameas"));
  if (v.kind != other->kind) return false;
  if (v.is(Kind::list)) return v.list == other->list;
  if (v.is(Kind::dict)) return v.dict == other->dict;
  return equal(in.heap(), v, *other);
}

Result<std::string> text_to_judge(Interpreter& in, const Value& v) {
  LAPILLI_TRY(std::string text, printed(in.heap(), v));
  LAPILLI_CHECK(in.heap().room_for_case(text));
  return text;
}

Result<bool> is_lower(Interpreter& in, const Value& v, const Arguments&) {
  LAPILLI_TRY(const std::string text, text_to_judge(in, v));
  return lower(text) == text && upper(text) != text;
}

Result<bool> is_upper(Interpreter& in, const Value& v, const Arguments&) {
  LAPILLI_TRY(const std::string text, text_to_judge(in, v));
  return upper(text) == text && lower(text) != text;
}

Result<bool> is_undefined(Interpreter&, const Value& v, const Arguments&) { return !v.defined(); }

Result<bool> is_filter(Interpreter&, const Value& v, const Arguments&) {
  return v.is(Kind::text) && find_filter(*v.text) != nullptr;
}

Result<bool> is_test(Interpreter&, const Value& v, const Arguments&) {
  return v.is(Kind::text) && find_test(*v.text) != nullptr;
}

struct NamedTest {
  std::string_view name;
  Test test;
};
constexpr NamedTest kTests[] = {
    {"boolean", is_kind<Kind::boolean>},
    {"callable", is_kind<Kind::function>},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"escaped", is_never},
    {"even", is_even},
    {"false", is_false_value},
    {"filter", is_filter},
    {"float", is_kind<Kind::real>},
    {"ge", is_ordered<not_below>},
    {"greaterthan", is_ordered<above>},
    {"gt", is_ordered<above>},
    {"in", is_in},
    {"integer", is_kind<Kind::integer>},
    {"iterable", is_iterable},
    {"le", is_ordered<not_above>},
    {"lessthan", is_ordered<below>},
    {"lower", is_lower},
    {"lt", is_ordered<below>},
    {"mapping", is_mapping},
    {"ne", is_different},
    {"none", is_kind<Kind::none>},
    {"number", is_number_value},
    {"odd", is_odd},
    {"sameas", is_same},
    {"sequence", is_sequence},
    {"string", is_kind<Kind::text>},
    {"test", is_test},
    {"true", is_true_value},
    {"undefined", is_undefined},
    {"upper", is_upper},
    {"!=", is_different},
    {"<", is_ordered<below>},
    {"<=", is_ordered<not_above>},
    {"==", is_equal},
    {">", is_ordered<above>},
    {">=", is_ordered<not_below>},
};

}  // namespace

Test find_test(std::string_view name) {
  for (const NamedTest& t : kTests)
    if (t.name == name) return t.test;
  return nullptr;
}

}  // namespace lapilli::jinja
