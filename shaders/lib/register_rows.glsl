// Rows that an invocation keeps in registers: RM:VALUE in table.inc, patched into the words of the one module that all
// variants share (src/ops/core/shader_code.cpp).
layout(constant_id = 31) const uint RM = 1;
