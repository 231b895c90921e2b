#include "base/format.hpp"

#include <algorithm>
#include <cstdio>

namespace lapilli {

namespace {

constexpr size_t kWidest = 4096;

class Writer {
 public:
  Writer(const FormatValue* values, size_t count) : values_(values), count_(count) {}

  std::string write(const char* at) {
    for (; *at; ++at) {
      if (*at != '%') {
        text_ += *at;
        continue;
      }
      const Conversion c = read_conversion(at);
      convert(at + 1, c);
      at = c.end - 1;
    }
    return std::move(text_);
  }

 private:
  // printf's flags, width and precision, with stars replaced by their values.
  struct Field {
    std::string flags;
    bool has_precision = false;
    size_t width = 0, precision = 0;
  };

  size_t number() {
    if (next_ >= count_) return 0;
    const FormatValue& v = values_[next_++];
    const bool negative = v.kind() == FormatValue::Kind::integer && v.integer() < 0;
    return negative ? 0 : static_cast<size_t>(std::min<uint64_t>(v.natural(), kWidest));
  }
  // The value of a star, or of digits.
  size_t size(const char*& at) {
    if (*at == '*') return ++at, number();
    size_t n = 0;
    for (; *at >= '0' && *at <= '9'; ++at) n = std::min(n * 10 + static_cast<size_t>(*at - '0'), kWidest);
    return n;
  }
  Field field(const char* at) {
    Field f;
    for (; *at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '0'; ++at) f.flags += *at;
    f.width = size(at);
    f.has_precision = *at == '.';
    if (f.has_precision) f.precision = size(++at);
    return f;
  }

  void convert(const char* at, const Conversion& c) {
    if (c.letter == '%') {
      text_ += '%';
      return;
    }
    const Field f = field(at);
    if (next_ >= count_) {
      text_ += '?';
      return;
    }
    const FormatValue& v = values_[next_++];
    const char letter = takes(c.letter, v.kind()) ? c.letter : 0;
    if (v.kind() == FormatValue::Kind::text)
      add_text(v.text(), f);
    else if (v.kind() == FormatValue::Kind::real)
      add_number(f, "", letter ? letter : 'g', v.real());
    else if (letter == 'c')
      text_ += static_cast<char>(v.natural());
    else if (letter == 'x' || letter == 'X')
      add_number(f, "ll", letter, static_cast<unsigned long long>(v.natural()));
    else if (v.kind() == FormatValue::Kind::natural)
      add_number(f, "ll", 'u', static_cast<unsigned long long>(v.natural()));
    else
      add_number(f, "ll", 'd', static_cast<long long>(v.integer()));
  }

  void add_text(std::string_view text, const Field& f) {
    if (f.has_precision) text = text.substr(0, f.precision);
    const size_t blanks = f.width > text.size() ? f.width - text.size() : 0;
    const bool left = f.flags.find('-') != std::string::npos;
    if (!left) text_.append(blanks, ' ');
    text_ += text;
    if (left) text_.append(blanks, ' ');
  }

  template <class T>
  void add_number(const Field& f, const char* length, char letter, T value) {
    const std::string pattern = "%" + f.flags + (f.width ? std::to_string(f.width) : "") +
                                (f.has_precision ? "." + std::to_string(f.precision) : "") + length + letter;
    const int n = std::snprintf(nullptr, 0, pattern.c_str(), value);
    if (n <= 0) return;
    const size_t before = text_.size();
    text_.resize(before + static_cast<size_t>(n) + 1);
    std::snprintf(text_.data() + before, static_cast<size_t>(n) + 1, pattern.c_str(), value);
    text_.pop_back();
  }

  const FormatValue* values_;
  size_t count_, next_ = 0;
  std::string text_;
};

}  // namespace

std::string format_values(const char* pattern, const FormatValue* values, size_t count) {
  return Writer(values, count).write(pattern);
}

}  // namespace lapilli
