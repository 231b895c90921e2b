#include "cli/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/exit_codes.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

int print(std::string_view text) {
  const bool before = interrupted() != 0;
  for (size_t done = 0; done < text.size();) {
    const long written = write_some(1, text.data() + done, text.size() - done);
    if (written > 0) done += static_cast<size_t>(written);
    if (written <= 0 && !(written < 0 && errno == EINTR)) {
      if (errno == EPIPE) return exit_broken_pipe;
      std::fprintf(stderr, "lapilli: the output cannot be written: %s\n", std::strerror(errno));
      return exit_output;
    }
    if (before || interrupted() == 0) continue;
    // After an interruption while the reader blocks, only the current line is finished.
    if (done == 0 || text[done - 1] == '\n') return exit_ok;
    text = text.substr(0, std::min(text.find('\n', done), text.size() - 1) + 1);
  }
  return exit_ok;
}

int complain(int code, const std::string& message) {
  std::fprintf(stderr, "lapilli: %s\n", message.c_str());
  return code;
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

std::string in_one_field(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

}  // namespace lapilli::cli
