/* Check mode finds the same in warps that execute together as in single warps. Random kernels read
 * memory that nothing has written, or access memory without a barrier, in some of their warps. Each
 * runs with and without profiles, for which each warp is alone.
 *
 *   check_batch [SEED]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sm/harness.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { KERNELS = 96, STATEMENTS = 9, THREADS = 256, WORDS = 2 * THREADS, REPORTS = 8192 };
/* The last kernels have this many groups, which access the same memory. */
enum { SHARING = KERNELS / 3, GROUPS = 6 };

static char source[1 << 17];
static size_t length;
static struct module *module;
static uint64_t memory, out;

/* xorshift (Marsaglia, 2003) */
static uint32_t seed = 2463534242u;
static uint32_t below(uint32_t n) {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return seed % n;
}

static void __attribute__((format(printf, 1, 2))) put(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(source + length, sizeof source - length, format, arguments);
  va_end(arguments);
  assert_in_range(n, 0, sizeof source - length - 1);
  length += (size_t)n;
}

/* %u is a number below 256. */
static const char *const statements[] = {
    "x += a[(I + %u) % 512];",
    "if (I / 32 == %u % 8) x += a[(I + %u) % 512];",
    "a[(I + %u) % 512] = y;",
    "if (I / 32 != %u % 8) a[I] = y;",
    "a[I] = y; __syncthreads(); y = a[(I ^ %u) % 256];",
    "s[(I + %u) % 256] = x;",
    "s[I] = x; __syncthreads(); x = s[(I + %u) % 256]; __syncthreads();",
    "s[I] = y; __syncthreads(); for (int j = 0; j < I / 32; j++) y ^= s[(I + j) % 256];",
    "x ^= s[%u];",
    "for (int j = 0; j < I / 32; j++) x ^= s[%u % 4];",
    "x += s[%u % 3 + I % 32];",
    "if (I / 32 == %u % 8) s[%u % 4] = y;",
    "s[%u % 64] = 7;",
    "((volatile char *)s)[%u] = 3;",
    "((int2 *)s)[I / 2].x = I / 2;",
    "atomicAdd(&s[%u], I);",
    "if (I % 32 < %u % 32) x = y;",
    "if (I > %u) y++;",
    "if (x > 1000) y += 3;",
    "for (int j = 0; j < I / 64; j++) y = y * 5 + x;",
    "x = __shfl_xor_sync(~0u, x, %u % 32);",
    "y = I & 32 ? x : y;",
    "y += __popc(__ballot_sync(~0u, x & 1));",
    "x = __reduce_add_sync(~0u, x);",
    "o[I] = x;",
    "for (int j = 0; j < I / 32; j++) { x = x * 3 + a[j]; s[I] = x; }",
    "asm(\"{ .reg .pred p; setp.lt.s32 p, %1, %u; @p mad.lo.s32 %0, %2, %2, 5; }\""
    " : \"+r\"(x) : \"r\"(I), \"r\"(y));",
    "x += a[%u];",
    "x += a[%u + I % 32];",
    "x += a[%u / 4 + I % 64 / 16];",
    "x += ((char *)a)[%u + I % 32];",
    "x += ((int4 *)a)[%u / 8 + I % 32].y;",
};

/* Work-items write different values. */
static const char *const races[] = {
    "((short *)s)[I / 2 + %u] = y;",
    "if (I % 32 == %u % 4) s[%u % 4] = I < 32;",
    "s[I % 32] = I < 32 ? I + 1 : 0;",
    "a[I % 32] = I < 32 ? I + 1 : 0;",
    "((char *)s)[76] = 3; __syncwarp(); s[(I + 27) % 256] = I + 4;",
    "asm volatile(\"st.relaxed.gpu.global.b32 [%0], %1;\" :: \"l\"(a + I % 32), \"r\"(n) : "
    "\"memory\"); if (I / 32 == 7) a[I % 32] = 2;",
};

/* Work-items write the same value. */
static const char *const harmless[] = {
    "a[%u] = n;",
    "s[%u] = n;",
    "((char *)a)[(I & 3) == 2] = 7;",
    "((char *)s)[(I & 3) == 2] = 7;",
    "for (int j = 0; j < 8; j++) a[j] = n;",
    "a[I % 32] = I % 32 % 3 ? n : 0;", /* some of the values are there */
    "a[I % 16] = I % 16 % 3 ? n : 0;",
};

/* Statements of groups that share memory: reads of rows, parts of rows and single words, */
static const char *const reads[] = {
    "x += a[(I + %u / 16 * 16) % 512];",
    "x += a[I % 32 + %u / 16 * 16];",
    "x += a[I % 16 + %u / 16 * 16];",
    "x += a[%u];",
    "x += a[I % 32 * 16 + %u % 16];",
    "for (int j = 0; j < 16; j++) y = y * 5 + a[j + %u / 16 * 16];",
    "if (B == %u % 6) x += a[(I + %u) % 512];",
    "if (I % 32 < %u % 32) x += a[(I + %u / 16 * 16) % 512];",
    "x += ((char *)a)[%u * 4 + I % 32];",
    "x += ((short *)a)[%u * 2 + I % 32];",
    "x += ((int2 *)a)[%u / 32 * 8 + I % 32].y;",
    "x += ((int4 *)a)[%u / 32 * 4 + I % 32].z;",
    "x += ((int4 *)a)[%u / 4].z;",
    "x += *(volatile int *)&a[I % 32 + %u / 16 * 16];",
    "__syncthreads(); __threadfence(); __syncthreads();", /* a fence of a warp is that of its group
                                                           */
    "y = I & 32 ? x : y;",
    "if (x > 1000) y += 3;",
};
/* and writes, by one of the groups or of the same value. */
static const char *const writes[] = {
    "if (B == %u % 6) a[%u] = y + 7;",
    "if (B == %u % 6) a[(I + %u) % 512] = y;",
    "if (B == %u % 6 && I == %u) ((char *)a)[%u] = 9;",
    "if (B == %u % 6 && I < 32) atomicAdd(&a[%u + I], 9);",
    "if (B == %u % 6 && I < 32) *(int4 *)&a[%u / 16 * 16 + I * 4] = make_int4(y, 3, x, 3);",
    "if (B == %u % 6 && I == %u) atomicCAS(&a[%u], 0, 9);",
    "a[%u] = n;",
    "if (B == %u % 6 && I < 64) a[%u / 16 * 16 + I] = 0;",
};

static const char *choose(bool shares) {
  if (shares)
    return below(40) ? reads[below(COUNT(reads))] : writes[below(COUNT(writes))];
  return below(64) ? statements[below(COUNT(statements))] : races[below(COUNT(races))];
}

static bool is_sharing(unsigned k) {
  return k >= KERNELS - SHARING;
}

static void write_kernels(void) {
  put("#define I (int)threadIdx.x\n#define B (int)blockIdx.x\n");
  for (unsigned k = 0; k < KERNELS; k++) {
    put("extern \"C\" __global__ void k%u(int *a, int *o, int n) { __shared__ int s[%u];\n"
        "  int x = n, y = I; o += B * %u; a += B * %u; s[I] = I; s[I + %u] = n; __syncthreads();\n",
        k, WORDS, THREADS, is_sharing(k) ? 0 : WORDS, THREADS);
    /* The first kernels have one statement, whose result is known. */
    const char *const only = k < COUNT(races)                     ? races[k]
                             : k - COUNT(races) < COUNT(harmless) ? harmless[k - COUNT(races)]
                                                                  : NULL;
    for (unsigned n = 0; n < (only ? 1 : STATEMENTS); n++) {
      put("  ");
      const char *const statement = only ? only : choose(is_sharing(k));
      for (const char *c = statement; *c; c++)
        if (c[0] == '%' && c[1] == 'u')
          put("%u", below(256)), c++;
        else
          put("%c", *c);
      put(below(12) ? " __syncthreads();\n" : "\n"); /* without it, most of them race */
    }
    if (only) /* or the compiler drops the stores */
      put("  __syncthreads(); x += s[I];\n");
    if (below(2))
      put("  if (I %% 32 >= 4 * (I / 32) + 4) return;\n  x += a[I + %u];\n", below(256));
    put("  o[I] = x + y; }\n");
  }
}

/* What a run has reported. */
struct reports {
  unsigned count, races;
  struct report {
    uint64_t pc;
    uint32_t thread;
  } undefined[REPORTS];
};
static struct reports *now;

static bool wanted(const struct sm_grid *grid, enum sm_fault_kind kind, uint64_t pc) {
  (void)grid, (void)pc;
  return kind == SM_REPORT_UNDEFINED || kind == SM_REPORT_RACE || kind == SM_REPORT_SCOREBOARD;
}

static void report(const struct sm_grid *grid, const struct sm_fault *fault) {
  (void)grid;
  if (fault->kind == SM_REPORT_SCOREBOARD)
    fail_msg("%s: %s", fault->instruction, fault->message);
  if (fault->kind == SM_REPORT_RACE)
    now->races++;
  else if (now->count < REPORTS)
    now->undefined[now->count++] =
        (struct report){fault->pc, fault->ctaid[0] * THREADS + fault->tid[0]};
}

static void count(const struct sm_grid *grid, const struct sm_counts *counts) {
  (void)grid, (void)counts;
}

static int compare(const void *a, const void *b) {
  return memcmp(a, b, sizeof(struct report));
}

static void run(unsigned k, bool together, struct reports *found) {
  const struct sm_watch watch = {
      .check = true, .wanted = wanted, .report = report, .profile = !together, .count = count};
  struct {
    uint64_t memory, out;
    int n;
  } parameters = {memory, out, 5};
  const struct launch launch = {.grid = {is_sharing(k) ? GROUPS : 2, 1, 1},
                                .block = {THREADS, 1, 1},
                                .params = &parameters,
                                .param_bytes = sizeof parameters};
  struct sm_fault fault = {0};
  char name[16];
  snprintf(name, sizeof name, "k%u", k);
  memset(found, 0, sizeof *found);
  memset(module_host(module, memory), 0, 2 * WORDS * sizeof(int));
  memset(module_host(module, out), 0, GROUPS * THREADS * sizeof(int));
  module_mark(module, memory, 2 * WORDS * sizeof(int), true);
  if (!is_sharing(k) || k % 2)
    module_mark(module, memory + k % 7 * THREADS, 4 * (k % 64) * sizeof(int), false);
  module_watch(module, &watch);
  now = found;
  if (module_run(module, name, &launch, &fault, NULL) != SM_DONE)
    fail_msg("%s: %s", name, fault.message);
  qsort(found->undefined, found->count, sizeof *found->undefined, compare);
}

static void finds_the_same_as_single_warps(void **state) {
  static struct reports single, together;
  unsigned racing = 0, undefined = 0, clean = 0;
  (void)state;
  for (unsigned k = 0; k < KERNELS; k++) {
    run(k, false, &single);
    run(k, true, &together);
    if (!single.races != !together.races)
      fail_msg("k%u: %u races of single warps, %u of warps together", k, single.races,
               together.races);
    if (k < COUNT(races) ? !single.races : k < COUNT(races) + COUNT(harmless) && single.races)
      fail_msg("k%u: %u races", k, single.races);
    racing += single.races != 0;
    /* What a race reads depends on the order. */
    if (single.races)
      continue;
    undefined += single.count != 0;
    clean += single.count == 0;
    if (single.count != together.count ||
        memcmp(single.undefined, together.undefined, sizeof single.undefined) != 0)
      fail_msg("k%u: %u undefined values of single warps, %u of warps together", k, single.count,
               together.count);
  }
  print_message("%u kernels with races, %u with undefined values only, %u with neither\n", racing,
                undefined, clean);
  assert_true(racing >= KERNELS / 16 && undefined >= KERNELS / 16 && clean >= KERNELS / 16);
}

int main(int argc, char **argv) {
  if (!harness_available())
    return HARNESS_SKIP;
  if (argc > 1)
    seed = (uint32_t)strtoul(argv[1], NULL, 0) | 1u << 31;
  write_kernels();
  module = module_compile(source, NULL);
  if (!module)
    return 1;
  memory = module_alloc(module, 2 * WORDS * sizeof(int));
  out = module_alloc(module, GROUPS * THREADS * sizeof(int));
  if (!module_record(module))
    return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_same_as_single_warps)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  module_free(module);
  return failures;
}
