// Shared by all kernels: the linear group index over folded grids, and small helpers.
#extension GL_EXT_control_flow_attributes : enable

// Grids are linear; the host folds counts above the device's limit per dimension into y and z. Surplus groups return at
// once: `if (group_index() >= p.groups) return;` before any barrier.
uint group_index() {
  return (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
uint div_up(uint a, uint b) { return (a + b - 1u) / b; }

// Hands words of a buffer from one invocation to another: after this, one may write what another wrote or read.
// barrier() orders shared memory only; the buffer needs a release before it and an acquire after it. Declare the buffer
// coherent where words are read again.
void hand_over() {
  memoryBarrierBuffer();
  barrier();
  memoryBarrierBuffer();
}
