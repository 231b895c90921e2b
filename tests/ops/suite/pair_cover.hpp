// Few kernels of an op that hold what all of its kernels hold: each value of each shader's constants, and each pair of
// values in shaders of the op. Where a kernel errs, one value or two together nearly always say where.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "ops/core/op.hpp"

namespace lapilli {

class PairCover {
 public:
  // Dispatches that run together: a variant of a case.
  void add(const std::vector<Dispatch>& dispatches);
  // Chooses, again and again, the dispatches that bring the most new pairs for each word of shader code that a driver
  // has to translate anew for them.
  void choose();
  [[nodiscard]] size_t chosen() const { return chosen_.size(); }
  // True if each of these kernels was chosen.
  [[nodiscard]] bool holds(const std::vector<Dispatch>& dispatches) const;

 private:
  using Words = std::vector<uint32_t>;
  using Kernels = std::set<Words>;
  static Kernels kernels_of(const std::vector<Dispatch>& dispatches);
  static std::vector<Words> parts(const Words& kernel);
  [[nodiscard]] double worth(const Kernels& unit) const;
  void take(const Kernels& unit);

  std::set<Kernels> units_;
  Kernels chosen_;
  std::set<Words> parts_;
};

}  // namespace lapilli
