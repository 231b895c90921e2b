// The list of ops. An op takes one .comp, one .cpp that defines its OpDef, and one line in list.inc.
#include "ops/core/registry.hpp"

namespace lapilli {

std::span<const OpDef* const> all_ops() {
  static constexpr const OpDef* ops[] = {
#define OP(name) &name##_op,
#include "ops/core/list.inc"
#undef OP
  };
  return ops;
}

}  // namespace lapilli
