/* Prices of European calls and puts. */
static __device__ float normal(float x) {
  return 0.5f * erfcf(x * -0.70710678f);
}

extern "C" __global__ void black_scholes(const float *__restrict__ price,
                                         const float *__restrict__ strike,
                                         const float *__restrict__ years, float *__restrict__ call,
                                         float *__restrict__ put, float rate, float volatility,
                                         int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = price[i], x = strike[i], t = years[i];
  float root = sqrtf(t);
  float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  float d2 = d1 - volatility * root;
  float n1 = normal(d1), n2 = normal(d2);
  float discounted = x * expf(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - s * (1 - n1);
}
