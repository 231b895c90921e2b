#version 450
// A bay at dusk: sky, three ridges that pass by at different speeds, water, and a lighthouse. No textures.
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 color;
layout(push_constant) uniform Constants {
  vec2 size;  // pixels
  float time; // seconds
  float dim;  // 1: as it is, 0: black
};

const float kShore = 0.34;
const vec2 kSun = vec2(0.52, 0.46);

float noise(vec2 p) { return fract(sin(dot(p, vec2(12.9898, 78.233))) * 43758.5453); }

vec3 sky(vec2 p) {
  vec3 c = mix(vec3(0.98, 0.62, 0.36), vec3(0.71, 0.32, 0.42), smoothstep(kShore, 0.62, p.y));
  c = mix(c, vec3(0.13, 0.14, 0.32), smoothstep(0.5, 1.0, p.y));
  float d = distance(p, kSun);
  c += vec3(1.0, 0.75, 0.4) * (0.35 * exp(-d * 6.0) + smoothstep(0.066, 0.060, d));
  vec2 cell = floor(p * 90.0);
  float star = step(0.988, noise(cell)) * smoothstep(0.35, 0.05, distance(fract(p * 90.0), vec2(0.5)));
  return c + star * smoothstep(0.62, 0.95, p.y) * (0.6 + 0.4 * sin(time * 2.0 + noise(cell + 7.0) * 40.0));
}

float ridge(float x, float layer) {
  float s = x * 2.3 + layer * 17.0;
  return 0.5 + 0.26 * sin(s) + 0.15 * sin(s * 2.7 + 1.3) + 0.06 * sin(s * 6.1 + 0.4) + 0.025 * sin(s * 17.0);
}

// Two lights that go around, seen from the side: a wedge that grows wide as it turns to us.
float beam(vec2 from_lamp) {
  float turn = cos(time * 0.8);
  float along = from_lamp.x * turn;
  float width = 0.012 + 0.16 * abs(from_lamp.x) + 0.05 * (1.0 - abs(turn));
  float wedge = smoothstep(width, 0.0, abs(from_lamp.y + from_lamp.x * 0.04)) * step(0.0, along);
  return wedge * abs(turn) * exp(-abs(from_lamp.x) * 1.3) * 0.8;
}

vec3 land(vec2 p) {
  vec3 c = sky(p);
  for (int i = 0; i < 3; ++i) {
    float near = float(i) / 2.0;
    float height = kShore + (0.24 - 0.075 * float(i)) * ridge(p.x + time * 0.012 * (1.0 + 2.0 * float(i)), float(i));
    vec3 hill = mix(vec3(0.55, 0.30, 0.44), vec3(0.16, 0.11, 0.25), near);
    c = mix(c, hill, smoothstep(height + 0.002, height - 0.002, p.y));
  }
  return c;
}

vec3 lighthouse(vec3 c, vec2 p, float x) {
  vec2 q = vec2(p.x - x, p.y - kShore);
  float rock = 0.07 * (1.0 - pow(abs(q.x) / 0.19, 1.6)) + 0.006 * sin(q.x * 90.0);
  float tower = smoothstep(0.002, -0.002, abs(q.x) - 0.026 + q.y * 0.035) * step(0.03, q.y) * step(q.y, 0.335);
  vec3 paint = mix(vec3(0.83, 0.74, 0.74), vec3(0.62, 0.16, 0.2), step(0.5, fract(q.y * 9.0)));
  c = mix(c, paint * (0.55 - 5.0 * q.x), tower);
  float gallery = step(abs(q.x), 0.026) * step(abs(q.y - 0.337), 0.006);
  float roof = step(abs(q.x), (0.405 - q.y) * 0.7) * step(0.378, q.y);
  float lamp = step(abs(q.x), 0.012) * step(0.34, q.y) * step(q.y, 0.38);
  c = mix(c, vec3(0.1, 0.07, 0.16), max(gallery, roof));
  c = mix(c, vec3(1.0, 0.93, 0.7), lamp);
  c = mix(c, vec3(0.1, 0.07, 0.16), step(abs(q.x), 0.19) * smoothstep(rock + 0.002, rock - 0.002, q.y));
  vec2 from_lamp = q - vec2(0.0, 0.36);
  return c + vec3(1.0, 0.88, 0.6) * (beam(from_lamp) + 0.5 * exp(-length(from_lamp) * 22.0));
}

void main() {
  float aspect = size.x / size.y;
  vec2 p = vec2(at.x * aspect, at.y);
  float x = aspect - 0.36;
  vec3 c;
  if (p.y >= kShore) {
    c = lighthouse(land(p), p, x);
  } else {
    float depth = kShore - p.y;
    float wave = sin(p.y * 420.0 / (0.6 + depth * 6.0) + time * 1.6) * sin(p.x * 9.0 + time * 0.7 + depth * 60.0);
    vec2 mirrored = vec2(p.x + 0.006 * wave * (1.0 + depth * 14.0), kShore + depth * 1.15 + 0.012 * wave * depth * 8.0);
    c = lighthouse(land(mirrored), mirrored, x) * mix(0.85, 0.42, depth / kShore) + vec3(0.0, 0.012, 0.035);
    c += vec3(1.0, 0.7, 0.4) * 0.22 * smoothstep(0.55, 1.0, wave) * exp(-abs(p.x - kSun.x) * 7.0);
  }
  color = vec4(c * dim, 1);
}
