/* Floating point: comparisons with NaN, conversions, constants, contraction. */
kernel void compare(global const float *a, global const double *b, global int *out) {
  size_t i = get_global_id(0);
  float x = a[i], y = a[i + 1];
  double p = b[i], q = b[i + 1];
  int r = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
  r |= !(x < y) << 6 | !(x >= y) << 7 | isunordered(x, y) << 8 | islessgreater(x, y) << 9;
  r |= (p < q) << 10 | !(p <= q) << 11 | (p == q) << 12 | !(p != q) << 13 | isnan(p) << 14;
  out[i] = r;
}
#if __clang_major__ >= 19
#pragma clang diagnostic ignored "-Wnan-infinity-disabled" /* by fast math */
#endif
kernel void constants(global float *f, global double *d) {
  f[0] = 0.1f;
  f[1] = -0.0f;
  f[2] = INFINITY;
  f[3] = NAN;
  f[4] = -INFINITY;
  f[5] = 1e-45f;
  f[6] = MAXFLOAT;
  d[0] = 0.1;
  d[1] = -HUGE_VAL;
  d[2] = 4.9406564584124654e-324;
  d[3] = M_PI;
}
kernel void arithmetic(global float *f, global double *d, global float *out) {
  size_t i = get_global_id(0);
  float x = f[i], y = f[i + 1];
  out[0] = x * y + f[2];
  out[1] = x / y;
  out[2] = sqrt(x) + rsqrt(y);
  out[3] = fmod(x, y) + floor(x) - ceil(y) + trunc(x) + rint(y) + round(x);
  out[4] = fabs(x) + copysign(x, y) + fmin(x, y) + fmax(x, y) + mad(x, y, x) + fma(x, y, x);
  d[i] = d[i] * d[i + 1] + (double)x - (double)(float)d[i + 2];
  out[5] = (float)d[i] - (float)(ulong)x + (float)(short)y;
}
kernel void apart(global float *f) {
#pragma OPENCL FP_CONTRACT OFF
  f[4] = f[0] * f[1] + f[2];
}
