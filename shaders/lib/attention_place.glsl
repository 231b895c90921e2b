// Where the workgroup of attention.comp, attention_lanes.comp or attention_simple.comp is: find_place() derives from the
// number of a group its queries, head, slot and visible keys.
uint head, slot;
uint first, count, first_row;  // queries, and the row of the first one
uint begin, end;               // visible keys
uint from, to;                 // numbers of keys that the kernel runs through
#ifdef SIMPLE
uint one;  // index among the tile's queries
#endif
#ifdef STEP
uint row, chunk;
#ifndef CROSS
uint step, ancestry;
#endif
#endif
#ifndef ONE_QUERY
uvec4 query;
uint origin, sentence;
#endif
#ifdef WINDOW
// The listed keys come first, as far as they lie outside the window.
uint list, listed, first_key, last_key;
#endif

#ifdef TILE
// The tile of the rows that follow this one, up to a position that is a multiple of QT; a row within another one's tile has
// none of its own. A tile's bits depend on no row but its own. Lineage names the keys before the tile for all of them.
bool find_tile() {
  if (row != 0u && step % uint(QT) != 0u && row_word(row - 1u) == row_word_of(slot, step - 1u)) return false;
  uint most = min(uint(QT) - step % uint(QT), step_word(STEP_LIVE) - row);
  for (count = 1u; count < most; ++count)
    if (row_word(row + count) != row_word_of(slot, step + count)) break;
  first = step;
  end = step + count;
  query = uvec4(first) + uvec4(0, 1, 2, 3);
  return true;
}
#endif

#ifdef STEP
bool find_rows(uint group) {
  chunk = 0u;
  if (SPLIT != 0u) {
    chunk = group % p.chunks;
    group /= p.chunks;
  }
  row = group / p.heads;
  head = p.head_begin + group % p.heads;
  if (row >= step_word(STEP_LIVE)) return false;
  uint own = beam_slot_of(row_word(row));
#ifdef CROSS
  slot = own / p.beams;
  begin = length_word(2u * slot);
  end = min(length_word(2u * slot + 1u), p.positions);
#else
  slot = own;
  step = position_of(row_word(row));
  end = step + 1u;
  begin = step - min(step, min(p.window, p.positions - 1u));
  lap = begin - begin % p.positions;
  ancestry = lineage_word(lineage_parity(step), LINEAGE_ANCESTRY, slot, 0u, p.lineage_beam_slots, p.lineage_positions);
#endif
  first_row = row;
  if (slot < p.slot_begin || slot >= p.slot_end) return false;
#ifdef TILE
  return find_tile();
#else
  first = 0u;
  count = 1u;
  return true;
#endif
}
#elif defined(SPANS)
// Covers all tiles of the pass; those that begin in another slice of its rows are left to other dispatches.
bool find_rows(uint group) {
  uvec4 behind = spans[MAX_ROWS - 1u];
  uint tiles = behind[SPAN_TILE] + div_up(behind[SPAN_IDS], TILE_ROWS);
  if (group >= tiles * p.heads) return false;
  uint tile = group % tiles;
  head = p.head_begin + group / tiles;
  uvec4 span = span_of(tile, SPAN_TILE, sentence);
#ifdef LANES
  if ((tile - span[SPAN_TILE]) % (uint(QT) / TILE_ROWS) != 0u) return false;  // covered by another workgroup's queries
#endif
  slot = 0u;
  begin = origin = span[SPAN_ROW];
  end = begin + span[SPAN_IDS];
  first = first_row = begin + (tile - span[SPAN_TILE]) * TILE_ROWS;
  count = min(uint(QT), end - first);
  if (p.causal != 0u) end = min(end, first + count);
  query = uvec4(first) + uvec4(0, 1, 2, 3);
#ifdef WINDOW
  if (p.global_queries != 0u) return true;
#endif
  return first >= p.query_begin && first < p.query_end;
}
#else
bool find_rows(uint group) {
  uint tile = group % p.tiles, rest = group / p.tiles;
  head = p.head_begin + rest % p.heads;
  slot = sentence = p.slot_begin + rest / p.heads;
  origin = 0u;
  first = p.query_begin + tile * uint(QT);
  count = min(uint(QT), p.query_end - first);
#ifdef MAP_BIAS
  begin = 0u;
  end = p.keys;
#else
  begin = min(length_word(2u * slot), p.keys);
  end = min(length_word(2u * slot + 1u), p.keys);
#endif
#ifdef TERMS
  if (p.causal != 0u) {
    end = min(end, first + count + keys_before());
    begin = max(begin, first + keys_before() + 1u - min(p.causal, first + keys_before() + 1u));
  }
#else
  if (p.causal != 0u) end = min(end, first + count);
#endif
  first_row = slot * p.queries + first;
  query = uvec4(first) + uvec4(0, 1, 2, 3);
  return true;
}
#endif

#ifdef WINDOW
// The queries are the listed ones from number `entry` on, and see all keys.
bool find_listed_queries(const uint entry) {
  if (entry >= listed) return false;
  count = min(count, listed - entry);
  for (uint i = 0u; i < 4u; ++i)
    query[i] = min(globals[list + 1u + entry + min(i, count - 1u)], p.queries - 1u);
  listed = 0u;
#ifdef SPANS
  // Queries of other slices are replaced by one of this slice, which is then computed more than once.
  uint own = 4u;
  for (uint i = 0u; i < 4u; ++i)
    if (query[i] >= p.query_begin && query[i] < p.query_end) own = i;
  if (own == 4u) return false;
  for (uint i = 0u; i < 4u; ++i)
    if (query[i] < p.query_begin || query[i] >= p.query_end) query[i] = query[own];
#endif
  return true;
}

bool find_window() {
  list = p.globals_begin + sentence * p.globals_stride;
  listed = p.globals_stride == 0u ? 0u : min(globals[list], p.globals_stride - 1u);
  first_key = begin;
  last_key = end;
  if (p.global_queries != 0u) {
    if (!find_listed_queries(first - origin)) return false;
  } else {
    first_key = max(begin, first - min(first, p.window));
    last_key = max(first_key, min(end, first + count + p.window_after));
  }
  from = 0u;
  to = listed + last_key - first_key;
  return true;
}
#endif

// False: the group has nothing to do.
bool find_place(uint group) {
#ifdef SIMPLE
  one = group % uint(QT);
  group /= uint(QT);
#endif
  if (!find_rows(group)) return false;
  from = begin;
  to = end;
#ifdef WINDOW
  return find_window();
#else
  return true;
#endif
}
