// How many rows an invocation keeps in registers: RM:VALUE in table.inc, put into the words of the one module that all
// of them are (src/ops/core/shader_code.cpp).
layout(constant_id = 31) const uint RM = 1;
