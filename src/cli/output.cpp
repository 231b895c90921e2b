#include "cli/output.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "cli/exit_codes.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

std::string rounded(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

// The digits that two numbers need to look different; equal ones need no more than any.
int digits_between(double a, double b) {
  constexpr int kFewest = 4, kMost = 17;
  int digits = kFewest;
  while (a != b && digits < kMost && rounded(a, digits) == rounded(b, digits)) ++digits;
  return digits;
}

}  // namespace

std::vector<std::string> score_texts(const std::vector<double>& scores, std::optional<double> above) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < scores.size(); ++i) {
    const double before = i > 0 ? scores[i - 1] : above.value_or(scores[i]);
    const double behind = i + 1 < scores.size() ? scores[i + 1] : scores[i];
    texts.push_back(rounded(scores[i], std::max(digits_between(before, scores[i]), digits_between(scores[i], behind))));
  }
  return texts;
}

std::string exact_number(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

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

namespace {
thread_local std::string last_message;
}

int complain(int code, const std::string& message) {
  std::fprintf(stderr, "lapilli: %s\n", message.c_str());
  last_message = message;
  return code;
}

const std::string& last_complaint() { return last_message; }

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
