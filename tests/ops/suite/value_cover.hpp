// Few kernels of an op that hold what all of its kernels hold: each shader, and each value of each shader's constants.
// Constants of many values (activations, sizes of heads) hold each in a shader of the op, not in each shader, since
// that is code which its shaders share.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "ops/core/op.hpp"

namespace lapilli {

class ValueCover {
 public:
  // Dispatches that run together: a variant of a case.
  void add(const std::vector<Dispatch>& dispatches);
  // Chooses, again and again, the dispatches that bring the most new values for each word of shader code that a driver
  // has to translate anew for them.
  void choose();
  [[nodiscard]] size_t chosen() const { return chosen_.size(); }
  // True if each of these kernels was chosen.
  [[nodiscard]] bool holds(const std::vector<Dispatch>& dispatches) const;

 private:
  using Words = std::vector<uint32_t>;
  using Kernels = std::set<Words>;
  static Kernels kernels_of(const std::vector<Dispatch>& dispatches);
  [[nodiscard]] Words value(const Words& kernel, uint32_t i) const;
  [[nodiscard]] double worth(const Kernels& unit) const;
  void take(const Kernels& unit);

  std::map<Words, std::set<uint32_t>> all_;  // values of a constant, in shaders that have as many constants
  std::set<Kernels> units_;
  Kernels chosen_;
  std::set<Words> taken_;
};

}  // namespace lapilli
