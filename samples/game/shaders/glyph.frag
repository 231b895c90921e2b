#version 450
layout(location = 0) in vec2 texture_at;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 result;
layout(binding = 0) uniform sampler2D atlas;

void main() {
  float coverage = texture_at.x < 0 ? 1.0 : texture(atlas, texture_at).r;
  result = vec4(color.rgb, color.a * coverage);
}
