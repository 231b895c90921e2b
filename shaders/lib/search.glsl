// What the kernels of the search share: the order of candidates, the treatment of forbidden scores, ends.

// Forbidden scores are all alike, so that they rank by id.
float unless_forbidden(float score) { return score <= FORBIDDEN ? MASKED : score; }
bool forbidden(float score) { return score <= FORBIDDEN; }

const uint NO_ID = 0xffffffffu;

// Score descending, then id ascending.
bool better(float a, uint id_a, float b, uint id_b) { return a > b || (a == b && id_a < id_b); }

// What a sum of log-probabilities over n generated tokens is divided by.
float length_divisor(uint n, float penalty) {
  if (penalty == 0.0) return 1.0;
  if (penalty == 1.0) return float(n);
  return pow(float(n), penalty);
}

// Word i of the options of the sentence at hand: state.glsl has it with PARAMS_BINDING, others bring their own.
uint param(uint i);
bool is_end(const uint id) {
  for (uint i = 0u; i < param(P_END_COUNT); ++i)
    if (param(P_END_IDS + i) == id) return true;
  return false;
}

// Neither finite nor forbidden: an infinity, or no number. By its bits, for what a comparison makes of it is up to the
// device.
bool no_number(uint score) { return (score & 0x7f800000u) == 0x7f800000u; }
