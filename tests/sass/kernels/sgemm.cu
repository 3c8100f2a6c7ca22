// C = A B, tiles of 64 by 64 by 8 with double buffering in shared memory and 4 by 4
// results a thread; and the same with asynchronous copies.
#define TILE 64
#define DEPTH 8
__device__ void multiply(const float (*sa)[TILE], const float (*sb)[TILE], int ty, int tx,
                         float (*c)[4]) {
#pragma unroll
  for (int k = 0; k < DEPTH; k++) {
    float4 a = *(const float4 *)&sa[k][ty * 4], b = *(const float4 *)&sb[k][tx * 4];
    float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++)
        c[i][j] = fmaf(av[i], bv[j], c[i][j]);
  }
}
extern "C" __global__ void sgemm(const float *__restrict__ a, const float *__restrict__ b,
                                 float *c, int n) {
  __shared__ __align__(16) float sa[2][DEPTH][TILE], sb[2][DEPTH][TILE];
  int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  const float *pa = a + (blockIdx.y * TILE + (t >> 2)) * n + (t & 3) * 2;
  const float *pb = b + (t >> 5) * n + blockIdx.x * TILE + (t & 31) * 2;
  float acc[4][4] = {};
  float2 ra = *(const float2 *)pa, rb = *(const float2 *)pb;
  int buffer = 0;
  for (int k = 0; k < n; k += DEPTH) {
    sa[buffer][(t & 3) * 2][t >> 2] = ra.x;
    sa[buffer][(t & 3) * 2 + 1][t >> 2] = ra.y;
    *(float2 *)&sb[buffer][t >> 5][(t & 31) * 2] = rb;
    __syncthreads();
    if (k + DEPTH < n) {
      ra = *(const float2 *)(pa + k + DEPTH);
      rb = *(const float2 *)(pb + (k + DEPTH) * n);
    }
    multiply(sa[buffer], sb[buffer], ty, tx, acc);
    buffer ^= 1;
  }
  for (int i = 0; i < 4; i++)
    *(float4 *)&c[(blockIdx.y * TILE + ty * 4 + i) * n + blockIdx.x * TILE + tx * 4] =
        make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}
// B by cp.async, two tiles ahead; A is given transposed.
extern "C" __global__ void sgemm_async(const float *__restrict__ at, const float *__restrict__ b,
                                       float *c, int n) {
  __shared__ __align__(16) float sa[2][DEPTH][TILE], sb[2][DEPTH][TILE];
  int t = threadIdx.x, tx = t & 15, ty = t >> 4, row = (t & 127) >> 4, col = (t & 15) * 4;
  float acc[4][4] = {};
  const float *from = t < 128 ? at + row * n + blockIdx.y * TILE + col
                              : b + row * n + blockIdx.x * TILE + col;
  for (int k = -DEPTH; k < n; k += DEPTH) {
    if (k + DEPTH < n) {
      int next = (k / DEPTH + 1) & 1;
      float *to = t < 128 ? &sa[next][row][col] : &sb[next][row][col];
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       (unsigned)__cvta_generic_to_shared(to)),
                   "l"(from + (k + DEPTH) * n));
    }
    asm volatile("cp.async.commit_group;");
    if (k >= 0)
      multiply(sa[k / DEPTH & 1], sb[k / DEPTH & 1], ty, tx, acc);
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      c[(blockIdx.y * TILE + ty * 4 + i) * n + blockIdx.x * TILE + tx * 4 + j] = acc[i][j];
}
