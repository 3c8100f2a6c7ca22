/* Instructions that PTX alone does not test: those that compilers do not emit for compute code, put
 * into compiled kernels in place of others; asynchronous copies with a cache policy; and counting
 * without atomics, with and without YIELD. */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/state.h"
#include "gpu/isa/insn.h"
#include "tests/sass/exact.h"
#include "tests/sm/harness.h"

enum { COUNT = 10240, BLOCK = 256 };

static const char source[] =
    "typedef unsigned long long u64;\n"
    "extern \"C\" __global__ void multiply(const float *a, const float *b, float *out) {\n"
    "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  out[i] = __fmul_rn(a[i], b[i]);\n"
    "}\n"
    "extern \"C\" __global__ void add(const unsigned *in, unsigned *out, u64 d, unsigned c) {\n"
    "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  out[i] = in[i] + c;\n"
    "}\n"
    "extern \"C\" __global__ void hinted(const char *from, unsigned *out, u64 policy, int n) {\n"
    "  __shared__ __align__(16) unsigned s[64];\n"
    "  for (int k = 0; k < 64; k++) s[k] = k;\n"
    "  asm volatile(\"cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;\"\n"
    "    :: \"r\"((unsigned)__cvta_generic_to_shared(s) + n), \"l\"(from + 32), \"l\"(policy));\n"
    "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n"
    "  for (int k = 0; k < 64; k++) out[k] = s[k];\n"
    "}\n"
    "extern \"C\" __global__ void tags(unsigned *out, unsigned rounds) {\n"
    "  __shared__ volatile unsigned bin;\n"
    "  if (threadIdx.x == 0) bin = 0;\n"
    "  __syncthreads();\n"
    "  unsigned tag = threadIdx.x << 27, value;\n"
    "  for (unsigned i = 0; i < rounds; i++)\n"
    "    do bin = value = tag | ((bin & 0x7ffffff) + 1); while (bin != value);\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x == 0) *out = bin & 0x7ffffff;\n"
    "}\n";

static uint64_t state = 88172645463325252ull;

static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* Returns the words of the first instruction of a kernel with this operation. */
static uint64_t *find_instruction(struct module *m, const char *kernel, enum sm_op op) {
  enum { MOST = 512 };
  uint64_t *word = module_host(m, module_symbol(m, kernel));
  for (unsigned k = 0; k < MOST; k++, word += 2) {
    struct sm_insn insn;
    if (sm_decode(word, &insn) && insn.op == op)
      return word;
  }
  printf("%s: has no %s\n", kernel, sm_op_names[op]);
  return NULL;
}

static void put_bits(uint64_t *word, unsigned low, unsigned count, uint64_t value) {
  for (unsigned k = 0; k < count; k++) {
    const unsigned at = low + k;
    word[at / 64] &= ~(1ull << at % 64);
    word[at / 64] |= (value >> k & 1) << at % 64;
  }
}

static bool launch(struct module *m, const char *kernel, const void *params, size_t size,
                   struct sm_fault *fault) {
  const struct launch l = {
      .grid = {COUNT / BLOCK, 1, 1}, .block = {BLOCK, 1, 1}, .params = params, .param_bytes = size};
  return module_run(m, kernel, &l, fault, NULL) == SM_DONE;
}

/* FMUL.D8 to .M8 */
static unsigned test_scales(struct module *m) {
  enum { SCALE_LOW = 84, SCALE_BITS = 3, D8 = 1, NONE = 4, M8 = 7 };
  struct {
    uint64_t a, b, out;
  } p = {module_alloc(m, COUNT * 4), module_alloc(m, COUNT * 4), module_alloc(m, COUNT * 4)};
  uint32_t *a = module_host(m, p.a), *b = module_host(m, p.b), *out = module_host(m, p.out);
  uint64_t *word = find_instruction(m, "multiply", SM_OP_FMUL);
  unsigned failures = !word;
  for (unsigned i = 0; i < COUNT; i++) {
    a[i] = (uint32_t)random64();
    b[i] = (uint32_t)random64();
    if (i % 4 == 0) /* near the ends of the range */
      b[i] = ((i % 8 ? 0u : 253u) - (a[i] >> 23 & 255) + 127 + i / 8 % 8) << 23 | (b[i] & 0x7fffff);
  }
  for (unsigned scale = D8; word && scale <= M8; scale++) {
    struct sm_fault fault = {0};
    put_bits(word, SCALE_LOW, SCALE_BITS, scale);
    module_forget_code(m);
    if (!launch(m, "multiply", &p, sizeof p, &fault)) {
      printf("%s (%s)\n", fault.message, fault.instruction);
      failures++;
      continue;
    }
    for (unsigned i = 0; i < COUNT; i++) {
      struct exact v = exact_mul(exact_of(a[i], &FORMAT_F32), exact_of(b[i], &FORMAT_F32));
      v.v = v.v * (1 << scale) / (1 << NONE);
      const uint64_t want = exact_round(v, &FORMAT_F32, FE_TONEAREST);
      if (out[i] != want) {
        printf("FMUL scale %u: got %x, expected %x, of %x %x\n", scale, out[i], (unsigned)want,
               a[i], b[i]);
        failures++;
        break;
      }
    }
  }
  return failures;
}

/* Operands cx[UR][offset]. */
static unsigned test_bindless(struct module *m) {
  enum { WORDS = 64, UNIT = 16, RUNS = 40, OPCODE_HIGH = 91, UR_LOW = 32, OFFSET_LOW = 40 };
  const uint64_t table = module_alloc(m, WORDS * 4);
  uint32_t *values = module_host(m, table);
  struct {
    uint64_t in, out, descriptor;
    uint32_t c;
  } p = {module_alloc(m, COUNT * 4), module_alloc(m, COUNT * 4), 0, 0};
  const uint32_t *in = module_host(m, p.in), *out = module_host(m, p.out);
  uint64_t *load = find_instruction(m, "add", SM_OP_ULDC), *sum = NULL;
  for (unsigned k = 0; k < COUNT; k++)
    ((uint32_t *)module_host(m, p.in))[k] = (uint32_t)random64();
  for (unsigned k = 0; k < WORDS; k++)
    values[k] = (uint32_t)random64();
  /* The addition of the last parameter. */
  struct sm_insn insn;
  for (uint64_t *at = module_host(m, module_symbol(m, "add")); load && !sum; at += 2)
    if (!sm_decode(at, &insn) || insn.op == SM_OP_EXIT)
      break;
    else if (insn.op == SM_OP_IADD3 && insn.operand[4].kind == SM_OPERAND_CONST &&
             insn.operand[4].value == 0x178)
      sum = at;
  if (!sum || !sm_decode(load, &insn)) {
    printf("add: not as expected\n");
    return 1;
  }
  const unsigned ur = insn.operand[0].reg;
  put_bits(load, OFFSET_LOW, 14, 0x170 / 4); /* the descriptor, instead of another word */
  put_bits(sum, OPCODE_HIGH, 1, 1);
  put_bits(sum, UR_LOW, 6, ur);
  for (unsigned run = 0; run < RUNS; run++) {
    const unsigned first = (unsigned)(random64() % 8), size = (unsigned)(random64() % 8);
    const unsigned offset = (unsigned)(random64() % (8 * UNIT)) & ~3u;
    struct sm_fault fault = {0};
    p.descriptor = (table / UNIT + first) | (uint64_t)size << 45;
    put_bits(sum, OFFSET_LOW, 14, offset / 4);
    module_forget_code(m);
    if (!launch(m, "add", &p, sizeof p, &fault)) {
      printf("%s (%s)\n", fault.message, fault.instruction);
      return 1;
    }
    const uint32_t c = offset < size * UNIT ? values[first * 4 + offset / 4] : 0;
    for (unsigned i = 0; i < COUNT; i++)
      if (out[i] != in[i] + c) {
        printf("constant by descriptor: got %x, expected %x\n", out[i], in[i] + c);
        return 1;
      }
  }
  /* A constant buffer that is not mapped causes a fault. */
  struct sm_fault fault = {0};
  p.descriptor = 0x100 | 1ull << 45;
  if (launch(m, "add", &p, sizeof p, &fault) || fault.kind != SM_FAULT_MMU ||
      fault.address != 0x100 * UNIT) {
    printf("constant of an unmapped buffer: no fault\n");
    return 1;
  }
  return 0;
}

/* LDGSTS with a cache policy and with the shared address in a uniform register. */
static unsigned test_hinted(struct module *m) {
  enum { WORDS = 64, PIECE = 4, LDGSTS_UNIFORM = 0x1dae };
  struct {
    uint64_t from, out, policy;
    uint32_t n;
  } p = {module_alloc(m, WORDS * 4), module_alloc(m, WORDS * 4), 0x14f0000000000000ull, 0};
  uint32_t *from = module_host(m, p.from);
  const uint32_t *out = module_host(m, p.out);
  struct sm_insn insn;
  const uint64_t *word = find_instruction(m, "hinted", SM_OP_LDGSTS);
  if (!word || !sm_decode(word, &insn) || insn.opcode != LDGSTS_UNIFORM) {
    printf("hinted: not the expected form\n");
    return 1;
  }
  for (unsigned k = 0; k < WORDS; k++)
    from[k] = (uint32_t)random64();
  for (p.n = 0; p.n < WORDS * 4; p.n += PIECE * 4) {
    const struct launch l = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &p, .param_bytes = sizeof p};
    struct sm_fault fault = {0};
    if (module_run(m, "hinted", &l, &fault, NULL) != SM_DONE) {
      printf("%s (%s)\n", fault.message, fault.instruction);
      return 1;
    }
    for (unsigned k = 0; k < WORDS; k++) {
      const bool copied = k >= p.n / 4 && k < p.n / 4 + PIECE;
      if (out[k] != (copied ? from[8 + k - p.n / 4] : k)) {
        printf("hinted copy to %u: wrong\n", p.n);
        return 1;
      }
    }
  }
  return 0;
}

/* Code for debuggers compares its stack pointer with S2R SR_LMEMHIOFF, and traps where the
 * stack is full (docs/hardware/sass.md 2), before it would fault. */
static unsigned test_stack_limit(void) {
  static const char deep[] = "__device__ __noinline__ int sum(int n) {\n"
                             "  return n ? sum(n - 1) + n : 0;\n"
                             "}\n"
                             "extern \"C\" __global__ void deep(int *out, int n) {\n"
                             "  *out = sum(n);\n"
                             "}\n";
  enum { FEW = 3, MANY = 1000, STACK = 4096 };
  struct module *m = module_compile(deep, (const char *const[]){"--device-debug", NULL});
  if (!m)
    return 1;
  unsigned failures = 0;
  struct {
    uint64_t out;
    int32_t n;
  } p = {module_alloc(m, sizeof(int32_t)), FEW};
  const struct launch l = {.grid = {1, 1, 1},
                           .block = {1, 1, 1},
                           .local_bytes = STACK,
                           .params = &p,
                           .param_bytes = sizeof p};
  struct sm_fault fault = {0};
  if (module_run(m, "deep", &l, &fault, NULL) != SM_DONE ||
      *(const int32_t *)module_host(m, p.out) != FEW * (FEW + 1) / 2) {
    printf("stack: %s (%s)\n", fault.message, fault.instruction);
    failures++;
  }
  p.n = MANY;
  if (module_run(m, "deep", &l, &fault, NULL) != SM_FAULTED || fault.kind != SM_FAULT_TRAP) {
    printf("stack: no trap at its end, but %s (%s)\n", fault.message, fault.instruction);
    failures++;
  }
  module_free(m);
  return failures;
}

/* A warp counts in one bin without atomics: each lane stores the sum with its tag, and tries again
 * if another lane's store won (docs/applications.md, Rodinia). This is correct only if the lanes
 * run in lock step. NVRTC inserts a YIELD between the load and the store; there, a lane that has
 * finished can continue with its next element before the others store an old sum. Without the YIELD
 * no count is lost: one of the stores to an address wins, and BSYNC holds the finished lanes. */
static unsigned test_tags(struct module *m) {
  enum { LANES = 32, ROUNDS = 11, MOST = 512, NOP = 0x918 };
  struct {
    uint64_t out;
    uint32_t rounds;
  } p = {module_alloc(m, sizeof(uint32_t)), ROUNDS};
  const struct launch l = {
      .grid = {1, 1, 1}, .block = {LANES, 1, 1}, .params = &p, .param_bytes = sizeof p};
  const uint32_t *out = module_host(m, p.out);
  uint32_t counts[2] = {0};
  for (unsigned run = 0; run < 2; run++) {
    struct sm_fault fault = {0};
    if (module_run(m, "tags", &l, &fault, NULL) != SM_DONE) {
      printf("tags: %s (%s)\n", fault.message, fault.instruction);
      return 1;
    }
    counts[run] = *out;
    uint64_t *word = module_host(m, module_symbol(m, "tags"));
    struct sm_insn insn;
    for (unsigned k = 0; k < MOST && sm_decode(word, &insn); k++, word += 2)
      if (insn.op == SM_OP_YIELD) {
        put_bits(word, 0, 12, NOP);
        put_bits(word, 87, 4, 0); /* its predicate operand */
      }
    module_forget_code(m);
  }
  printf("tags: %u of %u counted as compiled, %u without YIELD\n", counts[0], LANES * ROUNDS,
         counts[1]);
  return counts[1] != LANES * ROUNDS || counts[0] > counts[1];
}

int main(void) {
  if (!harness_available())
    return HARNESS_SKIP;
  unsigned failures = 0, builds = 0;
  for (unsigned level = 0; level < SM_CORE_BUILDS; level++) {
    if (!(sm_core_override = sm_core_build(level)))
      continue;
    struct module *m = module_compile(source, NULL);
    if (!m)
      return 1;
    failures +=
        test_scales(m) + test_bindless(m) + test_hinted(m) + test_tags(m) + test_stack_limit();
    module_free(m);
    builds++;
  }
  printf("%u builds of the core, %u failures\n", builds, failures);
  return failures || !builds;
}
