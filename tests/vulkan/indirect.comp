// Mode 0: every group adds one to `count`. Mode 1: one group doubles the number of groups.
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { uint arguments[]; };
layout(set = 0, binding = 1) buffer C { uint count; };
layout(push_constant) uniform P { uint mode; };
void main() {
  if (mode == 0) atomicAdd(count, 1);
  else arguments[0] *= 2;
}
