// Damaged files of pictures, in a process of its own with little memory: each is read or refused with words.
#pragma once

#include <random>
#include <span>
#include <string>

#include "image/picture.hpp"
#include "image/png_bytes.hpp"
#include "support/limited_child.hpp"

namespace lapilli::image {

inline std::string mutated(std::string s, std::mt19937& random) {
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (size_t i = 0, changes = 1 + pick(4); i < changes && !s.empty(); ++i) {
    const size_t at = pick(s.size());
    switch (pick(4)) {
      case 0: s[at] = static_cast<char>(pick(256)); break;
      case 1: s[at] = static_cast<char>(s[at] ^ (1 << pick(8))); break;
      case 2: s.erase(at, 1 + pick(8)); break;
      default: s.insert(at, s.substr(pick(s.size()), 1 + pick(16)));
    }
  }
  if (pick(20) == 0) s.resize(pick(s.size() + 1));
  return s;
}

// Each opens or is refused with words; what opens has as many bytes as its size says. An exit code: 0 if so, and if
// one in a hundred opens.
inline int try_mutants(const std::string& good, int count, bool png = false) {
  std::mt19937 random(1);
  int opened = 0;
  for (int i = 0; i < count; ++i) {
    const std::string mutant = mutated(good, random);
    const std::string file = png && i % 8 != 0 ? with_right_checksums(mutant) : mutant;
    const auto picture = decode_picture(std::as_bytes(std::span(file)), "a.png");
    if (!picture && picture.error().message.empty()) return 2;
    if (picture && picture->rgb.size() != size_t{3} * picture->width * picture->height) return 3;
    opened += picture ? 1 : 0;
  }
  return opened > count / 100 ? 0 : 4;
}

constexpr uint64_t kMemory = uint64_t{1} << 30;

inline std::string mutants_in_child(const std::string& good, int count, bool png = false) {
  return test::in_limited_child(kMemory, 300, [&] { return try_mutants(good, count, png); });
}

}  // namespace lapilli::image
