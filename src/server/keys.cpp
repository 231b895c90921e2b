#include "server/keys.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "server/http/origin.hpp"

namespace lapilli::server {

namespace {

constexpr auto kMinute = std::chrono::seconds(60);

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

bool set_limit(Desk::Limits& limits, std::string_view name, uint64_t number) {
  const auto few = static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
  if (name == "requests") return limits.requests = few, true;
  if (name == "characters") return limits.characters = number, true;
  if (name == "texts") return limits.texts = few, true;
  if (name == "alternatives") return limits.alternatives = few, true;
  if (name == "seconds") return limits.sound_seconds = number, true;
  if (name == "pixels") return limits.pixels = number, true;
  if (name == "files") return limits.files = number, true;
  if (name == "bytes") return limits.bytes = number, true;
  return false;
}

// Why the line is no key; "" if it is one.
std::string read_line(std::string_view line, Key& key) {
  key.text = take_word(line);
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
    if (std::string wrong = read_limit(word, key.limits); !wrong.empty()) return wrong;
  return "";
}

}  // namespace

std::string read_limit(std::string_view given, Desk::Limits& limits) {
  const size_t equals = std::min(given.find('='), given.size());
  const auto number = number_in(given.substr(std::min(equals + 1, given.size())));
  if (number && set_limit(limits, given.substr(0, equals), *number)) return "";
  return "\"" + std::string(given) +
         "\" is no limit: requests, characters, texts, alternatives, seconds, pixels, files or bytes, = and a number";
}

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
  if (key.limits.requests == 0) return 0;
  const std::lock_guard lock(mutex_);
  return minutes_[number_of(key) - 1].count(key.limits.requests, Minute::Clock::now());
}

uint32_t Callers::count(const std::string& address, uint32_t most) {
  if (most == 0) return 0;
  const auto now = Minute::Clock::now();
  const std::lock_guard lock(mutex_);
  if (minutes_.size() >= kMost) std::erase_if(minutes_, [&](const auto& one) { return one.second.is_over(now); });
  const bool known = minutes_.contains(address) || minutes_.size() < kMost;
  return minutes_[known ? address : ""].count(most, now);
}

bool Minute::is_over(Clock::time_point now) const { return now - begin >= kMinute; }

uint32_t Minute::count(uint32_t most, Clock::time_point now) {
  if (is_over(now)) *this = {now, 0};
  if (requests++ < most) return 0;
  return static_cast<uint32_t>(std::chrono::ceil<std::chrono::seconds>(begin + kMinute - now).count());
}

}  // namespace lapilli::server
