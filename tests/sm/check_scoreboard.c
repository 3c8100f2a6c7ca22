/* Check mode on wrong control bits: in machine code from NVRTC, the wait for a scoreboard or the
 * scoreboard of a load is removed. The unchanged code must not be reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sm/harness.h"
#include "tests/sm/isa_encode.h"

#include <cmocka.h>

enum { NONE = 7, BLOCK = 64, WORDS = 4096 };

static const char source[] =
    "extern \"C\" __global__ void add(const int *a, const int *b, int *o, int n) {\n"
    "  int i = threadIdx.x; o[i] = a[i] * 3 + b[i]; }\n"
    "extern \"C\" __global__ void loop(const int *a, const int *b, int *o, int n) {\n"
    "  __shared__ int s[64]; int t = threadIdx.x, x = 0;\n"
    "  for (int i = 0; i < n; i++) { s[t] = a[i * 64 + t]; __syncthreads();\n"
    "    x += s[63 - t] * b[i]; o[i * 64 + t] = x; __syncthreads(); } }\n"
    "extern \"C\" __global__ void root(const int *a, const int *b, int *o, int n) {\n"
    "  int i = threadIdx.x; float x = a[i]; o[i] = sqrtf(x) / __sinf(x) + clock(); }\n";

struct params {
  uint64_t a, b, o;
  int n;
};

static struct sm_fault last;
static unsigned reports;

static bool wanted(const struct sm_grid *grid, enum sm_fault_kind kind, uint64_t pc) {
  (void)grid, (void)pc;
  return kind == SM_REPORT_SCOREBOARD;
}

static void report(const struct sm_grid *grid, const struct sm_fault *fault) {
  (void)grid;
  if (reports++ == 0)
    last = *fault;
}

static const struct sm_watch watch = {.check = true, .wanted = wanted, .report = report};

static struct module *module;
static struct params params;

/* Runs a kernel and returns the number of reports. */
static unsigned run(const char *kernel) {
  struct launch launch = {
      .grid = {1, 1, 1}, .block = {BLOCK, 1, 1}, .params = &params, .param_bytes = sizeof params};
  struct sm_fault fault;
  reports = 0;
  module_forget_code(module);
  assert_int_equal(module_run(module, kernel, &launch, &fault, NULL), SM_DONE);
  return reports;
}

static void decode(const uint64_t word[2], struct sm_insn *insn) {
  assert_true(sm_decode(word, insn));
}

static int set_up(void **state) {
  (void)state;
  if (!harness_available())
    exit(HARNESS_SKIP);
  module = module_compile(source, NULL);
  if (!module)
    return -1;
  params = (struct params){.a = module_alloc(module, WORDS * 4),
                           .b = module_alloc(module, WORDS * 4),
                           .o = module_alloc(module, WORDS * 4),
                           .n = 8};
  module_watch(module, &watch);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  module_free(module);
  return 0;
}

static const char *const kernels[] = {"add", "loop", "root"};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static void unchanged_code_gets_no_report(void **state) {
  (void)state;
  for (int k = 0; k < KERNELS; k++)
    assert_int_equal(run(kernels[k]), 0);
}

/* Removes the wait from the first use of the first LDG's result. */
static void reports_missing_wait_for_load(void **state) {
  (void)state;
  for (int k = 0; k < KERNELS; k++) {
    size_t count, load = 0, use;
    uint64_t(*code)[2] = module_code(module, kernels[k], &count);
    struct sm_insn insn, loading;
    for (decode(code[load], &loading); loading.op != SM_OP_LDG; decode(code[load], &loading))
      load++;
    const uint8_t scoreboard = loading.write_sb;
    assert_true(scoreboard != NONE);
    for (use = load + 1, decode(code[use], &insn); !(insn.wait_mask >> scoreboard & 1);
         decode(code[use], &insn))
      assert_true(++use < count);
    const uint64_t before[2] = {code[use][0], code[use][1]};
    insn.wait_mask &= (uint8_t) ~(1u << scoreboard);
    isa_encode(&insn, code[use]);
    assert_int_equal(code[use][0], before[0]); /* only control bits differ */
    assert_true(run(kernels[k]) > 0);
    char expected[64];
    snprintf(expected, sizeof expected, "R%u without a wait for scoreboard %u",
             loading.operand[1].reg, scoreboard);
    assert_non_null(strstr(last.message, expected));
    assert_true(last.instruction[0]);
    code[use][1] = before[1];
    assert_int_equal(run(kernels[k]), 0);
  }
}

/* Removes the scoreboard of each load in turn, so that no code may use its result. Some loads of
 * "loop" are executed only for other values of n. */
static void reports_load_without_scoreboard(void **state) {
  (void)state;
  for (int k = 0; k < KERNELS; k++) {
    size_t count, found = 0;
    uint64_t(*code)[2] = module_code(module, kernels[k], &count);
    for (size_t i = 0; i < count; i++) {
      struct sm_insn insn;
      decode(code[i], &insn);
      if (insn.op != SM_OP_LDG)
        continue;
      const uint64_t before = code[i][1];
      insn.write_sb = NONE;
      isa_encode(&insn, code[i]);
      const bool reported = run(kernels[k]) > 0;
      code[i][1] = before;
      assert_true(reported || strcmp(kernels[k], "loop") == 0);
      assert_true(!reported || strstr(last.message, "no scoreboard announces"));
      found += reported;
    }
    assert_true(found > 0);
    assert_int_equal(run(kernels[k]), 0);
  }
}

/* Removes each wait of each instruction in turn. Not every wait protects something (those of stores
 * at the end of a kernel, for example). Both kinds of report must occur. */
static void reports_most_removed_waits(void **state) {
  (void)state;
  unsigned waits = 0, found = 0, early_writes = 0;
  for (int k = 0; k < KERNELS; k++) {
    size_t count;
    uint64_t(*code)[2] = module_code(module, kernels[k], &count);
    for (size_t i = 0; i < count; i++) {
      struct sm_insn insn;
      decode(code[i], &insn);
      const uint64_t before = code[i][1];
      const uint8_t mask = insn.wait_mask;
      for (unsigned s = 0; s < 6; s++) {
        if (!(mask >> s & 1))
          continue;
        waits++;
        insn.wait_mask = mask & (uint8_t) ~(1u << s);
        isa_encode(&insn, code[i]);
        if (run(kernels[k])) {
          found++;
          early_writes += strncmp(last.message, "writes ", 7) == 0;
        }
        code[i][1] = before;
      }
    }
  }
  print_message("%u of %u removed waits were reported, %u for registers still being read\n", found,
                waits, early_writes);
  assert_true(found * 2 > waits);
  assert_true(early_writes > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unchanged_code_gets_no_report),
      cmocka_unit_test(reports_missing_wait_for_load),
      cmocka_unit_test(reports_load_without_scoreboard),
      cmocka_unit_test(reports_most_removed_waits),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
