// Writes the indirect arguments of one grid; needs a storage buffer `grids`.
void write_grid(uint i, uint live) {
  uint at = i * GRID_STRIDE, per_tile = grids[at + GRID_GROUPS_PER_TILE];
  if (per_tile == 0u) return;  // unused grid
  uint total = per_tile * div_up(live, max(grids[at + GRID_ROWS_PER_TILE], 1u));
  uint limit = grids[at + GRID_MAX_X];
  if (limit == 0u) limit = 65535u;
  uint x = min(total, limit), y = 0u, z = 0u;
  if (total > 0u) {
    y = min(div_up(total, x), limit);
    z = div_up(div_up(total, x), y);
  }
  grids[at + GRID_ARGUMENTS] = x;
  grids[at + GRID_ARGUMENTS + 1u] = y;
  grids[at + GRID_ARGUMENTS + 2u] = z;
  grids[at + GRID_ARGUMENTS + 3u] = 0u;
}
