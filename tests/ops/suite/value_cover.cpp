#include "ops/suite/value_cover.hpp"

#include <algorithm>

#include "ops/core/shader_table.hpp"

namespace lapilli {
namespace {
constexpr uint32_t kAnyShader = 0xffffffffu;
}

// A kernel is its shader and its constants.
ValueCover::Kernels ValueCover::kernels_of(const std::vector<Dispatch>& dispatches) {
  Kernels kernels;
  for (const Dispatch& d : dispatches) {
    Words words = {static_cast<uint32_t>(d.shader)};
    words.insert(words.end(), d.constants.begin(), d.constants.end());
    kernels.insert(std::move(words));
  }
  return kernels;
}

// The shader is the first word, so that one without constants is a value, too.
ValueCover::Words ValueCover::value(const Words& kernel, uint32_t i) const {
  constexpr size_t kMany = 6;
  const auto size = static_cast<uint32_t>(kernel.size());
  const bool shared = i > 0 && all_.at({size, i}).size() > kMany;
  return {shared ? kAnyShader : kernel[0], size, i, kernel[i]};
}

void ValueCover::add(const std::vector<Dispatch>& dispatches) {
  const Kernels kernels = kernels_of(dispatches);
  for (const Words& kernel : kernels)
    for (uint32_t i = 0; i < kernel.size(); ++i) all_[{static_cast<uint32_t>(kernel.size()), i}].insert(kernel[i]);
  units_.insert(kernels);
}

double ValueCover::worth(const Kernels& unit) const {
  std::set<Words> fresh;
  double words = 1;
  for (const Words& kernel : unit) {
    if (chosen_.contains(kernel)) continue;
    words += static_cast<double>(shader_module(static_cast<ShaderId>(kernel[0])).word_count);
    for (uint32_t i = 0; i < kernel.size(); ++i)
      if (!taken_.contains(value(kernel, i))) fresh.insert(value(kernel, i));
  }
  return static_cast<double>(fresh.size()) / words;
}

void ValueCover::take(const Kernels& unit) {
  for (const Words& kernel : unit)
    for (uint32_t i = 0; i < kernel.size(); ++i) taken_.insert(value(kernel, i));
  chosen_.insert(unit.begin(), unit.end());
}

// Worths only sink as values are taken, so the best of last time is looked at first, and most are not looked at again.
void ValueCover::choose() {
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

bool ValueCover::holds(const std::vector<Dispatch>& dispatches) const {
  const Kernels kernels = kernels_of(dispatches);
  return std::includes(chosen_.begin(), chosen_.end(), kernels.begin(), kernels.end());
}

}  // namespace lapilli
