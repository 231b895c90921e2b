#include "server/keys.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "server/http/origin.hpp"

namespace lapilli::server {

namespace {

// The next word, which leaves `text`.
std::string_view take_word(std::string_view& text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return whole ? std::optional(number) : std::nullopt;
}

bool set_limit(Key& key, std::string_view name, uint64_t number) {
  const auto few = static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
  if (name == "requests") return key.requests_a_minute = few, true;
  if (name == "characters") return key.limits.characters = number, true;
  if (name == "texts") return key.limits.texts = few, true;
  if (name == "alternatives") return key.limits.alternatives = few, true;
  if (name == "seconds") return key.limits.sound_seconds = number, true;
  if (name == "pixels") return key.limits.pixels = number, true;
  if (name == "files") return key.limits.files = number, true;
  if (name == "bytes") return key.most_bytes = number, true;
  return false;
}

// Why the line is no key; "" if it is one.
std::string read_line(std::string_view line, Key& key) {
  key.text = take_word(line);
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    const size_t equals = std::min(word.find('='), word.size());
    const auto number = number_in(word.substr(std::min(equals + 1, word.size())));
    if (!number || !set_limit(key, word.substr(0, equals), *number))
      return "\"" + std::string(word) +
             "\" is no limit: requests, characters, texts, alternatives, seconds, pixels, files or bytes, = and a "
             "number";
  }
  return "";
}

}  // namespace

std::vector<Key> parse_keys(std::string_view content, const Desk::Limits& usual, std::string& error) {
  std::vector<Key> keys;
  for (size_t number = 1; !content.empty(); ++number) {
    const std::string_view line = content.substr(0, content.find('\n'));
    content.remove_prefix(std::min(line.size() + 1, content.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos || line.starts_with('#')) continue;
    Key key{"", usual};
    if (const std::string wrong = read_line(line, key); !wrong.empty()) {
      error = "line " + std::to_string(number) + ": " + wrong;
      return {};
    }
    keys.push_back(std::move(key));
  }
  if (keys.empty()) error = "the file has no key";
  return keys;
}

KeyRing::KeyRing(std::vector<Key> keys) : keys_(std::move(keys)), minutes_(keys_.size()) {}

const Key* KeyRing::find(std::string_view given) const {
  const Key* found = nullptr;
  for (const Key& key : keys_)
    if (keys_equal(given, key.text)) found = &key;
  return found;
}

uint32_t KeyRing::count(const Key& key) {
  constexpr auto kMinute = std::chrono::seconds(60);
  if (key.requests_a_minute == 0) return 0;
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  Minute& minute = minutes_[static_cast<size_t>(&key - keys_.data())];
  if (now - minute.begin >= kMinute) minute = {now, 0};
  if (minute.requests++ < key.requests_a_minute) return 0;
  return static_cast<uint32_t>(std::chrono::ceil<std::chrono::seconds>(minute.begin + kMinute - now).count());
}

}  // namespace lapilli::server
