// Shared by copy and elementwise: elements form lines, each cut into `per_line` workgroups of EACH * LOCAL neighbours.
// Needs push constants `p` with per_line and line (elements), and `void element(uint row, uint i)`, which processes
// element i of a line. Include it last: it defines main.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint EACH = 2;  // elements per invocation

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  uint row = g / p.per_line;
  uint i = (g - row * p.per_line) * LOCAL * EACH + gl_LocalInvocationIndex;
  for (uint n = 0u; n < EACH && i < p.line; ++n, i += LOCAL) element(row, i);
}
