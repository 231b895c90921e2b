// The logarithm of a softmax's denominator, behind the heads of a row of context: rows that have them are wider than
// the heads (ops/attention/attention.hpp), and a head has a vec4 there. For kernels with push constants p.
uint log_sums_column() { return (p.all_heads * HEAD_DIM + 3u) / 4u * 4u; }

// Columns between the last head and its padding's end.
uint padding_of_context() { return min(p.out_ld, log_sums_column()) - p.all_heads * HEAD_DIM; }

// `row`: word of context where the row begins.
void put_log_sum(const uint row, const uint head, const float top, const float sum) {
  if (p.out_ld <= log_sums_column()) return;
  uint at = (row + log_sums_column() + 4u * head) / WIDTH;
  float v = sum > 0.0 ? top + log(sum) : MASKED;
#ifdef VEC
  context[at] = vec4(v, 0.0, 0.0, 0.0);
#else
  for (uint i = 0u; i < 4u; ++i) context[at + i] = i == 0u ? v : 0.0;
#endif
}
