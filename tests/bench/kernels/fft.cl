/* Fourier transforms of 1024 complex numbers, one for each work-group: Stockham's
 * radix 4 in local memory. */
#define SIZE 1024
#define ITEMS (SIZE / 4)

static float2 times(float2 a, float2 b) {
  return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) kernel void
fft(global const float2 *restrict in, global float2 *restrict out) {
  local float2 data[SIZE];
  int item = get_local_id(0);
  in += get_group_id(0) * SIZE;
  out += get_group_id(0) * SIZE;
  for (int i = 0; i < 4; i++)
    data[i * ITEMS + item] = in[i * ITEMS + item];
  for (int stride = 1; stride < SIZE; stride *= 4) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int k = item & (stride - 1);
    float angle = -6.28318531f / 4 * k / stride;
    float s, c;
    s = sincos(angle, &c);
    float2 w = (float2)(c, s), w2 = times(w, w);
    float2 v0 = data[item];
    float2 v1 = times(w, data[item + ITEMS]);
    float2 v2 = times(w2, data[item + 2 * ITEMS]);
    float2 v3 = times(times(w, w2), data[item + 3 * ITEMS]);
    barrier(CLK_LOCAL_MEM_FENCE);
    float2 a = v0 + v2, b = v0 - v2, c2 = v1 + v3, d = v1 - v3;
    d = (float2)(d.y, -d.x);
    int to = (item - k) * 4 + k;
    data[to] = a + c2;
    data[to + stride] = b + d;
    data[to + 2 * stride] = a - c2;
    data[to + 3 * stride] = b - d;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < 4; i++)
    out[i * ITEMS + item] = data[i * ITEMS + item];
}
