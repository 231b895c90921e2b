// What every kernel shares: the linear group index over folded grids, and small helpers.
#extension GL_EXT_control_flow_attributes : enable

// Grids are linear; the host folds counts above the device's limit per dimension into y and z. Groups beyond the
// wanted count return at once: `if (group_index() >= p.groups) return;` before any barrier.
uint group_index() {
  return (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
uint div_up(uint a, uint b) { return (a + b - 1u) / b; }

// Words of a buffer change their owners: what one invocation wrote or read, another one may write. barrier() orders shared
// memory alone; the buffer needs a release before it and an acquire behind it. The buffer is declared coherent where words
// are read again.
void hand_over() {
  memoryBarrierBuffer();
  barrier();
  memoryBarrierBuffer();
}
