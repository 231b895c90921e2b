// T is an element of a head's columns, WIDTH of them. VEC: heads are whole vec4s.
#ifdef VEC
#define T vec4
#define WIDTH 4u
float product(vec4 a, vec4 b) { return dot(a, b); }
#else
#define T float
#define WIDTH 1u
float product(float a, float b) { return a * b; }
#endif
