// How well a threshold of a model's sureness tells its wrong lines from its right ones.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace lapilli::evaluation {

// chrF against the nearest reference: below the one a line is wrong, from the other on it is right; between them nobody
// knows without reading it.
constexpr double kWrongBelow = 40, kRightFrom = 70;

struct Judged {
  double sure = 0;  // mean logarithm of its tokens' probabilities
  double chrf = 0;
};

struct Separation {
  size_t lines = 0, wrong = 0, right = 0;
  size_t noted = 0, found = 0, accused = 0;  // below the threshold: all, the wrong ones, the right ones
};
Separation separate(std::span<const Judged> lines, double below);

// In a line for people.
std::string text_of(const Separation& separation, double below);

}  // namespace lapilli::evaluation
