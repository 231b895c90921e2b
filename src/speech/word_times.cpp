#include "speech/word_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lapilli::speech {

namespace {

// Sets a position with the same weight for all ids to 0: it carries no information.
void normalize_over_ids(AttentionRows& a) {
  for (uint32_t p = 0; p < a.positions; ++p) {
    double mean = 0, square = 0;
    for (uint32_t i = 0; i < a.ids; ++i) mean += a.weights[uint64_t{i} * a.positions + p];
    mean /= a.ids;
    for (uint32_t i = 0; i < a.ids; ++i) {
      const double d = a.weights[uint64_t{i} * a.positions + p] - mean;
      square += d * d;
    }
    const double deviation = std::sqrt(square / a.ids);
    for (uint32_t i = 0; i < a.ids; ++i) {
      float& w = a.weights[uint64_t{i} * a.positions + p];
      w = deviation > 0 ? static_cast<float>((w - mean) / deviation) : 0.0f;
    }
  }
}

// Edges are mirrored; rows too short for that stay as they are.
void median_over_positions(AttentionRows& a, uint32_t filter) {
  const auto half = static_cast<int64_t>(filter / 2), n = static_cast<int64_t>(a.positions);
  if (n <= half) return;
  std::vector<float> row(a.positions), window(filter);
  for (uint32_t i = 0; i < a.ids; ++i) {
    float* weights = a.weights.data() + uint64_t{i} * a.positions;
    std::copy_n(weights, a.positions, row.begin());
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t k = -half; k <= half; ++k) {
        const int64_t at = std::abs(p + k), mirrored = at < n ? at : 2 * (n - 1) - at;
        window[static_cast<size_t>(k + half)] = row[static_cast<size_t>(mirrored)];
      }
      std::nth_element(window.begin(), window.begin() + half, window.end());
      weights[p] = window[static_cast<size_t>(half)];
    }
  }
}

enum class Step : uint8_t { both, id, position };  // the last move of a path

// Computes costs row by row; ties move to the next position.
std::vector<Step> warp(const AttentionRows& a) {
  const size_t width = a.positions + size_t{1};
  constexpr float kFar = std::numeric_limits<float>::max();
  std::vector<float> above(width, kFar), row(width, kFar);
  std::vector<Step> steps((a.ids + size_t{1}) * width, Step::position);
  above[0] = 0;
  for (size_t i = 1; i <= a.ids; ++i) {
    row[0] = kFar;
    steps[i * width] = Step::id;
    for (size_t j = 1; j < width; ++j) {
      const float both = above[j - 1], id = above[j], position = row[j - 1];
      const Step step = both < id && both < position ? Step::both
                        : id < both && id < position ? Step::id
                                                     : Step::position;
      const float least = step == Step::both ? both : step == Step::id ? id : position;
      steps[i * width + j] = step;
      row[j] = least == kFar ? kFar : least - a.weights[(i - 1) * a.positions + j - 1];
    }
    std::swap(above, row);
  }
  return steps;
}

}  // namespace

AttentionRows mean_of(std::span<const AttentionRows> heads) {
  AttentionRows mean = heads.front();
  for (size_t i = 0; i < mean.weights.size(); ++i) {
    double sum = 0;
    for (const AttentionRows& head : heads) sum += head.weights[i];
    mean.weights[i] = static_cast<float>(sum / static_cast<double>(heads.size()));
  }
  return mean;
}

std::vector<uint32_t> first_positions(std::vector<AttentionRows> heads, uint32_t filter) {
  for (AttentionRows& head : heads) {
    normalize_over_ids(head);
    median_over_positions(head, filter);
  }
  const AttentionRows mean = mean_of(heads);
  const auto steps = warp(mean);
  std::vector<uint32_t> first(mean.ids, 0);
  const size_t width = mean.positions + size_t{1};
  for (size_t i = mean.ids, j = mean.positions; i > 0 && j > 0;) {
    first[i - 1] = static_cast<uint32_t>(j - 1);
    const Step step = steps[i * width + j];
    if (step != Step::position) --i;
    if (step != Step::id) --j;
  }
  return first;
}

}  // namespace lapilli::speech
