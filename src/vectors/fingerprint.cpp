#include "vectors/fingerprint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lapilli::vectors {

namespace {

constexpr uint64_t kOdd = 0x9e3779b97f4a7c15u;

// Each step can be undone, so that no two values become one.
constexpr uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93u;
  value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93u;
  return value ^ (value >> 32);
}

}  // namespace

std::string Fingerprint::hex() const {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const uint64_t word : {first, second})
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[word >> shift & 15];
  return text;
}

void Fingerprinter::take(const unsigned char* stripe) {
  std::array<uint64_t, kLanes> words;
  std::memcpy(words.data(), stripe, kStripe);
  for (size_t i = 0; i < kLanes; ++i) lanes_[i] = std::rotl(lanes_[i] ^ words[i], 29) * kOdd;
}

void Fingerprinter::add(const void* bytes, size_t count) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  const size_t held = bytes_ % kStripe;
  bytes_ += count;
  if (held > 0) {
    const size_t part = std::min(count, kStripe - held);
    if (part > 0) std::memcpy(rest_.data() + held, at, part);
    if (held + part < kStripe) return;
    take(rest_.data());
    at += part;
    count -= part;
  }
  for (; count >= kStripe; at += kStripe, count -= kStripe) take(at);
  if (count > 0) std::memcpy(rest_.data(), at, count);
}

Fingerprint Fingerprinter::result() const {
  Fingerprinter end = *this;
  const size_t held = bytes_ % kStripe;
  std::fill(end.rest_.begin() + static_cast<std::ptrdiff_t>(held), end.rest_.end(), static_cast<unsigned char>(0));
  end.take(end.rest_.data());
  Fingerprint made{mixed(bytes_), mixed(~bytes_)};
  for (const uint64_t lane : end.lanes_) {
    made.first = mixed(made.first ^ lane);
    made.second = mixed(made.second ^ std::rotl(lane, 32) ^ kOdd);
  }
  return made;
}

Fingerprint fingerprint_of(std::string_view text) {
  Fingerprinter made;
  made.add(text);
  return made.result();
}

}  // namespace lapilli::vectors
