// Declares every op's constant; include it where one is defined.
#pragma once

#include "ops/op.hpp"

namespace lapilli {

#define OP(name) extern const OpDef name##_op;
#include "ops/list.inc"
#undef OP

}  // namespace lapilli
