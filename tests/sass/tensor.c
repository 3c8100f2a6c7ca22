/* Each mma instruction of PTX that compute capability 8.7 has, as ptxas encodes it,
 * against tensor_model.c, on random matrices; and ldmatrix and movmatrix.
 *
 *   tensor [TEXT]           only instructions whose text contains TEXT
 */
#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/state.h"
#include "tests/sass/tensor_model.h"
#include "tests/sm/harness.h"

enum { LANES = 32, WARPS = 160, BLOCK_WARPS = 4, QUAD = 4, ROWS = 16, COLUMNS = 8, DEPTH = 256 };

struct form {
  char ptx[128];
  unsigned rows, k;
  enum element a, b, c;
  bool sparse, saturate, and;
  unsigned selector;
  int round;
};

static struct form forms[256];
static unsigned form_count;

static struct form *add(unsigned rows, unsigned k, enum element a, enum element b, enum element c,
                        const char *ptx, ...) __attribute__((format(printf, 6, 7)));

static struct form *add(unsigned rows, unsigned k, enum element a, enum element b, enum element c,
                        const char *ptx, ...) {
  struct form *f = &forms[form_count++];
  *f = (struct form){.rows = rows, .k = k, .a = a, .b = b, .c = c, .round = FE_TONEAREST};
  va_list list;
  va_start(list, ptx);
  vsnprintf(f->ptx, sizeof f->ptx, ptx, list);
  va_end(list);
  return f;
}

static void add_dense(unsigned rows, unsigned k, enum element a, enum element b, enum element c,
                      bool saturate) {
  add(rows, k, a, b, c, "mma.sync.aligned.m%un8k%u.row.col%s.%s.%s.%s.%s", rows, k,
      saturate ? ".satfinite" : "", element_name(c), element_name(a), element_name(b),
      element_name(c))
      ->saturate = saturate;
}

static void add_sparse(unsigned k, unsigned selectors, enum element a, enum element b,
                       enum element c, bool saturate) {
  for (unsigned s = 0; s < selectors; s++) {
    struct form *f = add(ROWS, k, a, b, c,
                         "mma.sp::ordered_metadata.sync.aligned.m16n8k%u.row.col%s.%s.%s.%s.%s", k,
                         saturate ? ".satfinite" : "", element_name(c), element_name(a),
                         element_name(b), element_name(c));
    f->sparse = true;
    f->saturate = saturate;
    f->selector = s;
  }
}

static void add_all(void) {
  for (unsigned k = 8; k <= 16; k += 8) {
    add_dense(ROWS, k, F16, F16, F16, false);
    add_dense(ROWS, k, F16, F16, F32, false);
    add_dense(ROWS, k, BF16, BF16, F32, false);
    add_dense(ROWS, k / 2, TF32, TF32, F32, false);
    add_sparse(2 * k, 32 / k, F16, F16, F16, false);
    add_sparse(2 * k, 32 / k, F16, F16, F32, false);
    add_sparse(2 * k, 32 / k, BF16, BF16, F32, false);
    add_sparse(k, 32 / k, TF32, TF32, F32, false);
  }
  static const struct {
    const char *name;
    int mode;
  } rounds[] = {
      {"", FE_TONEAREST}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}, {".rz", FE_TOWARDZERO}};
  for (unsigned r = 0; r < 4; r++)
    add(8, 4, F64, F64, F64, "wmma.mma.sync.aligned.row.col.m8n8k4%s.f64.f64.f64.f64",
        rounds[r].name)
        ->round = rounds[r].mode;
  add_dense(8, 4, F64, F64, F64, false);
  for (unsigned types = 0; types < 4; types++)
    for (unsigned saturate = 0; saturate < 2; saturate++)
      for (unsigned nibbles = 0; nibbles < 2; nibbles++) {
        const enum element a = (nibbles ? U4 : U8) + (types & 1);
        const enum element b = (nibbles ? U4 : U8) + (types >> 1);
        const unsigned k = nibbles ? 32 : 16;
        add_dense(8, k, a, b, S32, saturate);
        add_dense(ROWS, k, a, b, S32, saturate);
        add_dense(ROWS, 2 * k, a, b, S32, saturate);
        add_sparse(2 * k, 2, a, b, S32, saturate);
        add_sparse(4 * k, 1, a, b, S32, saturate);
      }
  for (unsigned and = 0; and < 2; and++)
    for (unsigned k = 128; k <= 256; k += 128)
      for (unsigned rows = k == 128 ? 8 : ROWS; rows <= ROWS; rows += 8)
        add(rows, k, B1, B1, S32, "mma.sync.aligned.m%un8k%u.row.col.s32.b1.b1.s32.%s.popc", rows,
            k, and? "and" : "xor")
            ->and = and;
}

/* --- fragments: PTX manual, matrix fragments of mma ------------------------------------- */

struct matrices {
  uint64_t a[ROWS][DEPTH], b[DEPTH][COLUMNS], c[ROWS][COLUMNS];
  uint8_t place[ROWS][DEPTH]; /* along k, of the elements of a sparse A */
};

static unsigned stored_k(const struct form *f) {
  return f->sparse ? f->k / 2 : f->k;
}

static unsigned register_bits(const struct form *f) {
  return f->a == F64 ? 64 : 32;
}

/* Registers of a lane. */
static unsigned registers_of(const struct form *f, unsigned elements, enum element type) {
  return elements * element_bits(type) / (LANES * register_bits(f));
}
static unsigned a_registers(const struct form *f) {
  return registers_of(f, f->rows * stored_k(f), f->a);
}
static unsigned b_registers(const struct form *f) {
  return registers_of(f, f->k * COLUMNS, f->b);
}
static unsigned c_registers(const struct form *f) {
  return registers_of(f, f->rows * COLUMNS, f->c);
}

struct spot {
  unsigned row, column;
};

/* Returns the place of element i of a lane's fragment of A, or, with 8 rows, of B transposed. */
static struct spot spot_in_a(const struct form *f, unsigned rows, unsigned lane, unsigned i) {
  const unsigned each = register_bits(f) / element_bits(f->a), r = i / each;
  const unsigned halves = rows == ROWS ? 2 : 1;
  return (struct spot){lane / QUAD + (r % halves) * 8,
                       lane % QUAD * each + i % each + r / halves * QUAD * each};
}

static struct spot spot_in_c(unsigned lane, unsigned i) {
  return (struct spot){lane / QUAD + i / 2 * 8, lane % QUAD * 2 + i % 2};
}

static uint64_t element_at(const uint8_t *registers, unsigned index, enum element type) {
  const unsigned bits = element_bits(type);
  uint64_t v = 0;
  if (bits >= 8)
    memcpy(&v, registers + index * bits / 8, bits / 8);
  else
    v = registers[index * bits / 8] >> index * bits % 8 & ((1u << bits) - 1);
  return v;
}

static void put_element(uint8_t *registers, unsigned index, enum element type, uint64_t v) {
  const unsigned bits = element_bits(type);
  if (bits >= 8)
    memcpy(registers + index * bits / 8, &v, bits / 8);
  else
    registers[index * bits / 8] |= (uint8_t)(v << index * bits % 8);
}

/* Metadata: for each group of four elements along k (two of tf32, four pairs of nibbles), four bits
 * give the places of the two elements that are present (one for tf32). Rows of 16-bit elements have
 * 16 bits in a lane: row g in the low half, row g + 8 in the high half. Each row of
 * bytes has separate lanes. */
static void put_metadata(const struct form *f, unsigned row, unsigned group, unsigned nibble,
                         uint32_t *meta) {
  unsigned lane, shift;
  if (f->a <= TF32) {
    const unsigned lanes = stored_k(f) * element_bits(f->a) / 128;
    lane = f->selector * lanes + group / 4;
    shift = group % 4 * 4 + row / 8 * 16;
  } else {
    lane = f->selector * 2 + group / 8 * 2 + row / 8;
    shift = group % 8 * 4;
  }
  uint32_t *word = &meta[row % 8 * QUAD + lane];
  *word = (*word & ~(15u << shift)) | nibble << shift;
}

/* --- random values ------------------------------------------------------------------------ */

static uint64_t state;

static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* The distribution of the values of a set of matrices. */
enum spread { ANY, SPECIAL, NEAR, TINY, HUGE, CANCEL, SPREADS };

static uint64_t random_element(enum element type, enum spread spread) {
  const uint64_t r = random64();
  if (type >= U8 && type != F32)
    return r >> (64 - element_bits(type));
  const unsigned mantissa = type == F16 ? 10 : type == BF16 ? 7 : type == F64 ? 52 : 23;
  const unsigned width = element_bits(type), exponent_bits = width - 1 - mantissa;
  const uint64_t top = (1ull << exponent_bits) - 1, bias = top / 2;
  const uint64_t below = random64() & ((1ull << mantissa) - 1);
  uint64_t e = 0;
  switch (spread) {
  case ANY:
    e = r % top;
    break;
  case SPECIAL:
    e = r % 16 ? r % top : top;
    if (r % 256 < 16)
      return (r >> 8 & 1) << (width - 1) | (r % 32 < 16 ? e << mantissa : 0);
    break;
  case NEAR:
    e = bias - 4 + r % 8;
    break;
  case TINY:
    e = r % 4 < 2 ? 0 : r / 4 % (type == F16 ? 6 : bias / 2);
    break;
  case HUGE:
    e = top - 1 - r % 3;
    break;
  default:
    e = bias + r % 2;
  }
  if (r % 61 == 0)
    return (r >> 8 & 1) << (width - 1);
  return (r >> 63) << (width - 1) | e << mantissa | (r % 7 ? below : 0);
}

static void random_matrices(const struct form *f, struct matrices *m, uint32_t *meta) {
  const enum spread spread = (enum spread)(random64() % SPREADS);
  for (unsigned k = 0; k < f->k; k++)
    for (unsigned j = 0; j < COLUMNS; j++) {
      m->b[k][j] = random_element(f->b, spread);
      /* Terms cancel each other, so that only the last bits of the sum remain. */
      if (spread == CANCEL && k % 2 && f->a <= F64)
        m->b[k][j] = m->b[k - 1][j] ^ 1ull << (element_bits(f->b) - 1) ^ (random64() % 4 == 0);
    }
  for (unsigned i = 0; i < f->rows; i++) {
    for (unsigned k = 0; k < stored_k(f); k++)
      m->a[i][k] = spread == CANCEL && k % 2 ? m->a[i][k - 1] : random_element(f->a, spread);
    for (unsigned j = 0; j < COLUMNS; j++)
      m->c[i][j] = random_element(f->c, random64() % 4 ? spread : ANY);
  }
  for (unsigned k = 0; k < LANES; k++)
    meta[k] = (uint32_t)random64();
  if (!f->sparse)
    return;
  const unsigned pairs = f->a >= U4 ? 2 : 1; /* elements that share one place in the metadata */
  for (unsigned i = 0; i < f->rows; i++) {
    if (f->a == TF32) {
      for (unsigned k = 0; k < stored_k(f); k++) {
        const unsigned second = random64() & 1;
        m->place[i][k] = (uint8_t)(2 * k + second);
        put_metadata(f, i, k, second ? 0xe : 0x4, meta);
      }
      continue;
    }
    for (unsigned group = 0; group < f->k / (4 * pairs); group++) {
      const unsigned first = random64() % 3, second = first + 1 + random64() % (3 - first);
      for (unsigned k = 0; k < 2 * pairs; k++)
        m->place[i][group * 2 * pairs + k] =
            (uint8_t)((group * 4 + (k < pairs ? first : second)) * pairs + k % pairs);
      put_metadata(f, i, group, second << 2 | first, meta);
    }
  }
}

/* --- kernels ------------------------------------------------------------------------------- */

static void print_list(FILE *out, unsigned *operand, unsigned count) {
  for (unsigned k = 0; k < count; k++)
    fprintf(out, "%s%%%u", k ? "," : "{", (*operand)++);
  fprintf(out, "}");
}

static void print_kernel(FILE *out, const struct form *f, unsigned index) {
  const char *const type = f->a == F64 ? "double" : "unsigned", *const kind =
                                                                    f->a == F64 ? "d" : "r";
  const unsigned counts[] = {c_registers(f), a_registers(f), b_registers(f), c_registers(f)};
  unsigned operand = 0;
  fprintf(out,
          "extern \"C\" __global__ void k%u(const %s *a, const %s *b, const %s *c, const unsigned "
          "*e, %s *d) {\n  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n  %s r[%u];\n  asm "
          "volatile(\"%s ",
          index, type, type, type, type, type, counts[0], f->ptx);
  for (unsigned k = 0; k < 4; k++) {
    print_list(out, &operand, counts[k]);
    fprintf(out, "%s", k < 3 ? ", " : "");
  }
  if (f->sparse)
    fprintf(out, ", %%%u, %u", operand, f->selector);
  fprintf(out, ";\" :");
  for (unsigned k = 0; k < counts[0]; k++)
    fprintf(out, "%s \"=%s\"(r[%u])", k ? "," : "", kind, k);
  for (unsigned n = 1; n < 4; n++)
    for (unsigned k = 0; k < counts[n]; k++)
      fprintf(out, "%s \"%s\"(%c[i * %u + %u])", n == 1 && k == 0 ? " :" : ",", kind, " abc"[n],
              counts[n], k);
  if (f->sparse)
    fprintf(out, ", \"r\"(e[i])");
  fprintf(out, ");\n  for (int k = 0; k < %u; k++)\n    d[i * %u + k] = r[k];\n}\n", counts[0],
          counts[0]);
}

static bool nan_double(uint64_t v) {
  return (v << 1) > 0xffe0000000000000ull;
}

enum { FRAGMENT = 64 }; /* largest size of a lane's registers in bytes */

struct buffers {
  uint64_t a, b, c, e, d;
};

static bool run(struct module *m, const struct form *f, unsigned index, const struct buffers *at) {
  static struct matrices all[WARPS];
  uint8_t *a = module_host(m, at->a), *b = module_host(m, at->b), *c = module_host(m, at->c),
          *d = module_host(m, at->d);
  uint32_t *e = module_host(m, at->e);
  const unsigned bytes = register_bits(f) / 8, a_size = a_registers(f) * bytes,
                 b_size = b_registers(f) * bytes, c_size = c_registers(f) * bytes;
  state = 88172645463325252ull + index;
  memset(a, 0, WARPS * LANES * FRAGMENT);
  memset(b, 0, WARPS * LANES * FRAGMENT);
  for (unsigned w = 0; w < WARPS; w++) {
    struct matrices *x = &all[w];
    random_matrices(f, x, e + w * LANES);
    for (unsigned lane = 0; lane < LANES; lane++) {
      const unsigned thread = w * LANES + lane;
      for (unsigned i = 0; i < a_size * 8 / element_bits(f->a); i++) {
        const struct spot s = spot_in_a(f, f->rows, lane, i);
        put_element(a + thread * a_size, i, f->a, x->a[s.row][s.column]);
      }
      for (unsigned i = 0; i < b_size * 8 / element_bits(f->b); i++) {
        const struct spot s = spot_in_a(f, 8, lane, i);
        put_element(b + thread * b_size, i, f->b, x->b[s.column][s.row]);
      }
      for (unsigned i = 0; i < c_size * 8 / element_bits(f->c); i++) {
        const struct spot s = spot_in_c(lane, i);
        put_element(c + thread * c_size, i, f->c, x->c[s.row][s.column]);
      }
    }
  }
  char name[16];
  snprintf(name, sizeof name, "k%u", index);
  const struct launch launch = {.grid = {WARPS / BLOCK_WARPS, 1, 1},
                                .block = {BLOCK_WARPS * LANES, 1, 1},
                                .params = at,
                                .param_bytes = sizeof *at};
  struct sm_fault fault = {0};
  if (module_run(m, name, &launch, &fault, NULL) != SM_DONE) {
    printf("%s: %s (%s)\n", f->ptx, fault.message, fault.instruction);
    return false;
  }
  unsigned bad = 0;
  for (unsigned w = 0; w < WARPS; w++)
    for (unsigned lane = 0; lane < LANES; lane++)
      for (unsigned i = 0; i < c_size * 8 / element_bits(f->c); i++) {
        const struct spot s = spot_in_c(lane, i);
        struct dot dot = {.a_type = f->a,
                          .b_type = f->b,
                          .c_type = f->c,
                          .count = stored_k(f),
                          .c = all[w].c[s.row][s.column],
                          .saturate = f->saturate,
                          .and = f->and,
                          .round = f->round};
        for (unsigned k = 0; k < dot.count; k++) {
          dot.a[k] = all[w].a[s.row][k];
          dot.b[k] = all[w].b[f->sparse ? all[w].place[s.row][k] : k][s.column];
        }
        const uint64_t want = dot_product(&dot);
        const uint64_t got = element_at(d + (w * LANES + lane) * c_size, i, f->c);
        if (got != want && !(f->c == F64 && nan_double(got) && nan_double(want)) && bad++ < 3)
          printf("%s: row %u, column %u: got %llx, expected %llx (c %llx, a %llx, b %llx ...)\n",
                 f->ptx, s.row, s.column, (unsigned long long)got, (unsigned long long)want,
                 (unsigned long long)dot.c, (unsigned long long)dot.a[0],
                 (unsigned long long)dot.b[0]);
      }
  if (bad)
    printf("%s: %u of %u wrong\n", f->ptx, bad, WARPS * f->rows * COLUMNS);
  return !bad;
}

/* --- ldmatrix, movmatrix ------------------------------------------------------------------ */

enum { PLACES = 256, MATRIX_RUNS = 80 };

static const char matrix_source[] =
    "__device__ unsigned shared_address(const void *p) {\n"
    "  return (unsigned)__cvta_generic_to_shared(p);\n"
    "}\n"
    "#define FILL __shared__ __align__(16) uint4 rows[256];\\\n"
    "  for (int k = threadIdx.x; k < 256; k += 32) rows[k] = in[k];\\\n"
    "  __syncthreads();\\\n"
    "  unsigned at = shared_address(&rows[place[blockIdx.x * 32 + threadIdx.x]]), r[4] = {};\\\n"
    "  out += (blockIdx.x * 32 + threadIdx.x) * 4\n"
    "#define LOAD(name, op, outputs, ...)\\\n"
    "  extern \"C\" __global__ void name(const uint4 *in, const unsigned *place, unsigned *out) "
    "{\\\n"
    "    FILL;\\\n"
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.\" op \".shared.b16 \" outputs : __VA_ARGS__\\\n"
    "                 : \"r\"(at) : \"memory\");\\\n"
    "    for (int k = 0; k < 4; k++) out[k] = r[k];\\\n"
    "  }\n"
    "#define ONE(name, op) LOAD(name, op, \"{%0}, [%1];\", \"=r\"(r[0]))\n"
    "#define TWO(name, op) LOAD(name, op, \"{%0, %1}, [%2];\", \"=r\"(r[0]), \"=r\"(r[1]))\n"
    "#define FOUR(name, op) LOAD(name, op, \"{%0, %1, %2, %3}, [%4];\", \"=r\"(r[0]), "
    "\"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]))\n"
    "ONE(x1, \"x1\") ONE(x1t, \"x1.trans\") TWO(x2, \"x2\") TWO(x2t, \"x2.trans\")\n"
    "FOUR(x4, \"x4\") FOUR(x4t, \"x4.trans\")\n"
    "extern \"C\" __global__ void move(const uint4 *in, const unsigned *place, unsigned *out) {\n"
    "  const unsigned *words = (const unsigned *)in;\n"
    "  out += (blockIdx.x * 32 + threadIdx.x) * 4;\n"
    "  unsigned r, a = words[(blockIdx.x * 32 + threadIdx.x) % 1024];\n"
    "  asm volatile(\"movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;\" : \"=r\"(r) : \"r\"(a));\n"
    "  out[0] = r; out[1] = out[2] = out[3] = 0;\n"
    "}\n";

static bool run_matrices(struct module *m, const char *name, unsigned count, bool transposed) {
  const bool moves = !strcmp(name, "move");
  struct {
    uint64_t in, place, out;
  } at = {module_alloc(m, PLACES * 16), module_alloc(m, MATRIX_RUNS * LANES * 4),
          module_alloc(m, MATRIX_RUNS * LANES * 16)};
  uint16_t *in = module_host(m, at.in);
  uint32_t *place = module_host(m, at.place), *out = module_host(m, at.out);
  state = 362436069;
  for (unsigned k = 0; k < PLACES * 8; k++)
    in[k] = (uint16_t)random64();
  for (unsigned k = 0; k < MATRIX_RUNS * LANES; k++)
    place[k] = random64() % PLACES;
  const struct launch launch = {
      .grid = {MATRIX_RUNS, 1, 1}, .block = {LANES, 1, 1}, .params = &at, .param_bytes = sizeof at};
  struct sm_fault fault = {0};
  if (module_run(m, name, &launch, &fault, NULL) != SM_DONE) {
    printf("%s: %s (%s)\n", name, fault.message, fault.instruction);
    return false;
  }
  for (unsigned w = 0; w < MATRIX_RUNS; w++)
    for (unsigned lane = 0; lane < LANES; lane++)
      for (unsigned k = 0; k < 4; k++) {
        uint32_t want = 0;
        for (unsigned half = 0; half < 2 && k < count; half++) {
          const unsigned x = lane / QUAD, y = lane % QUAD * 2 + half;
          const unsigned row = transposed ? y : x, column = transposed ? x : y;
          const uint16_t *from = moves ? in + w * LANES % (PLACES * 4) * 2 + row * 8
                                       : in + place[w * LANES + k * 8 + row] * 8;
          want |= (uint32_t)from[column] << 16 * half;
        }
        if (out[(w * LANES + lane) * 4 + k] != want) {
          printf("%s: lane %u, register %u: got %x, expected %x\n", name, lane, k,
                 out[(w * LANES + lane) * 4 + k], want);
          return false;
        }
      }
  return true;
}

static unsigned test_matrices(void) {
  static const struct {
    const char *name;
    unsigned count;
    bool transposed;
  } tests[] = {{"x1", 1, false}, {"x1t", 1, true}, {"x2", 2, false}, {"x2t", 2, true},
               {"x4", 4, false}, {"x4t", 4, true}, {"move", 1, true}};
  struct module *m = module_compile(matrix_source, NULL);
  unsigned failures = 0;
  for (unsigned k = 0; k < sizeof tests / sizeof *tests; k++)
    failures += !m || !run_matrices(m, tests[k].name, tests[k].count, tests[k].transposed);
  module_free(m);
  return failures;
}

/* ------------------------------------------------------------------------------------------ */

int main(int argc, char **argv) {
  if (!harness_available())
    return HARNESS_SKIP;
  add_all();
  unsigned kept = 0;
  for (unsigned k = 0; k < form_count; k++)
    if (argc < 2 || strstr(forms[k].ptx, argv[1]))
      forms[kept++] = forms[k];
  form_count = kept;
  char *source;
  size_t size;
  FILE *text = open_memstream(&source, &size);
  for (unsigned k = 0; k < form_count; k++)
    print_kernel(text, &forms[k], k);
  fclose(text);
  struct module *m = module_compile(source, NULL);
  free(source);
  if (!m)
    return 1;
  const size_t room = (size_t)WARPS * LANES * FRAGMENT;
  const struct buffers at = {module_alloc(m, room), module_alloc(m, room), module_alloc(m, room),
                             module_alloc(m, room), module_alloc(m, room)};
  unsigned failures = 0, runs = 0;
  for (unsigned level = 0; level < SM_CORE_BUILDS; level++) {
    if (!(sm_core_override = sm_core_build(level)))
      continue;
    module_forget_code(m);
    for (unsigned k = 0; k < form_count; k++, runs++)
      failures += !run(m, &forms[k], k, &at);
    failures += test_matrices();
  }
  module_free(m);
  printf("%u forms, %u runs of %u warps, %u failed\n", form_count, runs, WARPS, failures);
  return failures || !runs;
}
