/* Fourier transforms of 1024 complex numbers, one for each block: Stockham's
 * radix 4 in shared memory. */
#define SIZE 1024
#define ITEMS (SIZE / 4)

static __device__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
static __device__ float2 plus(float2 a, float2 b) {
  return make_float2(a.x + b.x, a.y + b.y);
}
static __device__ float2 minus(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}

extern "C" __global__ void __launch_bounds__(ITEMS)
    fft(const float2 *__restrict__ in, float2 *__restrict__ out) {
  __shared__ float2 data[SIZE];
  int item = threadIdx.x;
  in += (size_t)blockIdx.x * SIZE;
  out += (size_t)blockIdx.x * SIZE;
  for (int i = 0; i < 4; i++)
    data[i * ITEMS + item] = in[i * ITEMS + item];
  for (int stride = 1; stride < SIZE; stride *= 4) {
    __syncthreads();
    int k = item & (stride - 1);
    float angle = -6.28318531f / 4 * k / stride;
    float s, c;
    sincosf(angle, &s, &c);
    float2 w = make_float2(c, s), w2 = times(w, w);
    float2 v0 = data[item];
    float2 v1 = times(w, data[item + ITEMS]);
    float2 v2 = times(w2, data[item + 2 * ITEMS]);
    float2 v3 = times(times(w, w2), data[item + 3 * ITEMS]);
    __syncthreads();
    float2 a = plus(v0, v2), b = minus(v0, v2), c2 = plus(v1, v3), d = minus(v1, v3);
    d = make_float2(d.y, -d.x);
    int to = (item - k) * 4 + k;
    data[to] = plus(a, c2);
    data[to + stride] = plus(b, d);
    data[to + 2 * stride] = minus(a, c2);
    data[to + 3 * stride] = minus(b, d);
  }
  __syncthreads();
  for (int i = 0; i < 4; i++)
    out[i * ITEMS + item] = data[i * ITEMS + item];
}
