// Adds four depths to the sums of four columns: v holds x's values, w0 to w3 the columns'. One chain of fused
// multiply-adds takes four instructions where a sum of products takes five; llvmpipe fuses nothing by itself and makes
// eight. Not for kernels that are load-bound with one row or two: there the chain's own latency adds to the wait.
vec4 add_products(const vec4 sum, const vec4 v, const vec4 w0, const vec4 w1, const vec4 w2, const vec4 w3) {
  return fma(v.wwww, w3, fma(v.zzzz, w2, fma(v.yyyy, w1, fma(v.xxxx, w0, sum))));
}
