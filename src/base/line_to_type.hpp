// Shell commands as messages suggest them.
#pragma once

#include <string>

namespace lapilli {

// Quotes a file's name as one shell word that no program takes for an option.
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

// Replaces or adds the extension: "talk.m4a" and ".wav" give "talk.wav".
inline std::string with_ending(const std::string& path, const std::string& ending) {
  const size_t name = path.find_last_of("/\\") + 1, dot = path.rfind('.');  // npos + 1 is 0
  return (dot == std::string::npos || dot <= name ? path : path.substr(0, dot)) + ending;
}

}  // namespace lapilli
