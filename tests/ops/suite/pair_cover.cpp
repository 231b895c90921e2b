#include "ops/suite/pair_cover.hpp"

#include <algorithm>

#include "ops/core/shader_table.hpp"

namespace lapilli {

// A kernel is its shader and its constants.
PairCover::Kernels PairCover::kernels_of(const std::vector<Dispatch>& dispatches) {
  Kernels kernels;
  for (const Dispatch& d : dispatches) {
    Words words = {static_cast<uint32_t>(d.shader)};
    words.insert(words.end(), d.constants.begin(), d.constants.end());
    kernels.insert(std::move(words));
  }
  return kernels;
}

// The shader is the first word, so that one without constants is a value, too.
std::vector<PairCover::Words> PairCover::parts(const Words& kernel) {
  std::vector<Words> all;
  const auto size = static_cast<uint32_t>(kernel.size());
  for (uint32_t i = 0; i < size; ++i) {
    all.push_back({kernel[0], i, kernel[i]});
    for (uint32_t j = 1; j < i; ++j) all.push_back({size, i, kernel[i], j, kernel[j]});
  }
  return all;
}

void PairCover::add(const std::vector<Dispatch>& dispatches) { units_.insert(kernels_of(dispatches)); }

double PairCover::worth(const Kernels& unit) const {
  std::set<Words> fresh;
  double words = 1;
  for (const Words& kernel : unit) {
    if (chosen_.contains(kernel)) continue;
    words += static_cast<double>(shader_module(static_cast<ShaderId>(kernel[0])).word_count);
    for (const Words& part : parts(kernel))
      if (!parts_.contains(part)) fresh.insert(part);
  }
  return static_cast<double>(fresh.size()) / words;
}

void PairCover::take(const Kernels& unit) {
  for (const Words& kernel : unit)
    for (const Words& part : parts(kernel)) parts_.insert(part);
  chosen_.insert(unit.begin(), unit.end());
}

// Worths only sink as parts are taken, so the best of last time is looked at first, and most are not looked at again.
void PairCover::choose() {
  std::vector<std::pair<double, const Kernels*>> heap;
  for (const Kernels& unit : units_) heap.emplace_back(worth(unit), &unit);
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty() && heap.front().first > 0) {
    std::pop_heap(heap.begin(), heap.end());
    const double now = worth(*heap.back().second);
    const bool still_best = heap.size() == 1 || now >= heap.front().first;
    if (still_best && now > 0) take(*heap.back().second);
    if (still_best)
      heap.pop_back();
    else {
      heap.back().first = now;
      std::push_heap(heap.begin(), heap.end());
    }
  }
}

bool PairCover::holds(const std::vector<Dispatch>& dispatches) const {
  const Kernels kernels = kernels_of(dispatches);
  return std::includes(chosen_.begin(), chosen_.end(), kernels.begin(), kernels.end());
}

}  // namespace lapilli
