// What the kernels of the search share: the order of candidates and the treatment of forbidden scores.

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

// Neither finite nor forbidden: an infinity, or no number. By its bits, for what a comparison makes of it is up to the
// device.
bool no_number(uint score) { return (score & 0x7f800000u) == 0x7f800000u; }
