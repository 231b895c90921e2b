// What the kernels of "warp" share. A row may be cut into slices, a workgroup each, of which every one lists its best scores
// and sums up the rest; the thresholds are then found among those that are listed. Needs common.glsl, search.glsl.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 128;
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4, begin4;
  uint slices, lists_begin4, lists_ld4;
  uint first_row, beams;
} p;

const uint LISTED = 128u;                         // scores of a slice
const uint LIST4 = LISTED / 4u, BLOCK4 = 8u;
const float EVERYTHING = 3e38;  // an interval of scores between this and its negative has all of them

// Neither finite nor forbidden. It stays as it is: who chooses among the scores ends the sentence by it.
bool is_unusable(float v) {
  uint bits = floatBitsToUint(v);
  return no_number(bits) && bits != 0xff800000u;
}

// Of a row: the lists; the rest of each slice, as its best score, sum e^(x - best), sum e^(x - best) (x - best); and which
// scores stay, the least and the greatest one.
uint list_at(uint row, uint slice) { return p.lists_begin4 + row * p.lists_ld4 + slice * LIST4; }
uint rest_at(uint row, uint slice) { return p.lists_begin4 + row * p.lists_ld4 + p.slices * LIST4 + slice; }
uint interval_at(uint row) { return rest_at(row, p.slices); }

// Slices take blocks of the row in turn, since vocabularies begin with what is frequent: the best are spread over all.
uint slice_vectors() { return div_up(div_up(p.ld4, BLOCK4), p.slices) * BLOCK4; }
uint place_of(uint n, uint slice) { return (n / BLOCK4 * p.slices + slice) * BLOCK4 + n % BLOCK4; }

// Columns beyond the row's are like forbidden ones.
bvec4 in_row(uint place) { return lessThan(uvec4(4u * place) + uvec4(0u, 1u, 2u, 3u), uvec4(p.columns)); }
