// Shared by the kernels of "warp". A row may be cut into slices, one workgroup each; every slice lists its best scores
// and sums up the rest, and the thresholds are then found among the listed scores. Needs common.glsl, search.glsl.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 128;
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4, begin4;
  uint slices, lists_begin4, lists_ld4;
  uint first_row, beams;
} p;

const uint LISTED = 128u;                         // listed scores per slice
const uint LIST4 = LISTED / 4u, BLOCK4 = 8u;
const float EVERYTHING = 3e38;  // the interval between this and its negative contains every score

// Neither finite nor forbidden. The value is kept: the kernel that chooses among the scores ends the sentence because
// of it.
bool is_unusable(float v) {
  uint bits = floatBitsToUint(v);
  return no_number(bits) && bits != 0xff800000u;
}

// Layout per row: the lists; the rest of each slice (best score, sum e^(x - best), sum e^(x - best) (x - best)); and
// the interval of scores that stay, lowest and highest.
uint list_at(uint row, uint slice) { return p.lists_begin4 + row * p.lists_ld4 + slice * LIST4; }
uint rest_at(uint row, uint slice) { return p.lists_begin4 + row * p.lists_ld4 + p.slices * LIST4 + slice; }
uint interval_at(uint row) { return rest_at(row, p.slices); }

// Slices take blocks of the row in turn: vocabularies begin with frequent words, so this spreads the best over all
// slices.
uint slice_vectors() { return div_up(div_up(p.ld4, BLOCK4), p.slices) * BLOCK4; }
uint place_of(uint n, uint slice) { return (n / BLOCK4 * p.slices + slice) * BLOCK4 + n % BLOCK4; }

// Columns past the row's end count as forbidden.
bvec4 in_row(uint place) { return lessThan(uvec4(4u * place) + uvec4(0u, 1u, 2u, 3u), uvec4(p.columns)); }
