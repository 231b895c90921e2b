// Declares every op's constant; include it where one is defined.
#pragma once

#include "ops/core/op.hpp"

namespace lapilli {

#define OP(name) extern const OpDef name##_op;
#include "ops/core/list.inc"
#undef OP

}  // namespace lapilli
