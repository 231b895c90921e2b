// Scores of attention that end in a tanh (Gemma 2, 2024): a score becomes cap * tanh(score / cap), before biases and
// masks. SCORE_CAP_ID: the id of the constant with the bits of the cap; 0: scores stay as they are.
layout(constant_id = SCORE_CAP_ID) const uint SCORE_CAP = 0;

// tanh built on exp overflows on some drivers; beyond 15 it is 1 in fp32 anyway.
float capped(const float score) {
  if (SCORE_CAP == 0u) return score;
  float cap = uintBitsToFloat(SCORE_CAP);
  return cap * tanh(clamp(score / cap, -15.0, 15.0));
}
vec4 capped(const vec4 scores) {
  if (SCORE_CAP == 0u) return scores;
  float cap = uintBitsToFloat(SCORE_CAP);
  return cap * tanh(clamp(scores / cap, vec4(-15.0), vec4(15.0)));
}
