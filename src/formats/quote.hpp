// Quotes names from files for messages.
#pragma once

#include <string>
#include <string_view>

namespace lapilli {

// In single quotes, with control and non-ASCII characters escaped as \xNN and long names cut: a file must not be able
// to steer the terminal that prints its error.
inline std::string quote_name(std::string_view name, size_t limit = 120) {
  std::string out = "'";
  for (const char c : name.substr(0, limit)) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x20 && u < 0x7f) {
      out += c;
    } else {
      constexpr char digits[] = "0123456789abcdef";
      out += {'\\', 'x', digits[u >> 4], digits[u & 15]};
    }
  }
  if (name.size() > limit) out += "...";
  return out + "'";
}

}  // namespace lapilli
