/* The wmma instructions of PTX load, multiply and store whole matrices in memory.
 * The compiler chooses the places of elements in fragments. Values are small
 * integers, whose sums are exact in any order. Also mma.m8n8k4 of f16, for which the compiler
 * emits other instructions.
 *
 *   wmma [TEXT]             only instructions whose text contains TEXT
 */
#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/state.h"
#include "tests/sass/exact.h"
#include "tests/sass/tensor_model.h"
#include "tests/sm/harness.h"

enum { LANES = 32, RUNS = 48, MOST = 32 * 16 + 128 * 8 };

struct form {
  unsigned m, n, k;
  enum element a, b, c, d;
  bool a_column, b_column, d_column, saturate, and;
};

static struct form forms[256];
static unsigned form_count;

static void add(struct form f, bool layouts) {
  for (unsigned l = 0; l < 8; l++) {
    f.a_column = l & 1, f.b_column = !(l & 2), f.d_column = l & 4;
    if (layouts || (!f.a_column && f.b_column))
      forms[form_count++] = f;
  }
}

static void add_all(void) {
  static const unsigned shapes[][2] = {{16, 16}, {8, 32}, {32, 8}};
  for (unsigned s = 0; s < 3; s++) {
    const unsigned m = shapes[s][0], n = shapes[s][1];
    for (unsigned t = 0; t < 4; t++)
      add((struct form){m, n, 16, F16, F16, t & 1 ? F32 : F16, t & 2 ? F32 : F16}, true);
    add((struct form){m, n, 16, BF16, BF16, F32, F32}, true);
    for (unsigned saturate = 0; saturate < 2; saturate++) {
      add((struct form){m, n, 16, U8, U8, S32, S32, .saturate = saturate}, !saturate);
      add((struct form){m, n, 16, S8, S8, S32, S32, .saturate = saturate}, !saturate);
    }
  }
  add((struct form){16, 16, 8, TF32, TF32, F32, F32}, true);
  add((struct form){8, 8, 4, F64, F64, F64, F64}, true);
  add((struct form){8, 8, 32, U4, U4, S32, S32}, false);
  add((struct form){8, 8, 32, S4, S4, S32, S32, .saturate = true}, false);
  add((struct form){8, 8, 128, B1, B1, S32, S32}, false);
  add((struct form){8, 8, 128, B1, B1, S32, S32, .and = true}, false);
}

/* --- kernels: PTX manual, wmma ------------------------------------------------------------- */

/* Registers of a lane. (The fragments of f16 factors contain each element twice.) */
static unsigned registers_of(enum element type, unsigned elements) {
  const unsigned each = type == F64 ? 64 : 32, count = elements * element_bits(type) / (32 * each);
  return count ? count : 1;
}

static void print_operand(FILE *out, char letter, unsigned count, bool outputs) {
  fprintf(out, "{");
  for (unsigned k = 0; k < count; k++)
    fprintf(out, "%s%c%u", k ? "," : "", letter, k);
  fprintf(out, "}%s", outputs ? ", " : "");
}

static const char *layout(bool column) {
  return column ? "col" : "row";
}

static void name_of(const struct form *f, char *text, size_t size) {
  char shape[32];
  snprintf(shape, sizeof shape, "m%un%uk%u", f->m, f->n, f->k);
  if (f->a == F16)
    snprintf(text, size, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s", layout(f->a_column),
             layout(f->b_column), shape, element_name(f->d), element_name(f->c));
  else
    snprintf(text, size, "wmma.mma%s.sync.aligned.%s.%s.%s%s.%s.%s.%s.%s%s",
             f->a != B1 ? ""
             : f->and   ? ".and.popc"
                        : ".xor.popc",
             layout(f->a_column), layout(f->b_column), shape, f->a == F64 ? ".rn" : "",
             element_name(f->d), element_name(f->a), element_name(f->b), element_name(f->c),
             f->saturate ? ".satfinite" : "");
}

static void print_kernel(FILE *out, const struct form *f, unsigned index) {
  char name[128];
  name_of(f, name, sizeof name);
  const struct {
    char letter;
    enum element type;
    unsigned registers, stride;
    bool column;
    unsigned bytes;
  } operands[] = {
      {'a', f->a, f->a == F16 ? 8 : registers_of(f->a, f->m * f->k), f->a_column ? f->m : f->k,
       f->a_column, f->m * f->k * element_bits(f->a) / 8},
      {'b', f->b, f->a == F16 ? 8 : registers_of(f->b, f->k * f->n), f->b_column ? f->k : f->n,
       f->b_column, f->k * f->n * element_bits(f->b) / 8},
      {'c', f->c, registers_of(f->c, f->m * f->n), f->n, false,
       f->m * f->n * element_bits(f->c) / 8},
      {'d', f->d, registers_of(f->d, f->m * f->n), f->d_column ? f->m : f->n, f->d_column,
       f->m * f->n * element_bits(f->d) / 8},
  };
  fprintf(out,
          "extern \"C\" __global__ void k%u(const char *a, const char *b, const char *c, char *d) {"
          "\n  asm volatile(\"{\\n\"\n",
          index);
  for (unsigned k = 0; k < 4; k++)
    fprintf(out, "    \".reg .%s %c<%u>;\\n\"\n",
            operands[k].type == F64   ? "f64"
            : operands[k].type == F32 ? "f32"
                                      : "b32",
            operands[k].letter, operands[k].registers);
  for (unsigned k = 0; k < 3; k++) {
    fprintf(out, "    \"wmma.load.%c.sync.aligned.%s.m%un%uk%u.global.%s ", operands[k].letter,
            layout(operands[k].column), f->m, f->n, f->k, element_name(operands[k].type));
    print_operand(out, operands[k].letter, operands[k].registers, true);
    fprintf(out, "[%%%u], %u;\\n\"\n", k, operands[k].stride);
  }
  fprintf(out, "    \"%s ", name);
  print_operand(out, 'd', operands[3].registers, true);
  for (unsigned k = 0; k < 3; k++)
    print_operand(out, operands[k].letter, operands[k].registers, k < 2);
  fprintf(out, ";\\n\"\n    \"wmma.store.d.sync.aligned.%s.m%un%uk%u.global.%s [%%3], ",
          layout(f->d_column), f->m, f->n, f->k, element_name(f->d));
  print_operand(out, 'd', operands[3].registers, true);
  fprintf(out, "%u;\\n}\"\n    ::", operands[3].stride);
  for (unsigned k = 0; k < 4; k++)
    fprintf(out, "%s\"l\"(%c + blockIdx.x * %u)", k ? ", " : "", operands[k].letter,
            operands[k].bytes);
  fprintf(out, " : \"memory\");\n}\n");
}

/* --- values ----------------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252ull;

static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static int64_t random_value(enum element type) {
  const uint64_t r = random64() >> 20;
  switch (type) {
  case U8:
  case U4:
  case B1:
    return (int64_t)(r & ((1u << element_bits(type)) - 1));
  case S8:
    return (int8_t)r;
  case S4:
    return (int64_t)(r & 15) - 8;
  case S32:
    return r % 4   ? (int64_t)(r % 2000) - 1000
           : r % 8 ? INT32_MAX - (int64_t)(r >> 3 & 1023)
                   : INT32_MIN + (int64_t)(r >> 3 & 1023);
  default:
    return (int64_t)(r % 17) - 8;
  }
}

static uint64_t encode(int64_t v, enum element type) {
  uint64_t bits = (uint64_t)v;
  if (type == F64) {
    const double d = (double)v;
    memcpy(&bits, &d, sizeof d);
  } else if (type <= TF32 || type == F32) {
    const float f = (float)v;
    uint32_t word;
    memcpy(&word, &f, sizeof f);
    bits = type == BF16 ? word >> 16 : word;
    if (type == F16)
      bits = exact_round((struct exact){(quad)v, false}, &FORMAT_F16, FE_TONEAREST);
  }
  return element_bits(type) == 64 ? bits : bits & ((1ull << element_bits(type)) - 1);
}

static void put(uint8_t *at, size_t index, enum element type, int64_t v) {
  const unsigned bits = element_bits(type);
  const uint64_t code = encode(v, type);
  if (bits >= 8)
    memcpy(at + index * bits / 8, &code, bits / 8);
  else
    at[index * bits / 8] =
        (uint8_t)((at[index * bits / 8] & ~(((1u << bits) - 1) << index * bits % 8)) |
                  code << index * bits % 8);
}

static uint64_t get(const uint8_t *at, size_t index, enum element type) {
  uint64_t v = 0;
  memcpy(&v, at + index * element_bits(type) / 8, element_bits(type) / 8);
  return v;
}

struct buffers {
  uint64_t a, b, c, d;
};

static bool run(struct module *m, const struct form *f, unsigned index, const struct buffers *at) {
  static int64_t a[RUNS][32][128], b[RUNS][128][32], c[RUNS][32][32];
  uint8_t *ha = module_host(m, at->a), *hb = module_host(m, at->b), *hc = module_host(m, at->c),
          *hd = module_host(m, at->d);
  for (unsigned r = 0; r < RUNS; r++) {
    for (unsigned i = 0; i < f->m; i++)
      for (unsigned k = 0; k < f->k; k++)
        put(ha, (size_t)r * f->m * f->k + (f->a_column ? k * f->m + i : i * f->k + k), f->a,
            a[r][i][k] = random_value(f->a));
    for (unsigned k = 0; k < f->k; k++)
      for (unsigned j = 0; j < f->n; j++)
        put(hb, (size_t)r * f->n * f->k + (f->b_column ? j * f->k + k : k * f->n + j), f->b,
            b[r][k][j] = random_value(f->b));
    for (unsigned i = 0; i < f->m; i++)
      for (unsigned j = 0; j < f->n; j++)
        put(hc, (size_t)r * f->m * f->n + i * f->n + j, f->c, c[r][i][j] = random_value(f->c));
  }
  char name[16], text[128];
  snprintf(name, sizeof name, "k%u", index);
  name_of(f, text, sizeof text);
  const struct launch launch = {
      .grid = {RUNS, 1, 1}, .block = {LANES, 1, 1}, .params = at, .param_bytes = sizeof *at};
  struct sm_fault fault = {0};
  if (module_run(m, name, &launch, &fault, NULL) != SM_DONE) {
    printf("%s: %s (%s)\n", text, fault.message, fault.instruction);
    return false;
  }
  for (unsigned r = 0; r < RUNS; r++)
    for (unsigned i = 0; i < f->m; i++)
      for (unsigned j = 0; j < f->n; j++) {
        int64_t sum = c[r][i][j];
        for (unsigned k = 0; k < f->k; k++)
          sum += f->a != B1 ? a[r][i][k] * b[r][k][j]
                 : f->and   ? a[r][i][k] & b[r][k][j]
                            : a[r][i][k] ^ b[r][k][j];
        if (f->saturate)
          sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        const uint64_t want = encode(sum, f->d);
        const uint64_t got =
            get(hd, (size_t)r * f->m * f->n + (f->d_column ? j * f->m + i : i * f->n + j), f->d);
        if (got != want) {
          printf("%s, stored by %ss: row %u, column %u: got %llx, expected %llx\n", text,
                 layout(f->d_column), i, j, (unsigned long long)got, (unsigned long long)want);
          return false;
        }
      }
  return true;
}

/* --- mma.m8n8k4: four products in a warp, of eight lanes each -------------------------------- */

enum { SMALL = 8, SMALL_K = 4, PRODUCTS = 4 };

struct small_form {
  enum element c, d;
  bool a_column, b_column;
};

static struct small_form small_form(unsigned index) {
  const enum element types[][2] = {{F16, F16}, {F16, F32}, {F32, F32}};
  return (struct small_form){types[index / 4][0], types[index / 4][1], index & 1, !(index & 2)};
}
enum { SMALL_FORMS = 12 };

static void print_small(FILE *out, unsigned index) {
  const struct small_form f = small_form(index);
  const unsigned c = f.c == F32 ? 8 : 4, d = f.d == F32 ? 8 : 4;
  fprintf(
      out,
      "extern \"C\" __global__ void s%u(const unsigned *a, const unsigned *b, const unsigned *c, "
      "unsigned *d) {\n  unsigned i = blockIdx.x * 32 + threadIdx.x, r[8];\n  a += i * 2, b += "
      "i * 2, c += i * 8;\n  asm volatile(\"mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s ",
      index, layout(f.a_column), layout(f.b_column), element_name(f.d), element_name(f.c));
  const unsigned counts[] = {d, 2, 2, c};
  for (unsigned n = 0, operand = 0; n < 4; n++)
    for (unsigned k = 0; k < counts[n]; k++)
      fprintf(out, "%s%%%u%s", k ? "," : n ? ", {" : "{", operand++, k + 1 == counts[n] ? "}" : "");
  fprintf(out, ";\" : ");
  for (unsigned k = 0; k < d; k++)
    fprintf(out, "%s\"=r\"(r[%u])", k ? ", " : "", k);
  fprintf(out, " : \"r\"(a[0]), \"r\"(a[1]), \"r\"(b[0]), \"r\"(b[1])");
  for (unsigned k = 0; k < c; k++)
    fprintf(out, ", \"r\"(c[%u])", k);
  fprintf(out, ");\n  for (int k = 0; k < %u; k++)\n    d[i * 8 + k] = r[k];\n}\n", d);
}

/* Returns the place in C or D of element i of a lane. */
static unsigned small_row(enum element type, unsigned lane, unsigned i) {
  return (type == F16 ? lane % 4 : (lane & 1) + (i & 2)) + lane / 16 * 4;
}
static unsigned small_column(enum element type, unsigned lane, unsigned i) {
  return type == F16 ? i : (i & 4) + (lane & 2) + (i & 1);
}

static bool run_small(struct module *m, unsigned index, const struct buffers *at) {
  static int64_t a[RUNS * PRODUCTS][SMALL][SMALL_K], b[RUNS * PRODUCTS][SMALL_K][SMALL],
      c[RUNS * PRODUCTS][SMALL][SMALL];
  const struct small_form f = small_form(index);
  uint8_t *ha = module_host(m, at->a), *hb = module_host(m, at->b), *hc = module_host(m, at->c),
          *hd = module_host(m, at->d);
  for (unsigned p = 0; p < RUNS * PRODUCTS; p++)
    for (unsigned i = 0; i < SMALL; i++) {
      for (unsigned k = 0; k < SMALL_K; k++) {
        a[p][i][k] = random_value(F16);
        b[p][k][i] = random_value(F16);
      }
      for (unsigned j = 0; j < SMALL; j++)
        c[p][i][j] = random_value(F16);
    }
  for (unsigned t = 0; t < RUNS * LANES; t++) {
    const unsigned lane = t % LANES, p = t / LANES * PRODUCTS + lane / 4 % 4;
    const unsigned x = lane % 4, four = lane / 16 * 4;
    uint8_t *to = hc + (size_t)t * 32;
    for (unsigned i = 0; i < 4; i++) {
      put(ha + (size_t)t * 8, i, F16, f.a_column ? a[p][i + four][x] : a[p][x + four][i]);
      put(hb + (size_t)t * 8, i, F16, f.b_column ? b[p][i][x + four] : b[p][x][i + four]);
    }
    for (unsigned i = 0; i < 8; i++)
      put(to, i, f.c, c[p][small_row(f.c, lane, i)][small_column(f.c, lane, i)]);
  }
  char name[16];
  snprintf(name, sizeof name, "s%u", index);
  const struct launch launch = {
      .grid = {RUNS, 1, 1}, .block = {LANES, 1, 1}, .params = at, .param_bytes = sizeof *at};
  struct sm_fault fault = {0};
  if (module_run(m, name, &launch, &fault, NULL) != SM_DONE) {
    printf("mma.m8n8k4: %s (%s)\n", fault.message, fault.instruction);
    return false;
  }
  for (unsigned t = 0; t < RUNS * LANES; t++)
    for (unsigned i = 0; i < 8; i++) {
      const unsigned lane = t % LANES, p = t / LANES * PRODUCTS + lane / 4 % 4;
      const unsigned row = small_row(f.d, lane, i), column = small_column(f.d, lane, i);
      int64_t sum = c[p][row][column];
      for (unsigned k = 0; k < SMALL_K; k++)
        sum += a[p][row][k] * b[p][k][column];
      if (get(hd + (size_t)t * 32, i, f.d) != encode(sum, f.d)) {
        printf("mma.m8n8k4.%s.%s.%s.f16.f16.%s: wrong\n", layout(f.a_column), layout(f.b_column),
               element_name(f.d), element_name(f.c));
        return false;
      }
    }
  return true;
}

int main(int argc, char **argv) {
  if (!harness_available())
    return HARNESS_SKIP;
  add_all();
  unsigned kept = 0;
  for (unsigned k = 0; k < form_count; k++) {
    char text[128];
    name_of(&forms[k], text, sizeof text);
    if (argc < 2 || strstr(text, argv[1]))
      forms[kept++] = forms[k];
  }
  form_count = kept;
  char *source;
  size_t size;
  FILE *out = open_memstream(&source, &size);
  for (unsigned k = 0; k < form_count; k++)
    print_kernel(out, &forms[k], k);
  for (unsigned k = 0; k < SMALL_FORMS; k++)
    print_small(out, k);
  fclose(out);
  unsigned failures = 0, runs = 0;
  static const char *const levels[][2] = {{NULL}, {"--ptxas-options=-O0", NULL}};
  for (unsigned l = 0; l < sizeof levels / sizeof *levels; l++) {
    struct module *m = module_compile(source, levels[l]);
    if (!m)
      return 1;
    const size_t room = (size_t)RUNS * MOST * 8;
    const struct buffers at = {module_alloc(m, room), module_alloc(m, room), module_alloc(m, room),
                               module_alloc(m, room)};
    for (unsigned k = 0; k < form_count; k++, runs++)
      failures += !run(m, &forms[k], k, &at);
    for (unsigned k = 0; k < SMALL_FORMS; k++, runs++)
      failures += !run_small(m, k, &at);
    module_free(m);
  }
  free(source);
  printf("%u forms, %u runs of %u warps, %u failed\n", form_count + SMALL_FORMS, runs, RUNS,
         failures);
  return failures || !runs;
}
