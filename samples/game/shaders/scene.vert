#version 450
// One triangle that covers the picture.
layout(location = 0) out vec2 at;  // 0 to 1, from the lower left

void main() {
  vec2 corner = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
  at = vec2(corner.x, 1 - corner.y);
  gl_Position = vec4(corner * 2 - 1, 0, 1);
}
