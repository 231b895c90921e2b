// Terms of attention's scores that are products with vectors of relative positions, and terms of segments
// (ops/attention/attention.hpp), for kernels with push constants p and queries q.
const uint BY_QUERY = 1u, BY_KEY = 2u, BY_SEGMENT = 4u, BY_MASK = 8u;
layout(constant_id = 3) const uint TERMS_USED = 0;  // a sum of these

layout(std430, set = 0, binding = 3) readonly buffer Vectors { T vectors[]; };
layout(std140, set = 0, binding = 5) uniform Distances { vec4 buckets[1024]; };  // line of each distance
layout(std140, set = 0, binding = 7) uniform Segments { vec4 segments[1024]; };  // [same, other][heads * HEAD_DIM]

#ifndef SPANS
layout(std140, set = 0, binding = 4) uniform Hidden { uvec4 hidden[1024]; };  // a bit for each query and key
#endif

// Keys before the first query's own.
uint keys_before() { return p.keys - p.queries; }

bool uses(const uint term) { return (TERMS_USED & term) != 0u; }

// True if a mask hides the key from the query; each query has whole words.
bool is_hidden(const uint slot, const uint at_query, const uint key) {
#ifdef SPANS
  return false;
#else
  uint word = p.mask_begin + (slot * p.queries + at_query) * ((p.keys + 31u) / 32u) + key / 32u;
  return uses(BY_MASK) && (hidden[word >> 2][word & 3u] >> (key & 31u) & 1u) != 0u;
#endif
}

// Where the line of vectors for this distance begins.
uint line_of(const uint key, const uint at_query) {
  uint i = uint(clamp(int(key) - int(at_query) - p.bias_low, 0, int(p.bias_last)));
  return (uint(buckets[i >> 2][i & 3u]) - p.first_line) * p.line_words / WIDTH;
}

float number_of_q(const uint at) {
#ifdef VEC
  return q[at >> 2][at & 3u];
#else
  return q[at];
#endif
}

// The term of a segment that is the query's own (x), or another one (y). `row`: word of q where the query's row begins.
vec2 segment_terms(const uint row, const uint head) {
  vec2 terms = vec2(0.0);
  if (!uses(BY_SEGMENT)) return terms;
  uint same = head * HEAD_DIM, other = same + p.all_heads * HEAD_DIM;
  [[dont_unroll]] for (uint d = 0u; d < HEAD_DIM; ++d) {
    vec2 v = vec2(segments[(same + d) >> 2][(same + d) & 3u], segments[(other + d) >> 2][(other + d) & 3u]);
    terms += number_of_q(row + p.segment_column + head * HEAD_DIM + d) * v;
  }
  return terms;
}

float type_at(const uint row) { return number_of_q(row + p.type_column); }
// Belongs to key `number` of a sentence whose queries begin at row `first` of q.
float type_of_key(const uint first, const uint number) {
  return number < keys_before() ? 0.0 : type_at(p.q_begin + (first + number - keys_before()) * p.ld);
}
