// Formats messages with printf's conversions, but without its length modifiers. Values keep their types, so that "%u"
// takes every integer and "%s" every string; a pattern that does not fit its values does not compile.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace lapilli {

class FormatValue {
 public:
  enum class Kind : uint8_t { integer, natural, real, text };

  template <std::integral T>
  FormatValue(T value) : kind_(std::is_signed_v<T> ? Kind::integer : Kind::natural) {  // NOLINT: implicit on purpose
    if constexpr (std::is_signed_v<T>)
      integer_ = value;
    else
      natural_ = value;
  }
  template <class T>
  requires(std::is_enum_v<T>&& std::is_convertible_v<T, int64_t>) FormatValue(T value)
      : kind_(Kind::integer), integer_(value) {}                                                               // NOLINT
  FormatValue(double value) : kind_(Kind::real), real_(value) {}                                               // NOLINT
  FormatValue(const char* value) : FormatValue(value ? std::string_view(value) : std::string_view("null")) {}  // NOLINT
  template <class T>
  requires requires(const T& value) {
    { value.c_str() } -> std::convertible_to<const char*>;
  }
  FormatValue(const T& value) : FormatValue(std::string_view(value.c_str())) {}                         // NOLINT
  FormatValue(const std::string& value) : FormatValue(std::string_view(value)) {}                       // NOLINT
  FormatValue(std::string_view value) : kind_(Kind::text), size_(value.size()), text_(value.data()) {}  // NOLINT

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] int64_t integer() const { return integer_; }
  [[nodiscard]] uint64_t natural() const { return kind_ == Kind::integer ? static_cast<uint64_t>(integer_) : natural_; }
  [[nodiscard]] double real() const { return real_; }
  [[nodiscard]] std::string_view text() const { return {text_, size_}; }

  template <class T>
  static constexpr Kind kind_of() {
    if constexpr (std::is_integral_v<T>)
      return std::is_signed_v<T> ? Kind::integer : Kind::natural;
    else if constexpr (std::is_enum_v<T>)
      return Kind::integer;
    else
      return std::is_floating_point_v<T> ? Kind::real : Kind::text;
  }

 private:
  Kind kind_;
  size_t size_ = 0;
  union {
    int64_t integer_;
    uint64_t natural_;
    double real_;
    const char* text_;
  };
};

// True if the conversion takes that kind: "d i u x X c" integers, "f e g" floats, "s" strings; 0 takes none.
constexpr bool takes(char conversion, FormatValue::Kind kind) {
  switch (conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'c': return kind == FormatValue::Kind::integer || kind == FormatValue::Kind::natural;
    case 'f':
    case 'e':
    case 'g': return kind == FormatValue::Kind::real;
    case 's': return kind == FormatValue::Kind::text;
    default: return false;
  }
}

// One "%...": flags, width and precision (each may be a star, which takes a value), conversion.
struct Conversion {
  const char* end = nullptr;
  char letter = 0;
  uint32_t stars = 0;
};
constexpr Conversion read_conversion(const char* at) {
  Conversion c;
  for (++at;
       *at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '.' || *at == '*' || (*at >= '0' && *at <= '9');
       ++at)
    c.stars += *at == '*';
  while (*at == 'l' || *at == 'h' || *at == 'z' || *at == 'j') ++at;
  c.letter = *at;
  c.end = *at ? at + 1 : at;
  return c;
}

// A pattern checked at compile time against the types of its values.
template <class... Values>
class Pattern {
 public:
  consteval Pattern(const char* text) : text_(text) {  // NOLINT: implicit on purpose
    if (!fits(text)) values_do_not_fit_the_pattern();
  }
  [[nodiscard]] const char* text() const { return text_; }

 private:
  static void values_do_not_fit_the_pattern();  // never defined: calling it in a constant expression is an error

  static consteval bool fits(const char* at) {
    constexpr std::array<FormatValue::Kind, sizeof...(Values) + 1> kinds{
        FormatValue::kind_of<std::remove_cvref_t<Values>>()..., FormatValue::Kind::text};
    size_t value = 0;
    for (; *at; ++at) {
      if (*at != '%') continue;
      const Conversion c = read_conversion(at);
      at = c.end - 1;
      if (c.letter == '%') continue;
      for (uint32_t i = 0; i < c.stars; ++i)
        if (value >= sizeof...(Values) || !takes('d', kinds[value++])) return false;
      if (value >= sizeof...(Values) || !takes(c.letter, kinds[value++])) return false;
    }
    return value == sizeof...(Values);
  }

  const char* text_;
};

// Formats without the check at compile time: a value of another type is written by its own type, a missing one as "?".
std::string format_values(const char* pattern, const FormatValue* values, size_t count);

template <class... Values>
std::string format(std::type_identity_t<Pattern<Values...>> pattern, const Values&... values) {
  const std::array<FormatValue, sizeof...(Values) + 1> all{FormatValue(values)..., FormatValue(0)};
  return format_values(pattern.text(), all.data(), sizeof...(Values));
}

}  // namespace lapilli
