// Kernels for what is not arithmetic: memory in all spaces and widths, atomics,
// warp and block operations, control flow, calls, tensor instructions, textures.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <assert.h>
#include <stdio.h>
#include <stdint.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

template <typename T> __device__ void spaces(T *out, const T *in, int n) {
  __shared__ T tile[256];
  T local[17];
  extern __shared__ char dynamic[];
  T *d = (T *)dynamic;
  for (int i = 0; i < 17; i++)
    local[(i * n) % 17] = in[INDEX + i * 100];
  tile[threadIdx.x] = __ldg(in + INDEX);
  d[threadIdx.x * 2] = __ldcs(in + INDEX + 5);
  __syncthreads();
  T *generic = n & 1 ? tile : n & 2 ? out : local;
  generic[n & 15] = local[n % 17];
  __threadfence();
  out[INDEX] = tile[(threadIdx.x + 1) & 255];
  __stcg(out + INDEX + 1, d[threadIdx.x]);
  __stwt(out + INDEX + 2, __ldcg(in + 7));
  __stcs(out + INDEX + 3, __ldlu(in + 9));
  volatile T *v = (volatile T *)out;
  if constexpr (sizeof(T) <= 8)
    *(v + n) = *(v + 2 * n);
}
#define SPACES(T)                                                                                  \
  extern "C" __global__ void spaces_##T(T *out, const T *in, int n) { spaces<T>(out, in, n); }
template <typename T> __device__ void wide(T *out, const T *in, int n) {
  __shared__ T tile[64];
  T local[5];
  for (int i = 0; i < 5; i++)
    local[(i * n) % 5] = in[INDEX + i * 100];
  tile[threadIdx.x] = __ldg(in + INDEX);
  __syncthreads();
  out[INDEX] = tile[(threadIdx.x + 1) & 63];
  out[INDEX + 64] = local[n % 5];
  __stcs(out + INDEX + 3, __ldcs(in + 9));
}
#define WIDE(T)                                                                                    \
  extern "C" __global__ void wide_##T(T *out, const T *in, int n) { wide<T>(out, in, n); }
typedef signed char s8;
typedef unsigned char u8;
SPACES(s8) SPACES(u8) SPACES(short) SPACES(ushort) SPACES(int) SPACES(float) SPACES(double)
WIDE(int2) WIDE(int4) WIDE(char4) WIDE(uchar2) WIDE(short4) WIDE(float4) WIDE(double2)

__constant__ int table[1000];
__constant__ double dtable[100];
__constant__ signed char btable[100];
__constant__ unsigned short htable[100];
extern "C" __global__ void constants(int *out, int n) {
  out[INDEX] = table[n] + table[threadIdx.x] + (int)dtable[threadIdx.x] + btable[INDEX & 63] +
               htable[n] + htable[threadIdx.x] + btable[n] + (int)dtable[n] + table[17];
}
struct big {
  int a[40];
  double d;
  char c;
};
extern "C" __global__ void arguments(int *out, big b, short s, unsigned char c, double d) {
  out[INDEX] = b.a[threadIdx.x % 40] + (int)b.d * b.c + s + c + (int)d;
}

#define ATOMICS(T, n)                                                                              \
  extern "C" __global__ void atomics_##n(T *out, T *g, T v, T w, int k) {                          \
    __shared__ T s[32];                                                                            \
    T *q = k == 3 ? s : g;                                                                         \
    s[threadIdx.x & 31] = v;                                                                       \
    __syncthreads();                                                                               \
    T r = atomicAdd(g, v) + atomicAdd(s + 3, v);                                                   \
    r += atomicAdd(q + 5, w);                                                                      \
    atomicAdd(g + threadIdx.x, w);                                                                 \
    atomicAdd(s + 7, w);                                                                           \
    out[INDEX] = r;                                                                                \
  }
#define ATOMICS_INTEGER(T, n)                                                                      \
  ATOMICS(T, n)                                                                                    \
  extern "C" __global__ void atomics_more_##n(T *out, T *g, T v, T w) {                            \
    __shared__ T s[32];                                                                            \
    T *q = v == 3 ? s : g;                                                                         \
    s[threadIdx.x & 31] = v;                                                                       \
    __syncthreads();                                                                               \
    T r = atomicMin(g, v) + atomicMax(s, v) + atomicAnd(g + 2, v) + atomicOr(s + 1, w) +           \
          atomicXor(g + 3, v) + atomicCAS(g + 4, v, w) + atomicCAS(s + 4, v, w) +                  \
          atomicCAS(q + 9, v, w) + atomicMin(q, w) + atomicXor(q, v) + atomicExch(q, w);           \
    r += atomicExch(g + 1, v) + atomicExch(s, w);                                                  \
    atomicMax(g + 5, w), atomicAnd(g + 6, v), atomicOr(g + 7, w), atomicXor(g + 8, v);             \
    atomicMin(s + 5, w), atomicAnd(s + 6, v), atomicMax(q + 3, v), atomicOr(q + 8, w);             \
    r += atomicAdd_block(g + 9, v) + atomicAdd_system(g + 10, w);                                  \
    out[INDEX] = r;                                                                                \
  }
ATOMICS_INTEGER(int, int)
ATOMICS_INTEGER(unsigned, uint)
ATOMICS_INTEGER(unsigned long long, ull)
ATOMICS(float, float)
ATOMICS(double, double)
ATOMICS(__half2, half2)
extern "C" __global__ void atomics_wrap(unsigned *out, unsigned *g, unsigned v) {
  __shared__ unsigned s[4];
  s[threadIdx.x & 3] = v;
  __syncthreads();
  out[INDEX] = atomicInc(g, v) + atomicDec(g + 1, v) + atomicInc(s, v) + atomicDec(s + 1, 5);
  atomicInc(g + 3, v);
  atomicAdd(s + 2, 1);
  atomicAdd(g + 4, 1);
  atomicSub(g + 5, v);
}
extern "C" __global__ void cas16(unsigned short *g, unsigned short a, unsigned short b) {
  atomicCAS(g + INDEX, a, b);
}

extern "C" __global__ void shuffles(int *out, const int *in, int n, unsigned mask) {
  int a = in[INDEX];
  int r = __shfl_sync(~0u, a, n) + __shfl_sync(~0u, a, 3, 8) + __shfl_up_sync(~0u, a, 1) +
          __shfl_up_sync(~0u, a, n, 16) + __shfl_down_sync(~0u, a, 4) +
          __shfl_down_sync(~0u, a, n) + __shfl_xor_sync(~0u, a, 16) + __shfl_xor_sync(~0u, a, n, n);
  r += __shfl_sync(mask, a, n) + __shfl_xor_sync(mask, r, 8);
  int predicate;
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 2, 31, -1; selp.b32 %1, 1, 0, p; }"
               : "=r"(a), "=r"(predicate)
               : "r"(r));
  out[INDEX] = r + a * predicate + (int)__shfl_xor_sync(~0u, (double)a, 1);
}
extern "C" __global__ void votes(unsigned *out, const int *in, unsigned mask) {
  int a = in[INDEX];
  unsigned r = __ballot_sync(~0u, a > 3) + __all_sync(~0u, a < 9) + __any_sync(~0u, a == 4) +
               __uni_sync(~0u, a != 5) + __activemask();
  if (a & 1)
    r += __ballot_sync(mask, a > 7) + __any_sync(mask, a == 1);
  int all;
  r += __match_any_sync(~0u, a) + __match_all_sync(~0u, a, &all) + all;
  r += __match_any_sync(~0u, (long long)a * a) + __match_all_sync(mask, (long long)a, &all) + all;
  r += __reduce_add_sync(~0u, a) + __reduce_min_sync(~0u, a) + __reduce_max_sync(~0u, (unsigned)a);
  r += __reduce_and_sync(~0u, a) + __reduce_or_sync(mask, a) + __reduce_xor_sync(~0u, a);
  r += __reduce_max_sync(~0u, a) + __reduce_min_sync(mask, (unsigned)a);
  __syncwarp();
  __syncwarp(mask);
  out[INDEX] = r;
}
extern "C" __global__ void barriers(int *out, int n, int id) {
  int r = __syncthreads_count(n > 3) + __syncthreads_and(n < 5) + __syncthreads_or(n == 7);
  asm volatile("bar.sync 1, 64;" ::: "memory");
  asm volatile("bar.arrive 2, 64;" ::: "memory");
  asm volatile("bar.sync %0;" ::"r"(id) : "memory");
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
  asm volatile("bar.sync 3, %0;" ::"r"(n) : "memory");
  asm volatile("bar.arrive %0, 32;" ::"r"(id) : "memory");
  asm volatile("barrier.sync 4;" ::: "memory");
  asm volatile("barrier.sync 5, 96;" ::: "memory");
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 1, 64, p; }"
               : "+r"(r)
               : "r"(n));
  asm volatile("fence.acq_rel.cta; fence.sc.gpu; fence.acq_rel.sys; membar.cta;" ::: "memory");
  __threadfence_block(), __threadfence_system();
  __nanosleep(100), __nanosleep(n);
  out[INDEX] = r;
}
extern "C" __global__ void uniform_jump_table(int *out) {
  int r = threadIdx.x;
  asm("{ targets: .branchtargets t0, t1, t2; brx.idx %1, targets; t0: add.s32 %0, %0, 5; bra end;"
      "t1: mul.lo.s32 %0, %0, %0; bra end; t2: not.b32 %0, %0; end: }"
      : "+r"(r)
      : "r"(gridDim.x));
  out[INDEX] = r;
}
extern "C" __global__ void ordered(int *g) {
  int r;
  asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(r) : "l"(g));
  asm volatile("st.release.sys.b32 [%0], %1;" ::"l"(g + 1), "r"(r));
  asm volatile("ld.relaxed.cta.b32 %0, [%1];" : "=r"(r) : "l"(g + 2));
  asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(g + 3), "r"(r));
  asm volatile("ld.mmio.relaxed.sys.global.b32 %0, [%1];" : "=r"(r) : "l"(g + 2));
  asm volatile("atom.acq_rel.cta.global.add.u32 %0, [%1], 3;" : "=r"(r) : "l"(g + 4));
  asm volatile("red.release.gpu.global.max.s32 [%0], %1;" ::"l"(g + 5), "r"(r));
  asm volatile("prefetch.global.L2 [%0]; prefetch.global.L1 [%0];" ::"l"(g + 500));
  asm volatile("ld.global.L2::128B.b32 %0, [%1];" : "=r"(r) : "l"(g + 6));
  asm volatile("ld.global.L1::evict_last.b32 %0, [%1];" : "+r"(r) : "l"(g + 8));
  asm volatile("st.global.L1::no_allocate.b32 [%0], %1;" ::"l"(g + 7), "r"(r));
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(g + 512));
  asm volatile("{ .reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0;"
               " ld.global.L2::cache_hint.b32 %0, [%1], p; st.global.L2::cache_hint.b32 [%1], %0, p; }"
               : "=r"(r)
               : "l"(g + 9));
  g[10] = r + __isGlobal(g) + __isShared(g) + __isLocal(g) + __isConstant(g);
}
extern "C" __global__ void specials(unsigned *out) {
  unsigned r = threadIdx.x + threadIdx.y * 3 + threadIdx.z * 5 + blockIdx.x + blockIdx.y * 7 +
               blockIdx.z * 11 + blockDim.x * blockDim.y + blockDim.z + gridDim.x * gridDim.y +
               gridDim.z + warpSize;
#define SPECIAL(name)                                                                              \
  {                                                                                                \
    unsigned v;                                                                                    \
    asm volatile("mov.u32 %0, %%" #name ";" : "=r"(v));                                            \
    r += v;                                                                                        \
  }
  SPECIAL(laneid) SPECIAL(warpid) SPECIAL(nwarpid) SPECIAL(smid) SPECIAL(nsmid) SPECIAL(clock)
  SPECIAL(clock_hi) SPECIAL(lanemask_eq) SPECIAL(lanemask_lt) SPECIAL(lanemask_le)
  SPECIAL(lanemask_gt) SPECIAL(lanemask_ge) SPECIAL(globaltimer_lo) SPECIAL(globaltimer_hi)
  SPECIAL(dynamic_smem_size) SPECIAL(total_smem_size) SPECIAL(envreg0) SPECIAL(pm0) SPECIAL(pm3)
  out[INDEX] = r + (unsigned)clock64() + (unsigned)(clock64() >> 32);
  asm volatile("pmevent 3;");
}

extern "C" __global__ void control(int *out, const int *in, int n) {
  int r = in[INDEX];
  switch (r) {
  case 0: r = in[3] * 7; break;
  case 1: r ^= n; break;
  case 2: out[5] = r; break;
  case 3: r += in[9]; break;
  case 4: r = -r; break;
  case 5: r = __popc(r); break;
  case 6: r -= n; break;
  case 7: r *= n; break;
  case 8: return;
  case 9: r = 12; __syncwarp(); break;
  case 10: r = in[r]; break;
  case 11: r <<= 3; break;
  default: r = 9;
  }
  for (int i = 0; i < n; i++) {
    for (int j = i; j < r; j++) {
      if (in[j] == 3)
        break;
      if (in[j] == 4)
        continue;
      if (in[j] == 5)
        goto done;
      r += in[j + i];
    }
    if (r < 0)
      return;
  }
done:
  while (atomicCAS(out + 1, 0, 1) != 0)
    ;
  out[INDEX] = r;
  if (r == 77)
    __trap();
  if (r == 78)
    __brkpt();
}
__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ double helper(double a, int *b) { return a * *b + sin(a); }
__device__ __noinline__ int f0(int a) { return a + 1; }
__device__ __noinline__ int f1(int a) { return a * 3; }
__device__ int (*const functions[])(int) = {f0, f1, fibonacci};
extern "C" __global__ void calls(int *out, const int *in, int n) {
  int a[20];
  for (int i = 0; i < 20; i++)
    a[i] = in[i + n];
  out[INDEX] = fibonacci(in[INDEX]) + (int)helper(in[0], a + n) + functions[n](in[1]);
}
struct shape {
  __device__ virtual int area() const = 0;
};
struct square : shape {
  int a;
  __device__ square(int x) : a(x) {}
  __device__ int area() const override { return a * a; }
};
struct circle : shape {
  int r;
  __device__ circle(int x) : r(x) {}
  __device__ int area() const override { return r * r * 3; }
};
extern "C" __global__ void virtuals(int *out, int n) {
  square s(n);
  circle c(n);
  const shape *p = n & 1 ? (const shape *)&s : &c;
  out[INDEX] = p->area();
}
extern "C" __global__ void spills(float *out, const float *in) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; i++)
    v[i] = in[INDEX * 64 + i];
#pragma unroll
  for (int k = 0; k < 3; k++)
#pragma unroll
    for (int i = 0; i < 64; i++)
      v[i] = v[i] * v[(i * 7 + k) & 63] + v[(i + 13) & 63];
#pragma unroll
  for (int i = 0; i < 64; i++)
    out[INDEX * 64 + i] = v[i];
}
extern "C" __global__ void printing(int n) {
  printf("%d %f\n", n, n * 0.5);
  if (n == 3)
    assert(n > 5);
  int *p = (int *)malloc(n);
  if (p)
    p[0] = 3;
  free(p);
}

extern "C" __global__ void copies(int *out, const int *in, int n) {
  __shared__ alignas(16) int tile[512];
  __pipeline_memcpy_async(tile + threadIdx.x * 4, in + INDEX * 4, 16);
  __pipeline_commit();
  __pipeline_memcpy_async(tile + 256 + threadIdx.x, in + INDEX, 4);
  __pipeline_memcpy_async(tile + 128 + threadIdx.x * 2, in + INDEX, 8, 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  __pipeline_wait_prior(0);
  uint64_t *barrier = (uint64_t *)(tile + 400);
  unsigned shared = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared));
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared));
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(shared));
  int done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared), "l"(state));
  out[INDEX] = tile[(threadIdx.x + n) & 511] + done;
}

using namespace nvcuda;
template <typename A, typename C, int M, int N, int K> __device__ void product(C *c, const A *a) {
  wmma::fragment<wmma::matrix_a, M, N, K, A, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, A, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fill_fragment(fc, (C)0);
  for (int i = 0; i < 4; i++) {
    wmma::load_matrix_sync(fa, a + i * 16, 64);
    wmma::load_matrix_sync(fb, a + i * 16 + 1024, 64);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
extern "C" __global__ void tensors(float *f, half *h, int *i, double *d, const half *a,
                                   const signed char *b, const double *e) {
  product<half, float, 16, 16, 16>(f, a);
  product<half, half, 16, 16, 16>(h, a);
  product<half, float, 32, 8, 16>(f + 512, a);
  product<signed char, int, 16, 16, 16>(i, b);
  product<unsigned char, int, 8, 32, 16>(i + 512, (const unsigned char *)b);
  product<double, double, 8, 8, 4>(d, e);
}
#define MMA(shape, types, d, a, b, c)                                                              \
  asm volatile("mma.sync.aligned." shape ".row.col." types " {" d "}, {" a "}, {" b "}, {" c "};"  \
               : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])                                    \
               : "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]), "r"(r[8]), "r"(r[9]));
extern "C" __global__ void mma_forms(unsigned *g) {
  unsigned r[10];
  for (int i = 0; i < 10; i++)
    r[i] = g[INDEX + i * 32];
  MMA("m16n8k8", "f32.bf16.bf16.f32", "%0,%1,%2,%3", "%4,%5", "%6", "%0,%1,%2,%3")
  MMA("m16n8k16", "f32.bf16.bf16.f32", "%0,%1,%2,%3", "%4,%5,%6,%7", "%8,%9", "%0,%1,%2,%3")
  MMA("m16n8k8", "f32.tf32.tf32.f32", "%0,%1,%2,%3", "%4,%5,%6,%7", "%8,%9", "%0,%1,%2,%3")
  MMA("m16n8k4", "f32.tf32.tf32.f32", "%0,%1,%2,%3", "%4,%5", "%6", "%0,%1,%2,%3")
  MMA("m16n8k16", "f16.f16.f16.f16", "%0,%1", "%4,%5,%6,%7", "%8,%9", "%0,%1")
  MMA("m16n8k32", "s32.s8.u8.s32", "%0,%1,%2,%3", "%4,%5,%6,%7", "%8,%9", "%0,%1,%2,%3")
  MMA("m16n8k64", "s32.s4.u4.s32", "%0,%1,%2,%3", "%4,%5,%6,%7", "%8,%9", "%0,%1,%2,%3")
  asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3}, "
               "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])
               : "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]), "r"(r[8]), "r"(r[9]));
  asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
               "{%4,%5,%6,%7}, {%8,%9,%4,%5}, {%0,%1,%2,%3}, %6, 0x1;"
               : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])
               : "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]), "r"(r[8]), "r"(r[9]));
  __shared__ unsigned s[256];
  s[threadIdx.x] = r[0];
  __syncthreads();
  unsigned address = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 4);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(r[4]), "=r"(r[5])
               : "r"(address));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1+16];" : "=r"(r[6]) : "r"(address));
  for (int i = 0; i < 10; i++)
    g[INDEX + i * 32] = r[i];
}

extern "C" __global__ void textures(float4 *out, cudaTextureObject_t t, cudaSurfaceObject_t s,
                                    float x, float y, int i) {
  float4 r = tex1D<float4>(t, x);
  float4 a = tex2D<float4>(t, x, y), b = tex3D<float4>(t, x, y, x), c = texCubemap<float4>(t, x, y, x);
  float4 d = tex2DLayered<float4>(t, x, y, i), e = tex2DLod<float4>(t, x, y, x);
  float4 f = tex2DGrad<float4>(t, x, y, make_float2(x, y), make_float2(y, x));
  float4 g = tex2Dgather<float4>(t, x, y, 1), h = tex1Dfetch<float4>(t, i);
  r.x += a.x + b.y + c.z + d.w + e.x + f.y + g.z + h.w;
  r.y += surf2Dread<float>(s, i, i) + surf1Dread<float>(s, i) + surf3Dread<float2>(s, i, i, i).x;
  surf2Dwrite<float>(r.x, s, i, i);
  surf1Dwrite<float4>(r, s, i, cudaBoundaryModeClamp);
  surf3Dwrite<short2>(make_short2(1, i), s, i, i, i, cudaBoundaryModeZero);
  asm volatile("sust.p.2d.b32.trap [%0, {%1, %1}], {%1};" ::"l"(s), "r"(i));
  asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %1}], %1;" ::"l"(s), "r"(i));
  int w;
  asm volatile("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(t));
  r.z += w;
  out[INDEX] = r;
}

extern "C" __global__ void inline_ptx(unsigned *out, const unsigned *in) {
  unsigned a = in[INDEX], b = in[INDEX + 1], c = in[INDEX + 2], r = 0, t;
#define PTX3(op)                                                                                   \
  asm volatile(op " %0, %1, %2, %3;" : "=r"(t) : "r"(a), "r"(b), "r"(c));                          \
  r ^= t;
#define PTX2(op)                                                                                   \
  asm volatile(op " %0, %1, %2;" : "=r"(t) : "r"(a), "r"(b));                                      \
  r ^= t;
#define PTX1(op)                                                                                   \
  asm volatile(op " %0, %1;" : "=r"(t) : "r"(a));                                                  \
  r ^= t;
  PTX3("bfe.u32") PTX3("bfe.s32") PTX3("mad.hi.s32") PTX3("mad.hi.u32") PTX3("mad24.lo.s32")
  PTX3("mad24.hi.u32") PTX3("sad.u32") PTX3("prmt.b32.f4e") PTX3("prmt.b32.b4e")
  PTX3("prmt.b32.rc8") PTX3("prmt.b32.ecl") PTX3("prmt.b32.ecr") PTX3("prmt.b32.rc16")
  PTX3("shf.l.wrap.b32") PTX3("shf.r.clamp.b32") PTX3("dp4a.u32.s32") PTX3("dp2a.lo.s32.u32")
  PTX3("vadd.s32.s32.s32.sat") PTX3("vset4.u32.u32.lt") PTX3("vmad.u32.u32.u32")
  PTX2("szext.wrap.s32") PTX2("szext.clamp.u32") PTX2("bmsk.clamp.b32") PTX2("bmsk.wrap.b32")
  PTX2("add.sat.s32") PTX2("sub.sat.s32")
  PTX1("bfind.u32") PTX1("bfind.s32") PTX1("bfind.shiftamt.u32") PTX1("popc.b32") PTX1("clz.b32")
  PTX1("cnot.b32") PTX1("abs.s32") PTX1("neg.s32") PTX1("tanh.approx.f32")
  PTX1("ex2.approx.f16x2") PTX1("tanh.approx.f16x2") PTX1("abs.f16x2") PTX1("neg.bf16x2")
  PTX1("cvt.rna.tf32.f32") PTX2("cvt.rn.relu.bf16x2.f32")
  PTX2("cvt.rz.f16x2.f32") PTX2("cvt.pack.sat.u16.s32") PTX3("cvt.pack.sat.s8.s32.b32")
  PTX2("min.xorsign.abs.f32") PTX2("max.NaN.f32") PTX2("set.lt.u32.f32") PTX2("set.geu.f32.f32")
  PTX2("add.ftz.f32") PTX2("mul.ftz.sat.f32") PTX2("min.ftz.f32") PTX2("max.NaN.xorsign.abs.f16x2")
  PTX3("fma.rm.ftz.f32") PTX3("fma.rn.sat.f16x2") PTX3("fma.rn.relu.bf16x2") PTX1("copysign.f32 %0, %1, %1; //")
  asm volatile("add.cc.u32 %0, %1, %2; addc.cc.u32 %0, %0, %2; subc.u32 %0, %0, %1;"
               : "=r"(t)
               : "r"(a), "r"(b));
  r ^= t;
  asm volatile("{ .reg .b64 w; mad.lo.cc.u32 %0, %1, %2, %0; madc.hi.cc.u32 %0, %1, %2, %0;"
               " madc.lo.u32 %0, %1, %2, 0; mul.wide.s32 w, %1, %2; cvt.u32.u64 %0, w; }"
               : "+r"(t)
               : "r"(a), "r"(b));
  asm volatile("{ .reg .pred p, q; setp.lt.and.u32 p|q, %1, %2, p; selp.u32 %0, %1, %2, q;"
               " testp.infinite.f32 p, %0; @p mov.b32 %0, 3; slct.u32.s32 %0, %1, %2, %0; }"
               : "+r"(t)
               : "r"(a), "r"(b));
  out[INDEX] = r ^ t;
}
