// Activations of four values; the numbers are those of lapilli::Activation.
const uint ACT_NONE = 0u, ACT_RELU = 1u, ACT_GELU_ERF = 2u, ACT_GELU_TANH = 3u, ACT_SILU = 4u, ACT_TANH = 5u,
           ACT_GELU_QUICK = 6u, ACT_GELU_10 = 7u, ACT_RELU6 = 8u, ACT_RELU_SQUARED = 9u, ACT_LEAKY_RELU = 10u,
           ACT_MISH = 11u, ACT_SIGMOID = 12u;

// tanh built on exp overflows on some drivers; beyond 15 it is 1 in fp32 anyway.
vec4 safe_tanh(vec4 x) { return tanh(clamp(x, vec4(-15.0), vec4(15.0))); }

// Error at most 1.3e-7: a polynomial in x * x near zero, otherwise one in t times exp(-x * x).
vec4 erf4(vec4 x) {
  vec4 a = abs(x), s = a * a;
  vec4 near = a * (1.12837923 + s * (-0.37612635 + s * (0.11283656 + s * (-0.02685238 + s * (0.005160077 +
              s * -0.00071601936)))));
  vec4 b = min(a, vec4(4.0)), t = 1.0 / (1.0 + 0.5 * b);
  vec4 q = -0.00014088867 + t * (0.2847173 + t * (0.26090196 + t * (0.3436561 + t * (-0.095215864 + t * (0.5531905 +
           t * (-0.46455857 + t * 0.11749512))))));
  vec4 far = 1.0 - q * exp(-b * b);
  return sign(x) * mix(far, near, lessThan(a, vec4(0.65)));
}

vec4 activate(vec4 x, uint kind) {
  if (kind == ACT_RELU) return max(x, vec4(0.0));
  if (kind == ACT_GELU_ERF) return 0.5 * x * (1.0 + erf4(x * 0.70710678118654752));
  if (kind == ACT_GELU_TANH) return 0.5 * x * (1.0 + safe_tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
  // exp(80) is finite, and x / (1 + exp(80)) is 0 for every x in range.
  if (kind == ACT_SILU) return x / (1.0 + exp(min(-x, vec4(80.0))));
#ifdef GATE
  if (kind == ACT_SIGMOID) return 1.0 / (1.0 + exp(min(-x, vec4(80.0))));
#endif
  if (kind == ACT_TANH) return safe_tanh(x);
  if (kind == ACT_GELU_QUICK) return x / (1.0 + exp(min(-1.702 * x, vec4(80.0))));
  if (kind == ACT_GELU_10) return clamp(0.5 * x * (1.0 + erf4(x * 0.70710678118654752)), vec4(-10.0), vec4(10.0));
  if (kind == ACT_RELU6) return clamp(x, vec4(0.0), vec4(6.0));
  if (kind == ACT_RELU_SQUARED) return max(x, vec4(0.0)) * max(x, vec4(0.0));
  if (kind == ACT_LEAKY_RELU) return max(x, vec4(0.0)) + 0.01 * min(x, vec4(0.0));
  if (kind == ACT_MISH) {
    // tanh(log(1 + e)) without the logarithm; beyond 20 it is 1 in fp32.
    vec4 e = exp(min(x, vec4(20.0))), n = e * (e + 2.0);
    return x * (n / (n + 2.0));
  }
  return x;
}
