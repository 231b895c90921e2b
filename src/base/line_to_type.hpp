// Lines for a shell, as messages that advise give them.
#pragma once

#include <string>

namespace lapilli {

// A file's name as one word of a shell's line, and no option of a program.
inline std::string shell_word(const std::string& path) {
  const std::string name = path.compare(0, 1, "-") == 0 ? "./" + path : path;
  constexpr const char* kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+:,@%=-";
  if (!name.empty() && name.find_first_not_of(kPlain) == std::string::npos) return name;
#if defined(_WIN32)
  return "\"" + name + "\"";
#else
  std::string word = "'";
  for (const char c : name) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
#endif
}

// "talk.wav" of "talk.m4a" and ".wav"; of a name without an ending it gets one.
inline std::string with_ending(const std::string& path, const std::string& ending) {
  const size_t name = path.find_last_of("/\\") + 1, dot = path.rfind('.');  // npos + 1 is 0
  return (dot == std::string::npos || dot <= name ? path : path.substr(0, dot)) + ending;
}

}  // namespace lapilli
