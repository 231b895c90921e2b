// Shared by the kernels with one workgroup per slice of a row's columns: argmax, top_k, log_softmax. Needs push
// constants `p` with slices, slice4, ld4, x_begin4 and first_row.
struct Slice {
  uint row, number;       // the row, and the slice's number in it
  uint base, begin, end;  // vec4s of x: where the row begins; range within the row
};

Slice slice_of(const uint group) {
  uint row = group / p.slices, number = group % p.slices, begin = number * p.slice4;
  return Slice(row, number, p.x_begin4 + row * p.ld4, begin, min(begin + p.slice4, p.ld4));
}
bool is_live(const Slice slice) { return p.first_row + slice.row < step_word(STEP_LIVE); }
