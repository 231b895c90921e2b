// Operators on numbers, texts and lists.
#include <cmath>

#include "jinja/interpreter.hpp"
#include "jinja/python_text.hpp"

namespace lapilli::jinja {

namespace {

Failure too_large() { return fail(ErrorCode::unsupported, "a number does not fit 64 bits"); }

Result<Value> whole_sum(int64_t a, int64_t b) {
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return too_large();
  return integer_value(a + b);
}

Result<Value> whole_difference(int64_t a, int64_t b) {
  if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b) return too_large();
  return integer_value(a - b);
}

bool product_fits(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return true;
  if (a == INT64_MIN || b == INT64_MIN) return a == 1 || b == 1;
  return std::abs(a) <= INT64_MAX / std::abs(b);
}

Result<Value> whole_product(int64_t a, int64_t b) {
  return product_fits(a, b) ? Result<Value>(integer_value(a * b)) : Result<Value>(too_large());
}

// Rounded down, as Python does; the rest takes the sign of `b`.
Result<Value> whole_quotient(int64_t a, int64_t b, bool rest) {
  if (b == -1) return rest ? Result<Value>(integer_value(0)) : whole_difference(0, a);
  const int64_t down = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  return integer_value(rest ? a - down * b : down);
}

Value real_quotient(double a, double b, bool rest) {
  double left = std::fmod(a, b);
  if (left != 0 && (left < 0) != (b < 0)) left += b;
  if (rest) return real_value(left == 0 ? std::copysign(0.0, b) : left);
  return real_value(std::round((a - left) / b));
}

Result<Value> whole_power(int64_t a, int64_t b) {
  int64_t value = 1;
  if (a == 0 || a == 1) return integer_value(b == 0 ? 1 : a);
  if (a == -1) return integer_value(b % 2 ? -1 : 1);
  for (int64_t i = 0; i < b; ++i) {
    if (!product_fits(value, a)) return too_large();
    value *= a;
  }
  return integer_value(value);
}

Failure no_operator(const std::string& mark, const Value& a, const Value& b) {
  return fail(ErrorCode::invalid_data, "no \"%s\" of a %s and a %s", mark, type_name(a), type_name(b));
}

bool joins(const Value& a, const Value& b) {
  return a.is(Kind::list) && b.is(Kind::list) && a.list->flavor == b.list->flavor && a.list->flavor <= Flavor::tuple;
}

}  // namespace

Result<Value> Interpreter::add(const Value& a, const Value& b) {
  LAPILLI_CHECK(require_defined(a));
  LAPILLI_CHECK(require_defined(b));
  if (a.whole() && b.whole()) return whole_sum(a.as_integer(), b.as_integer());
  if (a.number() && b.number()) return real_value(a.as_real() + b.as_real());
  if (a.is(Kind::text) && b.is(Kind::text)) {
    LAPILLI_CHECK(heap_.room_for(a.text->size() + b.text->size()));
    return heap_.text(*a.text + *b.text);
  }
  if (!joins(a, b)) return no_operator("+", a, b);
  LAPILLI_CHECK(heap_.room_for((a.list->items.size() + b.list->items.size()) * sizeof(Value)));
  std::vector<Value> items = a.list->items;
  items.insert(items.end(), b.list->items.begin(), b.list->items.end());
  return heap_.list(std::move(items), a.list->flavor);
}

Result<Value> Interpreter::repeated(const Value& what, int64_t times) {
  const uint64_t size = what.is(Kind::text) ? what.text->size() : what.list->items.size() * sizeof(Value);
  const uint64_t count = times > 0 && size > 0 ? static_cast<uint64_t>(times) : 0;
  if (count > 0 && count > UINT64_MAX / size) return too_large();
  LAPILLI_CHECK(heap_.room_for(count * size));
  if (what.is(Kind::text)) {
    std::string text;
    for (uint64_t i = 0; i < count; ++i) text += *what.text;
    return heap_.text(std::move(text));
  }
  std::vector<Value> items;
  for (uint64_t i = 0; i < count; ++i) items.insert(items.end(), what.list->items.begin(), what.list->items.end());
  return heap_.list(std::move(items), what.list->flavor);
}

Result<Value> Interpreter::multiply(const Value& a, const Value& b) {
  if (a.whole() && b.whole()) return whole_product(a.as_integer(), b.as_integer());
  if (a.number() && b.number()) return real_value(a.as_real() * b.as_real());
  const auto repeats = [](const Value& v) {
    return v.is(Kind::text) || (v.is(Kind::list) && v.list->flavor <= Flavor::tuple);
  };
  if (repeats(a) && b.whole()) return repeated(a, b.as_integer());
  if (repeats(b) && a.whole()) return repeated(b, a.as_integer());
  return no_operator("*", a, b);
}

Result<Value> Interpreter::eval_sign(const Node& n, Scope& scope) {
  LAPILLI_TRY(const Value v, eval(*n.children[0], scope));
  LAPILLI_CHECK(require_defined(v));
  if (!v.number()) return fail(ErrorCode::invalid_data, "a sign before a %s", type_name(v));
  if (n.form == Form::plus) return v.whole() ? integer_value(v.as_integer()) : v;
  return v.whole() ? whole_difference(0, v.as_integer()) : Result<Value>(real_value(-v.real));
}

Result<Value> Interpreter::eval_math(const Node& n, Scope& scope) {
  LAPILLI_TRY(const Value a, eval(*n.children[0], scope));
  LAPILLI_TRY(const Value b, eval(*n.children[1], scope));
  const std::string& mark = n.name;
  if (mark == "+") return add(a, b);
  LAPILLI_CHECK(require_defined(a));
  if (mark == "%" && a.is(Kind::text)) {
    const bool several = b.is(Kind::list) && b.list->flavor == Flavor::tuple;
    return formatted(*a.text, several ? b.list->items : std::vector<Value>{b});
  }
  LAPILLI_CHECK(require_defined(b));
  if (mark == "*") return multiply(a, b);
  if (!a.number() || !b.number()) return no_operator(mark, a, b);
  const bool whole = a.whole() && b.whole();
  if (mark == "-")
    return whole ? whole_difference(a.as_integer(), b.as_integer())
                 : Result<Value>(real_value(a.as_real() - b.as_real()));
  if (mark == "**")
    return whole && b.as_integer() >= 0 ? whole_power(a.as_integer(), b.as_integer())
                                        : Result<Value>(real_value(std::pow(a.as_real(), b.as_real())));
  if (b.as_real() == 0) return fail(ErrorCode::invalid_data, "a division by zero");
  if (mark == "/") return real_value(a.as_real() / b.as_real());
  if (whole) return whole_quotient(a.as_integer(), b.as_integer(), mark == "%");
  return real_quotient(a.as_real(), b.as_real(), mark == "%");
}

// ---- printf -------------------------------------------------------------------------------------------------------

namespace {

struct Format {
  std::string flags;
  uint64_t width = 0;
  std::optional<uint64_t> precision;
  char letter = 0;

  [[nodiscard]] bool has(char flag) const { return flags.find(flag) != std::string::npos; }
  // To the width, with zeros behind the sign where they are asked for.
  [[nodiscard]] std::string widened(std::string text, bool number) const {
    const size_t count = character_count(text);
    if (count >= width) return text;
    const size_t missing = width - count;
    if (has('-')) return text.append(missing, ' ');
    const bool zeros = number && has('0');
    return text.insert(zeros && !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0, missing,
                       zeros ? '0' : ' ');
  }
};

uint64_t take_number(const std::string& pattern, size_t& at) {
  uint64_t number = 0;
  for (; at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9'; ++at)
    number = std::min<uint64_t>(number * 10 + static_cast<uint64_t>(pattern[at] - '0'), 1u << 30);
  return number;
}

// `at`: behind the percent sign.
Result<Format> take_format(const std::string& pattern, size_t& at) {
  Format f;
  for (; at < pattern.size() && std::string_view("-+ 0#").find(pattern[at]) != std::string_view::npos; ++at)
    f.flags += pattern[at];
  f.width = take_number(pattern, at);
  if (at < pattern.size() && pattern[at] == '.') f.precision = take_number(pattern, ++at);
  if (at == pattern.size()) return fail(ErrorCode::invalid_data, "a format ends behind %%");
  f.letter = pattern[at++];
  return f;
}

Result<std::string> whole_text(const Value& v, const Format& f) {
  if (!v.number()) return fail(ErrorCode::invalid_data, "%%%c takes a number, not a %s", f.letter, type_name(v));
  if (!v.whole() && !(std::abs(v.real) < 9e18)) return fail(ErrorCode::unsupported, "a number does not fit %%d");
  const int64_t i = v.whole() ? v.as_integer() : static_cast<int64_t>(v.real);
  const uint64_t size = i < 0 ? uint64_t{0} - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
  std::string digits = f.letter == 'x' ? format("%x", size) : f.letter == 'X' ? format("%X", size) : format("%u", size);
  if (f.precision && digits.size() < *f.precision) digits.insert(0, *f.precision - digits.size(), '0');
  return (i < 0 ? "-" : f.has('+') ? "+" : f.has(' ') ? " " : "") + digits;
}

Result<std::string> real_text(const Value& v, const Format& f) {
  if (!v.number()) return fail(ErrorCode::invalid_data, "%%%c takes a number, not a %s", f.letter, type_name(v));
  const int digits = static_cast<int>(std::min<uint64_t>(f.precision.value_or(6), 40));
  const double d = v.as_real();
  std::string text = f.letter == 'e'   ? format("%.*e", digits, d)
                     : f.letter == 'g' ? format("%.*g", digits, d)
                                       : format("%.*f", digits, d);
  return (text[0] != '-' && f.has('+') ? "+" : "") + text;
}

}  // namespace

Result<Value> Interpreter::formatted(const std::string& pattern, const std::vector<Value>& values) {
  LAPILLI_CHECK(heap_.look_through(pattern));
  std::string out;
  size_t used = 0;
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '%') {
      out += pattern[at++];
      continue;
    }
    LAPILLI_TRY(const Format f, take_format(pattern, ++at));
    LAPILLI_CHECK(heap_.room_for(out.size() + f.width + f.precision.value_or(0)));
    if (f.letter == '%') {
      out += '%';
      continue;
    }
    if (used == values.size()) return fail(ErrorCode::invalid_data, "a format has fewer values than places");
    const Value& v = values[used++];
    LAPILLI_CHECK(heap_.step(1 + (v.is(Kind::text) ? v.text->size() / 64 : 0)));
    Result<std::string> text = std::string();
    switch (f.letter) {
      case 's': text = printed(heap_, v); break;
      case 'r': text = quoted(heap_, v); break;
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X': text = whole_text(v, f); break;
      case 'f':
      case 'F':
      case 'e':
      case 'g': text = real_text(v, f); break;
      default: return fail(ErrorCode::unsupported, "the format %%%c is not known", f.letter);
    }
    LAPILLI_TRY(std::string one, std::move(text));
    if (f.precision && (f.letter == 's' || f.letter == 'r')) one.resize(character_start(one, *f.precision));
    out += f.widened(std::move(one), f.letter != 's' && f.letter != 'r');
    LAPILLI_CHECK(heap_.room_for(out.size()));
  }
  // A dict or a list may be looked into by a format, and need not be.
  const bool looked_into = values.size() == 1 && (values[0].is(Kind::dict) || values[0].is(Kind::list));
  if (used < values.size() && !looked_into)
    return fail(ErrorCode::invalid_data, "a format has more values than places");
  return heap_.text(std::move(out));
}

}  // namespace lapilli::jinja
