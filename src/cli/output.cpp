#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/exit_codes.hpp"

namespace lapilli::cli {

int print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return exit_ok;
  if (errno == EPIPE) return exit_broken_pipe;
  std::fprintf(stderr, "lapilli: the output cannot be written: %s\n", std::strerror(errno));
  return exit_output;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace lapilli::cli
