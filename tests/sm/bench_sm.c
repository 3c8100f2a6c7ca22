/* Prints how many warp instructions per second the interpreter executes on one core, by class of
 * instruction.
 *
 *   bench_sm [BUILD [CLASS [ROUNDS]]]
 *
 * runs one build of the core, one class and fewer rounds of its loop: for callgrind, whose counts
 * of the host's instructions do not depend on other work of the machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulator/sm/state.h"
#include "tests/sm/harness.h"

static const char source[] =
    "typedef unsigned u32; typedef unsigned long long u64;\n"
    "#define K extern \"C\" __global__ void\n"
    "#define LOOP(body) for (int i = 0; i < n; i++) { _Pragma(\"unroll\") for (int j = 0; j < 16; "
    "j++) { body; } }\n"
    "K ffma(float *o, int n) { u32 t = blockIdx.x * blockDim.x + threadIdx.x; float a = t, b = "
    "1.0001f, c = 3, d = n;\n"
    "  LOOP(a = a * b + c; d = d * b + a; c = c * 0.5f + d; b = b * a + 1.0f) o[t] = a + b + c + "
    "d; }\n"
    "K fadd_fmul(float *o, int n) { u32 t = blockIdx.x * blockDim.x + threadIdx.x; float a = t, b "
    "= 1.5f, c = 3;\n"
    "  LOOP(a = a + b; c = __fmul_rn(a, c); b = b + c; a = __fmul_rn(a, b)) o[t] = a + b + c; }\n"
    "K imad(u32 *o, int n) { u32 t = blockIdx.x * blockDim.x + threadIdx.x, a = t, b = 5, c = 7;\n"
    "  LOOP(a = a * b + c; b = b * a + t; c = c * 1664525 + a) o[t] = a + b + c; }\n"
    "K logic(u32 *o, int n) { u32 t = blockIdx.x * blockDim.x + threadIdx.x, a = t, b = 5, c = n;\n"
    "  LOOP(a ^= a << 13; b = (a & b) ^ (~a & c); c ^= a >> 17; a += b + c; b ^= c << 5) o[t] = a "
    "+ b + c; }\n"
    "K wide(u64 *o, int n) { u32 t = blockIdx.x * blockDim.x + threadIdx.x; u64 a = t, b = 5; u32 "
    "c = t;\n"
    "  LOOP(a = (u64)c * 747796405u + a; c = (u32)(a >> 32) ^ (u32)b; b += a) o[t] = a + b; }\n"
    "K dfma(double *o, int n) { u32 t = blockIdx.x * blockDim.x + threadIdx.x; double a = t, b = "
    "1.0001, c = 3;\n"
    "  LOOP(a = a * b + c; c = c * b + a; b = b * 0.99 + c) o[t] = a + b + c; }\n"
    "K mufu(float *o, int n) { u32 t = blockIdx.x * blockDim.x + threadIdx.x; float a = t, b = 2;\n"
    "  LOOP(a = __expf(b) + a; b = rsqrtf(a)) o[t] = a + b; }\n"
    "K branch(u32 *o, int n) { u32 t = blockIdx.x * blockDim.x + threadIdx.x, a = t;\n"
    "  for (int i = 0; i < n * 16; i++) { if (a & 1) a = a * 3 + 1; else a >>= 1; if (a > 100000) "
    "a ^= t; } o[t] = a; }\n"
    "K vector_add(const float *a, const float *b, float *c, int n) { u32 t = blockIdx.x * "
    "blockDim.x + threadIdx.x;\n"
    "  if (t < n) c[t] = a[t] + b[t]; }\n"
    "K shared(float *o, int n) { __shared__ float s[512]; u32 t = threadIdx.x; s[t] = t; "
    "__syncthreads(); float a = 0;\n"
    "  LOOP(a += s[(t + j) & 255] * s[j]) o[blockIdx.x * blockDim.x + t] = a; }\n"
    "K matmul(const float *a, const float *b, float *c, int n) { __shared__ float sa[16][16], "
    "sb[16][17];\n"
    "  int x = threadIdx.x % 16, y = threadIdx.x / 16, r = blockIdx.x / (n / 16) * 16 + y, q = "
    "blockIdx.x % (n / 16) * 16 + x;\n"
    "  float s = 0; for (int k = 0; k < n; k += 16) { sa[y][x] = a[r * n + k + x]; sb[y][x] = b[(k "
    "+ y) * n + q];\n"
    "    __syncthreads(); for (int j = 0; j < 16; j++) s += sa[y][j] * sb[j][x]; __syncthreads(); "
    "} c[r * n + q] = s; }\n";

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  enum { ITEMS = 1 << 22, MATRIX = 256 };
  static const char *const loops[] = {"ffma", "fadd_fmul", "imad",   "logic", "wide",
                                      "dfma", "mufu",      "branch", "shared"};
  if (!harness_available())
    return HARNESS_SKIP;
  const char *const only = argc > 2 ? argv[2] : NULL;
  const int rounds = argc > 3 ? atoi(argv[3]) : 400;
  for (unsigned level = 0; level < SM_CORE_BUILDS; level++) {
    if (!sm_core_build(level) || (argc > 1 && level != (unsigned)atoi(argv[1])))
      continue;
    sm_core_override = sm_core_build(level);
    struct module *m = module_compile(source, NULL);
    if (!m)
      return 1;
    printf("build %u of the core\n", level);
    const uint64_t memory = module_alloc(m, (size_t)ITEMS * 12);
    struct sm_fault fault = {0};
    for (unsigned k = 0; k < sizeof loops / sizeof *loops; k++) {
      if (only && strcmp(only, loops[k]) != 0)
        continue;
      struct {
        uint64_t o;
        int n;
      } params = {memory, rounds};
      const struct launch launch = {
          .grid = {16, 1, 1}, .block = {256, 1, 1}, .params = &params, .param_bytes = 12};
      uint64_t count = 0;
      double start = seconds();
      if (module_run(m, loops[k], &launch, &fault, &count) != SM_DONE)
        printf("%s: %s\n", loops[k], fault.message);
      double time = seconds() - start;
      printf("  %-12s %8.1f million warp instructions/s\n", loops[k], (double)count / time * 1e-6);
    }
    static const struct {
      const char *name;
      int n;
      uint32_t grid;
    } others[] = {{"vector_add", ITEMS, ITEMS / 256},
                  {"matmul", MATRIX, (MATRIX / 16) * (MATRIX / 16)}};
    for (unsigned k = 0; k < 2; k++) {
      if (only && strcmp(only, others[k].name) != 0)
        continue;
      struct {
        uint64_t a, b, c;
        int n;
      } params = {memory, memory + ITEMS * 4ull, memory + ITEMS * 8ull, others[k].n};
      memset(module_host(m, memory), 0, (size_t)ITEMS * 8);
      const struct launch launch = {.grid = {others[k].grid, 1, 1},
                                    .block = {256, 1, 1},
                                    .params = &params,
                                    .param_bytes = 28};
      uint64_t count = 0;
      double start = seconds();
      if (module_run(m, others[k].name, &launch, &fault, &count) != SM_DONE)
        printf("%s: %s\n", others[k].name, fault.message);
      double time = seconds() - start;
      printf("  %-12s %8.1f million warp instructions/s, %.3f s\n", others[k].name,
             (double)count / time * 1e-6, time);
    }
    module_free(m);
  }
  return 0;
}
