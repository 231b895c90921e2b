// Included in main() of attention.comp, attention_lanes.comp and attention_simple.comp: derives from the `group` number
// the queries, head, slot and visible keys.
#ifdef SIMPLE
  uint one = group % uint(QT);  // index among the tile's queries
  group /= uint(QT);
#endif
#ifdef STEP
  uint chunk = 0u;
  if (SPLIT != 0u) {
    chunk = group % p.chunks;
    group /= p.chunks;
  }
  uint row = group / p.heads, head = p.head_begin + group % p.heads;
  if (row >= step_word(STEP_LIVE)) return;
  uint own = slot_of(row_word(row));
#ifdef CROSS
  uint slot = own / p.beams;
  uint begin = length_word(2u * slot), end = min(length_word(2u * slot + 1u), p.positions);
#else
  uint slot = own, step = position_of(row_word(row)), begin = 0u, end = min(step + 1u, p.positions);
  uint ancestry =
      lineage_word(lineage_parity(step), LINEAGE_ANCESTRY, slot, 0u, p.lineage_slots, p.lineage_positions);
#endif
  if (slot < p.slot_begin || slot >= p.slot_end) return;
  const uint count = 1u, first = 0u;
  uint first_row = row;
#elif defined(SPANS)
  // Covers all tiles of the pass; those that begin in another slice of its rows are left to other dispatches.
  uvec4 behind = spans[MAX_ROWS - 1u];
  uint tiles = behind[SPAN_TILE] + div_up(behind[SPAN_IDS], TILE_ROWS), sentence;
  if (group >= tiles * p.heads) return;
  uint tile = group % tiles, head = p.head_begin + group / tiles;
  uvec4 span = span_of(tile, SPAN_TILE, sentence);
#ifdef LANES
  if ((tile - span[SPAN_TILE]) % (uint(QT) / TILE_ROWS) != 0u) return;  // covered by another workgroup's queries
#endif
  const uint slot = 0u;
  uint begin = span[SPAN_ROW], end = begin + span[SPAN_IDS], origin = begin;
  uint first = begin + (tile - span[SPAN_TILE]) * TILE_ROWS, count = min(uint(QT), end - first), first_row = first;
  uvec4 query = uvec4(first) + uvec4(0, 1, 2, 3);
  if (p.global_queries == 0u && (first < p.query_begin || first >= p.query_end)) return;
#else
  uint tile = group % p.tiles, rest = group / p.tiles;
  uint head = p.head_begin + rest % p.heads, slot = p.slot_begin + rest / p.heads;
  uint first = p.query_begin + tile * uint(QT), count = min(uint(QT), p.query_end - first);
#ifdef MAP_BIAS
  uint begin = 0u, end = p.keys;
#else
  uint begin = min(length_word(2u * slot), p.keys), end = min(length_word(2u * slot + 1u), p.keys);
#endif
  if (p.causal != 0u) end = min(end, first + count);
  uint first_row = slot * p.queries + first;
  uvec4 query = uvec4(first) + uvec4(0, 1, 2, 3);
  const uint origin = 0u;
  uint sentence = slot;
#endif
  // Key numbers run from `from` to `to`.
  uint from = begin, to = end;
#ifdef WINDOW
  // The listed keys come first, as far as they lie outside the window.
  uint list = p.globals_begin + sentence * p.globals_stride, listed = min(globals[list], p.globals_stride - 1u);
  uint first_key = begin, last_key = end;
  if (p.global_queries != 0u) {
    uint entry = first - origin;
    if (entry >= listed) return;
    count = min(count, listed - entry);
    for (uint i = 0u; i < 4u; ++i)
      query[i] = min(globals[list + 1u + entry + min(i, count - 1u)], p.queries - 1u);
#ifdef SPANS
    // Queries of other slices are replaced by one of this slice, which is then computed more than once.
    uint own = 4u;
    for (uint i = 0u; i < 4u; ++i)
      if (query[i] >= p.query_begin && query[i] < p.query_end) own = i;
    if (own == 4u) return;
    for (uint i = 0u; i < 4u; ++i)
      if (query[i] < p.query_begin || query[i] >= p.query_end) query[i] = query[own];
#endif
    listed = 0u;
  } else {
    first_key = max(begin, first - min(first, p.window));
    last_key = max(first_key, min(end, first + count + p.window));
  }
  from = 0u;
  to = listed + last_key - first_key;
#endif
