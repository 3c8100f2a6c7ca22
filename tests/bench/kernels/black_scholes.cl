/* Prices of European calls and puts. */
static float normal(float x) {
  return 0.5f * erfc(x * -0.70710678f);
}

kernel void black_scholes(global const float *restrict price, global const float *restrict strike,
                          global const float *restrict years, global float *restrict call,
                          global float *restrict put, float rate, float volatility, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float s = price[i], x = strike[i], t = years[i];
  float root = sqrt(t);
  float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  float d2 = d1 - volatility * root;
  float n1 = normal(d1), n2 = normal(d2);
  float discounted = x * exp(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - s * (1 - n1);
}
