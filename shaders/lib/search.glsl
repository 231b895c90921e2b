// Shared by the search kernels: the order of candidates, the treatment of forbidden scores, end tokens.

// Forbidden scores are made equal, so that they rank by id.
float unless_forbidden(float score) { return score <= FORBIDDEN ? MASKED : score; }
bool forbidden(float score) { return score <= FORBIDDEN; }

const uint NO_ID = 0xffffffffu;

// Score descending, then id ascending.
bool better(float a, uint id_a, float b, uint id_b) { return a > b || (a == b && id_a < id_b); }

// The divisor of a sum of log-probabilities over n generated tokens.
float length_divisor(uint n, float penalty) {
  if (penalty == 0.0) return 1.0;
  if (penalty == 1.0) return float(n);
  return pow(float(n), penalty);
}

// Word i of the current sentence's options: state.glsl defines it with PARAMS_BINDING, other kernels define their own.
uint param(uint i);
bool is_end(const uint id) {
  for (uint i = 0u; i < param(P_END_COUNT); ++i)
    if (param(P_END_IDS + i) == id) return true;
  return false;
}

// An infinity or NaN. Tested by bits, since devices compare such values differently.
bool no_number(uint score) { return (score & 0x7f800000u) == 0x7f800000u; }
