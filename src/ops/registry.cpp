// The list of ops. Adding an op: one .comp, one .cpp that defines its OpDef, one line here.
#include "ops/op.hpp"

namespace lapilli {

std::span<const OpDef* const> all_ops() {
  static constexpr std::span<const OpDef* const> none;
  return none;
}

}  // namespace lapilli
