#version 450
// A rectangle for each instance: a glyph of the atlas, or a plain one where `texture_box.x` is below 0.
layout(location = 0) in vec4 box;          // pixels: left, top, right, bottom
layout(location = 1) in vec4 texture_box;  // 0 to 1
layout(location = 2) in vec4 ink;
layout(location = 0) out vec2 texture_at;
layout(location = 1) out vec4 color;
layout(push_constant) uniform Constants { vec2 size; };

void main() {
  vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
  texture_at = mix(texture_box.xy, texture_box.zw, corner);
  color = ink;
  gl_Position = vec4(mix(box.xy, box.zw, corner) / size * 2 - 1, 0, 1);
}
