/* Tests operations of several lanes: divergence, barriers, shuffles and votes, atomics, calls,
 * local and shared memory. NVRTC compiles the kernels, and results are compared with those computed
 * here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/state.h"
#include "gpu/isa/insn.h"
#include "tests/sm/harness.h"

#include <cmocka.h>

static const char source[] =
    "typedef unsigned u32; typedef unsigned long long u64;\n"
    "#define K extern \"C\" __global__ void\n"
    "K unwritten(u32 *o) { u32 v, b = blockIdx.x;\n"
    "  asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(v));\n"
    "  asm volatile(\"{ .reg .pred p; setp.ne.u32 p, %1, 0; @p mad.lo.u32 %0, %2, 3, %0; }\" : "
    "\"+r\"(v) : \"r\"(b & 1), \"r\"(b + 9)); o[b * blockDim.x + threadIdx.x] = v; }\n"
    "K shuffle(u32 *o) { u32 t = threadIdx.x, v = t * 3 + 1;\n"
    "  o[t * 4] = __shfl_sync(~0u, v, (t * 7) & 31); o[t * 4 + 1] = __shfl_up_sync(~0u, v, 3);\n"
    "  o[t * 4 + 2] = __shfl_down_sync(~0u, v, 5, 16); o[t * 4 + 3] = __shfl_xor_sync(~0u, v, 9); "
    "}\n"
    "K vote(u32 *o) { u32 t = threadIdx.x;\n"
    "  o[t * 4] = __ballot_sync(~0u, t % 3 == 0); o[t * 4 + 1] = __any_sync(~0u, t == 40);\n"
    "  o[t * 4 + 2] = __all_sync(~0u, t < 32); o[t * 4 + 3] = __match_any_sync(~0u, t / 5);}\n"
    "K reduce(u32 *o) { u32 t = threadIdx.x; o[t * 4] = __reduce_add_sync(~0u, t);\n"
    "  o[t * 4 + 1] = __reduce_max_sync(~0u, t * 77 % 101); o[t * 4 + 2] = __reduce_xor_sync(~0u, "
    "t);\n"
    "  o[t * 4 + 3] = t & 1 ? __reduce_min_sync(0xaaaaaaaau, t * 5 % 31) : "
    "__reduce_or_sync(0x55555555u, t); }\n"
    "K diverge(u32 *o) { u32 t = blockIdx.x * blockDim.x + threadIdx.x, s = 0;\n"
    "  for (u32 i = 0; i < t % 37; i++) { if (i == 29) break; if ((i ^ t) & 1) continue;\n"
    "    for (u32 j = i; j < 9; j++) { if (j * t % 11 == 3) break; s += j; if (s > 300) goto out; "
    "} s += i; }\n"
    "  out: o[t] = s; }\n"
    "__device__ __noinline__ u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
    "K recurse(u32 *o) { o[threadIdx.x] = fib(threadIdx.x % 13); }\n"
    "K jump_table(u32 *o) { u32 r = threadIdx.x;\n" /* BRXU, in optimised code */
    "  asm(\"{ targets: .branchtargets t0, t1, t2; brx.idx %1, targets; t0: add.u32 %0, %0, 5;\"\n"
    "  \"bra end; t1: mul.lo.u32 %0, %0, %0; bra end; t2: not.b32 %0, %0; end: }\"\n"
    "  : \"+r\"(r) : \"r\"(gridDim.x - 1)); o[blockIdx.x * blockDim.x + threadIdx.x] = r; }\n"
    "K choose(u32 *o) { u32 t = threadIdx.x, r; switch (t % 11) { case 0: r = 5; break; case 1: r "
    "= t * t; break;\n"
    "  case 2: r = t ^ 99; break; case 3: r = o[t] + 1; break; case 4: r = t << 3; break; case 5: "
    "r = 1 - t; break;\n"
    "  case 6: r = t / 3; break; case 7: r = ~t; break; case 8: r = t * 12345; break; default: r = "
    "77; } o[t] = r; }\n"
    "__device__ u32 f0(u32 x) { return x + 1; } __device__ u32 f1(u32 x) { return x * 2; }\n"
    "__device__ u32 f2(u32 x) { return x * x; } __device__ u32 (*const table[])(u32) = {f0, f1, "
    "f2};\n"
    "K pointers(u32 *o) { u32 t = threadIdx.x; o[t] = table[t % 3](t); }\n"
    "K local_array(u32 *o) { u32 t = threadIdx.x, a[40]; for (u32 i = 0; i < 40; i++) a[i * 7 % "
    "40] = i * t;\n"
    "  u32 s = 0; for (u32 i = 0; i < 40; i++) s = s * 3 + a[(i + t) % 40]; o[t] = s; }\n"
    "__device__ __noinline__ void bump(u32 *p) { *p += 5; }\n"
    "K generic(u32 *o) { __shared__ u32 s[64]; u32 t = threadIdx.x, l = t; s[t % 64] = 7;\n"
    "  u32 *p = t % 3 == 0 ? &l : t % 3 == 1 ? &s[t % 64] : &o[t]; __syncthreads(); bump(p);\n"
    "  __syncthreads(); if (t % 3 == 0) o[t] = l; else if (t % 3 == 1) o[t] = s[t % 64]; }\n"
    "K matmul(const float *a, const float *b, float *c, int n) { __shared__ float sa[16][16], "
    "sb[16][17];\n"
    "  int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, q = blockIdx.x * 16 + x; "
    "float s = 0;\n"
    "  for (int k = 0; k < n; k += 16) { sa[y][x] = a[r * n + k + x]; sb[y][x] = b[(k + y) * n + "
    "q]; __syncthreads();\n"
    "    for (int j = 0; j < 16; j++) s += sa[y][j] * sb[j][x]; __syncthreads(); } c[r * n + q] = "
    "s; }\n"
    "K block_sum(u32 *o) { extern __shared__ u32 d[]; u32 t = threadIdx.x; d[t] = t * t + "
    "blockIdx.x;\n"
    "  for (u32 s = blockDim.x / 2; s; s >>= 1) { __syncthreads(); if (t < s) d[t] += d[t + s]; }\n"
    "  if (!t) o[blockIdx.x] = d[0]; }\n"
    "K counts(u32 *o) { u32 t = threadIdx.x; o[t * 3] = __syncthreads_count(t % 5 == 0);\n"
    "  o[t * 3 + 1] = __syncthreads_and(t < 999); o[t * 3 + 2] = __syncthreads_or(t == 77); }\n"
    "K atomics(u32 *o, u64 *w, float *f, double *d) { u32 t = blockIdx.x * blockDim.x + "
    "threadIdx.x;\n"
    "  atomicAdd(o, 1); atomicMin(o + 1, t + 5); atomicMax((int *)o + 2, (int)t - 50); atomicInc(o "
    "+ 3, 99);\n"
    "  atomicDec(o + 4, 7); atomicAnd(o + 5, ~(1u << t % 32)); atomicOr(o + 6, 1u << t % 31); "
    "atomicXor(o + 7, t);\n"
    "  atomicAdd(o + 8 + t % 4, t); u32 before = atomicAdd(o + 12, 2); atomicAdd(w, (u64)before << "
    "20);\n"
    "  atomicMax(w + 1, (u64)t << 33); atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicExch(o + 13, "
    "4242);\n"
    "  __shared__ u32 s[4]; if (threadIdx.x < 4) s[threadIdx.x] = 0; __syncthreads(); "
    "atomicAdd(&s[t % 4], t);\n"
    "  __shared__ float sf; if (!threadIdx.x) sf = 0; __syncthreads(); atomicAdd(&sf, 1.0f); "
    "atomicAdd(&s[0], 1);\n"
    "  __syncthreads(); if (threadIdx.x < 4) atomicAdd(o + 14 + threadIdx.x, s[threadIdx.x]);\n"
    "  if (!threadIdx.x) atomicAdd(o + 18, (u32)sf);\n"
    "  u32 old = o[19], seen; do { seen = old; old = atomicCAS(o + 19, seen, seen * 3 + 1); } "
    "while (old != seen); }\n"
    "K spin(u32 *lock, u32 *n) { bool done = false; while (!done) { if (atomicCAS(lock, 0, 1) == "
    "0) {\n"
    "    *(volatile u32 *)n = *(volatile u32 *)n + 1; __threadfence(); atomicExch(lock, 0); done = "
    "true; } } }\n"
    "K spin_plain(u32 *lock, u32 *n) { while (atomicCAS(lock, 0, 1) != 0); *(volatile u32 *)n = "
    "*(volatile u32 *)n + 1;\n"
    "  __threadfence(); atomicExch(lock, 0); }\n"
    "K ping(volatile u32 *f) { if (threadIdx.x == 0) { f[0] = 1; while (!f[1]); f[2] = 7; }\n"
    "  else if (threadIdx.x == 1) { while (!f[0]); f[1] = 1; f[3] = 8; } }\n"
    "K masked(u32 *o) { u32 t = threadIdx.x, m = t % 4 < 2 ? 0x33333333u : 0xccccccccu, r;\n"
    "  if (t & 1) r = 3; else r = 4; r += __shfl_sync(m, t, (t & 3) + 8); __syncwarp(m);\n"
    "  o[t] = r + __popc(__ballot_sync(m, t > 8)); }\n"
    "K leave(u32 *o) { __shared__ u32 n; u32 t = threadIdx.x; if (!t) n = 0; __syncthreads();\n"
    "  if (t % 7 == 1) { atomicAdd(&n, 1); return; } __syncthreads(); o[t] = n; }\n"
    "K trap(u32 *o) { if (threadIdx.x == 5) __trap(); o[threadIdx.x] = 1; }\n"
    "K wild(u32 *o) { if (threadIdx.x == 7) o = (u32 *)0x123456780ull; *o = 1; }\n"
    "K misaligned(char *o) { *(volatile u32 *)(o + threadIdx.x) = 1; }\n"
    "#define GLOBAL(name, op) K name(u32 *o) { __shared__ u32 s; u32 r; s = 1; \\\n"
    "  asm volatile(op : \"=r\"(r) : \"l\"(&s) : \"memory\"); o[threadIdx.x] = r + s; }\n"
    "GLOBAL(red_global, \"red.global.add.u32 [%1], 1; mov.u32 %0, 0;\")\n"
    "GLOBAL(atom_global, \"atom.global.max.u32 %0, [%1], 9;\")\n"
    "GLOBAL(cas_global, \"atom.global.cas.b32 %0, [%1], 1, 9;\")\n"
    "__constant__ u32 words[64];\n"
    "K misaligned_constant(u32 *o) { u32 t = threadIdx.x; o[t] = *(const u32 *)((const "
    "char *)words + t); }\n"
    "K shared_range(u32 *o, u32 n) { extern __shared__ u32 d[]; d[threadIdx.x * n] = 1; "
    "__syncthreads(); o[0] = d[0]; }\n"
    "K parted(u64 *o) { u32 t = threadIdx.x; u64 r = 0;\n"
    "  if (t % 4 == 1) {\n"
    "#pragma unroll\n"
    "    for (u32 i = 0; i < 32; i++) r ^= atomicAdd(o + i, i + 1);\n"
    "  } else if (t & 2) {\n"
    "#pragma unroll\n"
    "    for (u32 i = 0; i < 32; i++) r ^= atomicAdd(o + 32 + i, i + 2);\n"
    "  } o[64 + t] = r; }\n"
    "K forever(volatile u32 *o) { while (*o == 0); }\n"
    "K wild_warp(u32 *o) { if (threadIdx.x == 167) o = (u32 *)0x123456780ull; *o = 1; }\n"
    "K trap_warp(u32 *o) { u32 t = threadIdx.x; o[t] = t; if (t >= 160) { o[t] = 2 * t; if (t == "
    "200) "
    "__trap(); } }\n"
    "K apart(u32 *o) { __shared__ u32 d[256]; u32 t = threadIdx.x, w = t / 32, r = t;\n"
    "  for (u32 i = 0; i < 40; i++) { if (w == i % 8) r = r * 3 + i; if (w < i % 5) { for (u32 k = "
    "0; k "
    "< w + t % 3; k++) r += k ^ i; }\n"
    "    d[t] = r; __syncthreads(); r += d[(t + 37 * i) % blockDim.x]; __syncthreads(); if (w == 6 "
    "&& i "
    "== 25) return; }\n"
    "  o[t] = r; }\n"
    "#define BACK_OFF(name, pause) K name(volatile u32 *f) { u32 w = threadIdx.x / 32; for (;;) "
    "{\\\n"
    "  f[w] = 1; __threadfence(); if (!f[w ^ 1]) break; f[w] = 0; __threadfence(); pause; }\\\n"
    "  f[2 + w] = 7; __threadfence(); f[w] = 0; }\n"
    "BACK_OFF(back_off, ) BACK_OFF(back_off_asleep, __nanosleep(20))\n"
    "K clocks(u32 *o) { u64 a = clock64(), b = clock64(); u32 good = b > a;\n"
    "  for (u32 i = 0; i < 100; i++) { a = b; b = clock64(); good += b > a; } o[threadIdx.x] = "
    "good; }\n";

enum { WORDS = 1 << 16 };
static struct module *m;
static uint64_t memory;
static uint32_t *host;

static enum sm_result run(const char *kernel, uint32_t grid, uint32_t block,
                          struct sm_fault *fault) {
  const struct launch launch = {.grid = {grid, 1, 1},
                                .block = {block, 1, 1},
                                .dynamic_shared = block * 4,
                                .local_bytes = 4096,
                                .limit = 5000000,
                                .params = &memory,
                                .param_bytes = 8};
  return module_run(m, kernel, &launch, fault, NULL);
}

static void expect_done(const char *kernel, uint32_t grid, uint32_t block) {
  struct sm_fault fault = {0};
  memset(host, 0, WORDS * 4);
  enum sm_result result = run(kernel, grid, block, &fault);
  if (result != SM_DONE)
    print_error("%s: result %d, %s (%s)\n", kernel, result, fault.message, fault.instruction);
  assert_int_equal(result, SM_DONE);
}

#define CHECK(count, expression)                                                                   \
  for (uint32_t t = 0; t < (count); t++) {                                                         \
    const uint32_t expected_ = (uint32_t)(expression);                                             \
    if (host[t] != expected_)                                                                      \
      fail_msg("[%u]: got %x, expected %x", t, host[t], expected_);                                \
  }

static uint32_t pick4(uint32_t t, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return t % 4 == 0 ? a : t % 4 == 1 ? b : t % 4 == 2 ? c : d;
}

static void shuffles_exchange_values(void **unused) {
  expect_done("shuffle", 1, 32);
  CHECK(128, pick4(t, t / 4 * 7 % 32 * 3 + 1, (t / 4 < 3 ? t / 4 : t / 4 - 3) * 3 + 1,
                   (t / 4 % 16 + 5 < 16 ? t / 4 + 5 : t / 4) * 3 + 1, ((t / 4) ^ 9) * 3 + 1))
}

static void votes_and_matches_return_masks(void **unused) {
  expect_done("vote", 1, 64);
  for (uint32_t t = 0; t < 64; t++) {
    uint32_t ballot = 0, match = 0;
    for (uint32_t k = t & 32; k < (t & 32) + 32; k++) {
      ballot |= (uint32_t)(k % 3 == 0) << (k & 31);
      match |= (uint32_t)(k / 5 == t / 5) << (k & 31);
    }
    assert_int_equal(host[t * 4], ballot);
    assert_int_equal(host[t * 4 + 1], t >= 32);
    assert_int_equal(host[t * 4 + 2], t < 32);
    assert_int_equal(host[t * 4 + 3], match);
  }
}

static void warp_reductions_return_results(void **unused) {
  expect_done("reduce", 1, 32);
  uint32_t max = 0, min = ~0u, or = 0;
  for (uint32_t t = 0; t < 32; t++) {
    max = t * 77 % 101 > max ? t * 77 % 101 : max;
    if (t & 1)
      min = t * 5 % 31 < min ? t * 5 % 31 : min;
    else
      or |= t;
  }
  CHECK(128, pick4(t, 496, max, 0, (t / 4 & 1) ? min : or))
}

static uint32_t diverge(uint32_t t) {
  uint32_t s = 0;
  for (uint32_t i = 0; i < t % 37; i++) {
    if (i == 29)
      break;
    if ((i ^ t) & 1)
      continue;
    for (uint32_t j = i; j < 9; j++) {
      if (j * t % 11 == 3)
        break;
      s += j;
      if (s > 300)
        return s;
    }
    s += i;
  }
  return s;
}

static void divergent_branches_reconverge(void **unused) {
  expect_done("diverge", 3, 100);
  CHECK(300, diverge(t))
}

static uint32_t fib(uint32_t n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void recursive_calls_return(void **unused) {
  expect_done("recurse", 1, 64);
  CHECK(64, fib(t % 13))
}

static uint32_t choose(uint32_t t) {
  const uint32_t r[] = {5, t * t, t ^ 99, 1, t << 3, 1 - t, t / 3, ~t, t * 12345, 77, 77};
  return r[t % 11];
}

static void switch_reaches_every_case(void **unused) {
  expect_done("choose", 1, 96);
  CHECK(96, choose(t))
}

static void jump_table_with_uniform_index_reaches_every_case(void **unused) {
  expect_done("jump_table", 1, 96);
  CHECK(96, t + 5)
  expect_done("jump_table", 2, 96);
  CHECK(192, t % 96 * (t % 96))
  expect_done("jump_table", 3, 96);
  CHECK(288, ~(t % 96))
}

static void calls_through_function_pointers_return(void **unused) {
  expect_done("pointers", 1, 96);
  CHECK(96, t % 3 == 0 ? t + 1 : t % 3 == 1 ? t * 2 : t * t)
}

static uint32_t local_array(uint32_t t) {
  uint32_t a[40], s = 0;
  for (uint32_t i = 0; i < 40; i++)
    a[i * 7 % 40] = i * t;
  for (uint32_t i = 0; i < 40; i++)
    s = s * 3 + a[(i + t) % 40];
  return s;
}

static void array_in_local_memory_keeps_values(void **unused) {
  expect_done("local_array", 1, 64);
  CHECK(64, local_array(t))
}

static void generic_addresses_reach_each_space(void **unused) {
  expect_done("generic", 1, 64);
  CHECK(64, t % 3 == 0 ? t + 5 : t % 3 == 1 ? 12 : 5)
}

static void tiled_matrix_product_is_right(void **unused) {
  enum { N = 64 };
  float *a = (float *)host, *b = a + N * N, *c = b + N * N;
  for (int i = 0; i < N * N; i++)
    a[i] = (float)(i % 13) - 6, b[i] = (float)(i % 7) * 0.5f;
  struct {
    uint64_t a, b, c;
    int n;
  } params = {memory, memory + N * N * 4, memory + N * N * 8, N};
  const struct launch launch = {
      .grid = {N / 16, N / 16, 1}, .block = {16, 16, 1}, .params = &params, .param_bytes = 28};
  struct sm_fault fault = {0};
  assert_int_equal(module_run(m, "matmul", &launch, &fault, NULL), SM_DONE);
  for (int r = 0; r < N; r++)
    for (int q = 0; q < N; q++) {
      float s = 0;
      for (int k = 0; k < N; k++)
        s += a[r * N + k] * b[k * N + q];
      assert_true(s == c[r * N + q]);
    }
}

static void sum_over_block_is_right(void **unused) {
  expect_done("block_sum", 5, 256);
  uint32_t sum = 0;
  for (uint32_t t = 0; t < 256; t++)
    sum += t * t;
  CHECK(5, sum + 256 * t)
  expect_done("block_sum", 2, 1024);
}

static void barrier_reductions_count_predicates(void **unused) {
  expect_done("counts", 1, 200);
  CHECK(600, t % 3 == 0 ? 40 : 1)
  expect_done("counts", 1, 70);
  CHECK(210, t % 3 == 0 ? 14 : t % 3 == 1)
}

static void atomics_from_all_lanes_are_counted(void **unused) {
  enum { GRID = 3, BLOCK = 128, N = GRID * BLOCK };
  memset(host, 0, WORDS * 4);
  host[1] = ~0u;
  host[2] = 0x80000000u;
  host[5] = ~0u;
  struct {
    uint64_t o, w, f, d;
  } params = {memory, memory + 1024, memory + 2048, memory + 3072};
  const struct launch launch = {.grid = {GRID, 1, 1},
                                .block = {BLOCK, 1, 1},
                                .params = &params,
                                .param_bytes = sizeof params};
  struct sm_fault fault = {0};
  enum sm_result result = module_run(m, "atomics", &launch, &fault, NULL);
  if (result != SM_DONE)
    print_error("%s (%s)\n", fault.message, fault.instruction);
  assert_int_equal(result, SM_DONE);
  uint32_t x = 0, or = 0, mod4[4] = {0}, dec = 0, cas = 0;
  uint64_t sum = 0;
  for (uint32_t t = 0; t < N; t++) {
    x ^= t;
    or |= 1u << t % 31;
    mod4[t % 4] += t;
    sum += (uint64_t)(2 * t) << 20;
    dec = dec == 0 || dec > 7 ? 7 : dec - 1;
    cas = cas * 3 + 1;
  }
  assert_int_equal(host[0], N);
  assert_int_equal(host[1], 5);
  assert_int_equal((int)host[2], N - 1 - 50);
  assert_int_equal(host[3], N % 100);
  assert_int_equal(host[4], dec);
  assert_int_equal(host[5], 0);
  assert_int_equal(host[6], or);
  assert_int_equal(host[7], x);
  for (uint32_t k = 0; k < 4; k++) {
    assert_int_equal(host[8 + k], mod4[k]);
    assert_int_equal(host[14 + k], mod4[k] + (k == 0 ? N : 0));
  }
  assert_int_equal(host[12], 2 * N);
  assert_int_equal(host[13], 4242);
  assert_int_equal(host[18], N);
  assert_int_equal(host[19], cas);
  const uint64_t *w = (const uint64_t *)(const void *)(host + 256);
  assert_true(w[0] == sum);
  assert_true(w[1] == (uint64_t)(N - 1) << 33);
  assert_true(*(float *)(host + 512) == N * 0.5f);
  assert_true(*(double *)(void *)(host + 768) == N * 0.25);
}

static void spin(const char *kernel) {
  memset(host, 0, WORDS * 4);
  const uint64_t params[2] = {memory, memory + 64};
  const struct launch launch = {.grid = {2, 1, 1},
                                .block = {96, 1, 1},
                                .budget = 1000,
                                .limit = 50000000,
                                .params = params,
                                .param_bytes = sizeof params};
  struct sm_fault fault = {0};
  assert_int_equal(module_run(m, kernel, &launch, &fault, NULL), SM_DONE);
  assert_int_equal(host[16], 192);
  assert_int_equal(host[0], 0);
}

/* Two lanes of a warp wait for each other, so the one that runs first has to spin. */
static void lanes_wait_for_each_other(void **unused) {
  memset(host, 0, WORDS * 4);
  struct sm_fault fault = {0};
  assert_int_equal(run("ping", 1, 32, &fault), SM_DONE);
  assert_int_equal(host[2], 7);
  assert_int_equal(host[3], 8);
}

static void spin_lock_is_exclusive(void **unused) {
  spin("spin");
  spin("spin_plain");
}

static void masked_warp_operations_use_their_lanes(void **unused) {
  expect_done("masked", 1, 32);
  CHECK(32, (t & 1 ? 3 : 4) + (t & 3) + 8 + (t % 4 < 2 ? 11 : 12))
}

/* Lanes exit while other lanes of their warp wait for them. */
static void lanes_exit_while_others_wait(void **unused) {
  expect_done("leave", 1, 64);
  CHECK(64, t % 7 == 1 ? 0 : 9);
}

static void faults_report_lane_and_address(void **unused) {
  struct sm_fault fault = {0};
  assert_int_equal(run("trap", 1, 32, &fault), SM_FAULTED);
  assert_int_equal(fault.kind, SM_FAULT_TRAP);
  assert_int_equal(fault.tid[0], 5);
  assert_int_equal(run("wild", 1, 32, &fault), SM_FAULTED);
  assert_int_equal(fault.kind, SM_FAULT_MMU);
  assert_int_equal(fault.tid[0], 7);
  assert_true(fault.address == 0x123456780ull && fault.is_write && fault.access_bytes == 4);
  assert_non_null(strstr(fault.message, "0x123456780"));
  assert_non_null(strstr(fault.instruction, "ST"));
  assert_int_equal(run("misaligned", 1, 32, &fault), SM_FAULTED);
  assert_int_equal(fault.kind, SM_FAULT_MISALIGNED);
  assert_int_equal(run("misaligned_constant", 1, 32, &fault), SM_FAULTED);
  assert_int_equal(fault.kind, SM_FAULT_MISALIGNED);
  assert_true(fault.tid[0] == 1 && fault.address % 4 == 1);
  /* Only generic instructions access the windows. For other instructions nothing is mapped at their
   * addresses. */
  static const char *const global[] = {"red_global", "atom_global", "cas_global"};
  for (unsigned k = 0; k < sizeof global / sizeof *global; k++) {
    assert_int_equal(run(global[k], 1, 32, &fault), SM_FAULTED);
    assert_int_equal(fault.kind, SM_FAULT_MMU);
  }
  const struct {
    uint64_t o;
    uint32_t n;
  } params = {memory, 5};
  const struct launch launch = {.grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .dynamic_shared = 128,
                                .params = &params,
                                .param_bytes = 12};
  assert_int_equal(module_run(m, "shared_range", &launch, &fault, NULL), SM_FAULTED);
  assert_int_equal(fault.kind, SM_FAULT_SHARED_RANGE);
  assert_int_equal(fault.address % SM_WINDOW_BYTES, 140);
}

/* The warps of a batch execute an instruction one after the other. */
static void faults_in_batches_report_the_warp(void **unused) {
  struct sm_fault fault = {0};
  assert_int_equal(run("wild_warp", 1, 256, &fault), SM_FAULTED);
  assert_int_equal(fault.kind, SM_FAULT_MMU);
  assert_int_equal(fault.tid[0], 167);
  assert_true(fault.address == 0x123456780ull && fault.is_write);
  assert_non_null(strstr(fault.instruction, "ST"));
  memset(host, 0, 1024);
  assert_int_equal(run("trap_warp", 1, 256, &fault), SM_FAULTED);
  assert_int_equal(fault.kind, SM_FAULT_TRAP);
  assert_int_equal(fault.tid[0], 200);
  CHECK(160, t)
}

/* Computes on the host what the kernel "apart" does. Warp 6 ends first. */
static void warps_branch_apart_and_rejoin(void **unused) {
  enum { THREADS = 250, ENDS = 6, END_ROUND = 25 };
  uint32_t r[THREADS], d[THREADS] = {0};
  for (uint32_t t = 0; t < THREADS; t++)
    r[t] = t;
  for (uint32_t i = 0; i < 40; i++) {
    for (uint32_t t = 0; t < THREADS; t++) {
      const uint32_t w = t / 32;
      if (w == ENDS && i > END_ROUND)
        continue;
      if (w == i % 8)
        r[t] = r[t] * 3 + i;
      for (uint32_t k = 0; w < i % 5 && k < w + t % 3; k++)
        r[t] += k ^ i;
      d[t] = r[t];
    }
    for (uint32_t t = 0; t < THREADS; t++)
      if (t / 32 != ENDS || i <= END_ROUND)
        r[t] += d[(t + 37 * i) % THREADS];
  }
  expect_done("apart", 1, THREADS);
  CHECK(THREADS, t / 32 == ENDS ? 0 : r[t])
  for (uint32_t budget = 1; budget < 3000; budget = budget * 3 + 1) {
    const struct launch launch = {.grid = {1, 1, 1},
                                  .block = {THREADS, 1, 1},
                                  .dynamic_shared = 4,
                                  .budget = budget,
                                  .params = &memory,
                                  .param_bytes = sizeof memory};
    struct sm_fault fault = {0};
    memset(host, 0, 1024);
    assert_int_equal(module_run(m, "apart", &launch, &fault, NULL), SM_DONE);
    CHECK(THREADS, t / 32 == ENDS ? 0 : r[t])
  }
}

/* Each of two warps tries to enter a section alone, and backs off if the other one tries too. */
static void warps_that_back_off_get_ahead(void **unused) {
  expect_done("back_off", 1, 64);
  assert_true(host[0] == 0 && host[1] == 0 && host[2] == 7 && host[3] == 7);
  expect_done("back_off_asleep", 1, 64);
  assert_true(host[0] == 0 && host[1] == 0 && host[2] == 7 && host[3] == 7);
}

static void endless_loop_is_preempted(void **unused) {
  memset(host, 0, 64);
  struct sm_fault fault = {0};
  assert_int_equal(run("forever", 1, 64, &fault), SM_PREEMPTED);
}

/* Groups of lanes share the uniform registers, in which ptxas counts lanes for each atomic. A turn
 * may end anywhere, but then the group that was running must continue first. */
static void preempted_group_continues_first(void **unused) {
  for (uint32_t budget = 1; budget < 64; budget++) {
    const struct launch launch = {.grid = {1, 1, 1},
                                  .block = {32, 1, 1},
                                  .budget = budget,
                                  .params = &memory,
                                  .param_bytes = sizeof memory};
    struct sm_fault fault = {0};
    memset(host, 0, 512);
    assert_int_equal(module_run(m, "parted", &launch, &fault, NULL), SM_DONE);
    CHECK(128, t % 2 ? 0 : t < 64 ? 8 * (t / 2 + 1) : 16 * (t / 2 - 30))
  }
}

/* A kernel that has accessed memory faults when that memory is unmapped while it runs. */
static void access_to_unmapped_memory_faults(void **unused) {
  struct sm_fault fault = {0};
  const struct launch launch = {.grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .budget = 10000,
                                .limit = 100000,
                                .preempted = module_unmap,
                                .params = &memory,
                                .param_bytes = sizeof memory};
  host[0] = 0;
  const enum sm_result result = module_run(m, "forever", &launch, &fault, NULL);
  module_remap(m);
  assert_int_equal(result, SM_FAULTED);
  assert_int_equal(fault.kind, SM_FAULT_MMU);
  assert_int_equal(fault.address, memory);
}

/* The clock of a work-group does not go back when the work-group moves to another worker. */
static void clock_does_not_go_back(void **unused) {
  for (uint32_t budget = 0; budget < 200; budget += 50) {
    const struct launch launch = {.grid = {2, 1, 1},
                                  .block = {32, 1, 1},
                                  .budget = budget,
                                  .moves = budget != 0,
                                  .params = &memory,
                                  .param_bytes = sizeof memory};
    struct sm_fault fault = {0};
    assert_int_equal(module_run(m, "clocks", &launch, &fault, NULL), SM_DONE);
    CHECK(32, 101)
  }
}

/* Replaces the instruction that reads the lane's number. */
static void remove_laneid(const char *kernel) {
  enum { LANEID = 0 };
  static const uint64_t nop[2] = {0x7918, 0x000fc00000000000};
  size_t count, removed = 0;
  uint64_t(*code)[2] = module_code(m, kernel, &count);
  assert_non_null(code);
  for (size_t k = 0; k < count; k++) {
    struct sm_insn insn;
    if (!sm_decode(code[k], &insn) || insn.op != SM_OP_S2R ||
        insn.operand[1].kind != SM_OPERAND_SPECIAL || insn.operand[1].value != LANEID)
      continue;
    memcpy(code[k], nop, sizeof nop);
    removed++;
  }
  assert_int_equal(removed, 1);
  module_forget_code(m);
}

/* CTAs of a grid use the same memory one after another. What a register has that is read before it
 * is written does not depend on the last CTA, only some of which write it. Watched grids clear all
 * registers. */
static void unwritten_registers_are_cleared(void **unused) {
  enum { CTAS = 200, THREADS = 64 };
  static const struct sm_watch watch;
  static uint32_t cleared[CTAS * THREADS];
  remove_laneid("unwritten");
  module_watch(m, &watch);
  expect_done("unwritten", CTAS, THREADS);
  memcpy(cleared, host, sizeof cleared);
  module_watch(m, NULL);
  expect_done("unwritten", CTAS, THREADS);
  assert_memory_equal(host, cleared, sizeof cleared);
}

int main(void) {
  if (!harness_available())
    return HARNESS_SKIP;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shuffles_exchange_values),
      cmocka_unit_test(votes_and_matches_return_masks),
      cmocka_unit_test(warp_reductions_return_results),
      cmocka_unit_test(divergent_branches_reconverge),
      cmocka_unit_test(recursive_calls_return),
      cmocka_unit_test(switch_reaches_every_case),
      cmocka_unit_test(jump_table_with_uniform_index_reaches_every_case),
      cmocka_unit_test(calls_through_function_pointers_return),
      cmocka_unit_test(array_in_local_memory_keeps_values),
      cmocka_unit_test(generic_addresses_reach_each_space),
      cmocka_unit_test(tiled_matrix_product_is_right),
      cmocka_unit_test(sum_over_block_is_right),
      cmocka_unit_test(barrier_reductions_count_predicates),
      cmocka_unit_test(atomics_from_all_lanes_are_counted),
      cmocka_unit_test(spin_lock_is_exclusive),
      cmocka_unit_test(lanes_wait_for_each_other),
      cmocka_unit_test(masked_warp_operations_use_their_lanes),
      cmocka_unit_test(lanes_exit_while_others_wait),
      cmocka_unit_test(faults_report_lane_and_address),
      cmocka_unit_test(faults_in_batches_report_the_warp),
      cmocka_unit_test(warps_branch_apart_and_rejoin),
      cmocka_unit_test(warps_that_back_off_get_ahead),
      cmocka_unit_test(endless_loop_is_preempted),
      cmocka_unit_test(preempted_group_continues_first),
      cmocka_unit_test(access_to_unmapped_memory_faults),
      cmocka_unit_test(clock_does_not_go_back),
      cmocka_unit_test(unwritten_registers_are_cleared),
  };
  /* Debug code contains calls, and waits that optimised code omits. */
  static const char *const debug[] = {"--device-debug", NULL};
  int failed = 0;
  for (unsigned k = 0; k < 2 * SM_CORE_BUILDS; k++) {
    if (!(sm_core_override = sm_core_build(k / 2)))
      continue;
    if (!(m = module_compile(source, k % 2 ? debug : NULL)))
      return 1;
    memory = module_alloc(m, WORDS * 4);
    host = module_host(m, memory);
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    module_free(m);
  }
  return failed;
}
