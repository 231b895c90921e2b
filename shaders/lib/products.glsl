// What four depths add to the sums of four columns: v are x's numbers there, w0 to w3 the columns'. As one chain of fused
// multiplications and additions it is four instructions, where a sum of products is five; llvmpipe fuses nothing by itself, and
// makes eight. Not for kernels that wait for their loads with one row or two: there a chain waits for itself as well.
vec4 add_products(const vec4 sum, const vec4 v, const vec4 w0, const vec4 w1, const vec4 w2, const vec4 w3) {
  return fma(v.wwww, w3, fma(v.zzzz, w2, fma(v.yyyy, w1, fma(v.xxxx, w0, sum))));
}
