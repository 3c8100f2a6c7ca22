// Features of the language: function pointers, switches, local arrays,
// division, trigonometry, cooperation of a block, dot products, inline PTX.
typedef unsigned long long u64;
typedef long long s64;
#define K extern "C" __global__ void
#define T (blockIdx.x * blockDim.x + threadIdx.x)

typedef unsigned (*op)(unsigned, unsigned);
__device__ __noinline__ unsigned f_add(unsigned a, unsigned b) { return a + b; }
__device__ __noinline__ unsigned f_mul(unsigned a, unsigned b) { return a * b; }
__device__ __noinline__ unsigned f_xor(unsigned a, unsigned b) { return a ^ (b << 3); }
__device__ __noinline__ unsigned f_rem(unsigned a, unsigned b) { return a % (b | 1); }
__device__ op ops[4] = {f_add, f_mul, f_xor, f_rem};
K function_pointers(unsigned *v) {
  unsigned x = v[T];
  for (int k = 0; k < 20; k++)
    x = ops[(x >> 3 ^ T) & 3](x, v[T] + k);
  v[T] = x;
}

// A small stack machine.
K interpreter(const unsigned char *code, int n, s64 *out) {
  s64 stack[16];
  int top = 0;
  for (int pc = 0; pc < n; pc++) {
    s64 a = top > 0 ? stack[top - 1] : 0, b = top > 1 ? stack[top - 2] : 0;
    switch (code[pc] % 14) {
    case 0: stack[top] = T; top = (top + 1) & 15; break;
    case 1: stack[top] = pc * 77 + 1; top = (top + 1) & 15; break;
    case 2: if (top > 1) stack[--top - 1] = b + a; break;
    case 3: if (top > 1) stack[--top - 1] = b - a; break;
    case 4: if (top > 1) stack[--top - 1] = (s64)((u64)b * (u64)a); break;
    case 5: if (top > 1) stack[--top - 1] = a ? (s64)((u64)b / (u64)a) : 7; break;
    case 6: if (top > 1) stack[--top - 1] = a > 0 ? b % a : 3; break;
    case 7: if (top > 0) stack[top - 1] = a >> 5; break;
    case 8: if (top > 0) stack[top - 1] = ~a; break;
    case 9: if (top > 1) { stack[top - 1] = b; stack[top - 2] = a; } break;
    case 10: if (a & 1) pc++; break;
    case 11: if (top > 0) stack[top - 1] = (s64)((u64)a << (T & 63)); break;
    case 12: if (top > 1) stack[--top - 1] = b < a ? b : a; break;
    default: if (top > 0) stack[top & 15] = a, top = (top + 1) & 15;
    }
  }
  u64 sum = 0;
  for (int k = 0; k < top; k++)
    sum = sum * 31 + (u64)stack[k];
  out[T] = (s64)sum;
}

// More live values than registers: compiled with maxrregcount, they spill.
K spill(const float *in, float *out) {
  float v[48];
#pragma unroll
  for (int k = 0; k < 48; k++)
    v[k] = in[T * 48 + k];
#pragma unroll 1
  for (int r = 0; r < 5; r++)
#pragma unroll
    for (int k = 0; k < 48; k++)
      v[k] = fmaf(v[(k + 7) % 48], 0.5f, v[(k * 5 + 1) % 48]);
#pragma unroll
  for (int k = 0; k < 48; k++)
    out[T * 48 + k] = v[k];
}

K division(const double *a, const double *b, double *q, const u64 *n, u64 *r) {
  q[T] = a[T] / b[T];
  r[4 * T] = n[2 * T] / (n[2 * T + 1] | 1);
  r[4 * T + 1] = n[2 * T] % (n[2 * T + 1] | 1);
  r[4 * T + 2] = (u64)((s64)n[2 * T] / ((s64)n[2 * T + 1] | 2));
  r[4 * T + 3] = (u64)((s64)n[2 * T] % ((s64)n[2 * T + 1] | 2));
}
K trigonometry(const double *x, double *y) {
  double a = x[T];
  y[4 * T] = sin(a);
  y[4 * T + 1] = cos(a * 1e6);
  y[4 * T + 2] = atan2(a, a * a - 3);
  y[4 * T + 3] = sqrt(fabs(a)) + cbrt(a);
}

__device__ int block_reduce(int v) {
  __shared__ int part[32];
  for (int d = 16; d; d /= 2)
    v += __shfl_xor_sync(~0u, v, d);
  if ((threadIdx.x & 31) == 0)
    part[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
  if (threadIdx.x < 32)
    v = __reduce_add_sync(~0u, v);
  return v;
}
K dot_products(const int *a, const int *b, int *out, int n) {
  int sum = 0;
  // By inline PTX: NVRTC 12.2 and, with --device-debug, 13.5 do not compile __dp4a.
  for (int i = T; i < n; i += gridDim.x * blockDim.x) {
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a[i]), "r"(b[i]));
    asm("dp2a.hi.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a[i]), "r"(b[i]));
  }
  sum = block_reduce(sum);
  if (threadIdx.x == 0)
    atomicAdd(out, sum);
}

// Pairs of halves, by inline PTX: out = (a * b + c, max, a < b)
K halves(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *out) {
  unsigned r, m, s;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a[T]), "r"(b[T]), "r"(c[T]));
  asm("max.f16x2 %0, %1, %2;" : "=r"(m) : "r"(a[T]), "r"(b[T]));
  asm("{.reg .pred p, q; .reg .u32 t, u; setp.lt.f16x2 p|q, %1, %2; selp.u32 t, 1, 0, p;"
      " selp.u32 u, 2, 0, q; or.b32 %0, t, u;}"
      : "=r"(s) : "r"(a[T]), "r"(b[T]));
  out[3 * T] = r, out[3 * T + 1] = m, out[3 * T + 2] = s;
}

// The lanes of a warp compete for a lock.
K spin_lock(unsigned *lock, unsigned *count) {
  for (bool done = false; !done;)
    if (atomicCAS(lock, 0, 1) == 0) {
      unsigned v = *(volatile unsigned *)count;
      *(volatile unsigned *)count = v + 1 + (v & 1);
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
}
