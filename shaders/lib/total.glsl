// Sums over a workgroup of LOCAL invocations, at most 128, of numbers of type PART (float without a definition).
#ifndef PART
#define PART float
#endif
shared PART part[128];

// Sum of v over the workgroup.
PART total(PART v) {
  uint l = gl_LocalInvocationIndex;
  part[l] = v;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (l < s) part[l] += part[l + s];
    barrier();
  }
  PART sum = part[0];
  barrier();
  return sum;
}
