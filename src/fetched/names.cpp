#include "fetched/names.hpp"

#include <algorithm>

namespace lapilli::hub {

namespace {

constexpr size_t kLongestPart = 96;  // the hub's own limit

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// With any ending, these mean the console, a port or nothing.
bool is_windows_device(std::string_view name) {
  std::string stem(name.substr(0, name.find('.')));
  for (char& c : stem) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const char* device : {"con", "prn", "aux", "nul"}) {
    if (stem == device) return true;
  }
  const bool port = stem.starts_with("com") || stem.starts_with("lpt");
  return port && stem.size() == 4 && stem[3] >= '0' && stem[3] <= '9';
}

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestPart || name.front() == '.' || name.back() == '.') return false;
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
  return plain && name.find("..") == std::string_view::npos && !is_windows_device(name);
}

bool is_file_name(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return is_plain_name(name);
  return is_plain_name(name.substr(0, slash)) && is_plain_name(name.substr(slash + 1));
}

bool is_revision(std::string_view name) {
  for (size_t at = 0;;) {
    const size_t slash = std::min(name.find('/', at), name.size());
    if (!is_plain_name(name.substr(at, slash - at))) return false;
    if (slash == name.size()) return name.size() <= kLongestPart;
    at = slash + 1;
  }
}

bool is_commit(std::string_view name) {
  return (name.size() == 40 || name.size() == 64) &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::optional<ModelName> parse_model_name(std::string_view text) {
  ModelName parsed;
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    parsed.file = text.substr(colon + 1);
    if (!is_plain_name(parsed.file)) return {};
    text = text.substr(0, colon);
  }
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    parsed.revision = text.substr(at + 1);
    if (!is_revision(parsed.revision)) return {};
    text = text.substr(0, at);
  }
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {};
  parsed.owner = text.substr(0, slash);
  parsed.name = text.substr(slash + 1);
  if (!is_plain_name(parsed.owner) || !is_plain_name(parsed.name)) return {};
  return parsed;
}

}  // namespace lapilli::hub
