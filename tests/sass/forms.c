/* Runs the forms of a group (see forms.h): compiles a kernel for each form with NVRTC and compares
 * its results on every build of the interpreter's core. */
#include "tests/sass/forms.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/state.h"
#include "tests/sm/harness.h"

enum {
  COUNT = 10240, /* operands for each form */
  BLOCK = 256,
  SCALAR_RUNS = 8, /* values of an operand from the constant bank */
  BATCH = 160,     /* forms in one program */
};

static struct form *forms;
static unsigned form_count, form_room;

struct form *form_add(const char *in, char out, const char *ptx, ...) {
  if (form_count == form_room) {
    form_room = form_room ? 2 * form_room : 256;
    forms = realloc(forms, form_room * sizeof *forms);
  }
  struct form *f = &forms[form_count++];
  memset(f, 0, sizeof *f);
  memcpy(f->in, in, strlen(in));
  f->out = out;
  va_list list;
  va_start(list, ptx);
  const int n = vsnprintf(f->ptx, sizeof f->ptx, ptx, list);
  va_end(list);
  if (n >= (int)sizeof f->ptx)
    abort();
  return f;
}

/* --- operands ---------------------------------------------------------------- */

static uint64_t state;

uint64_t form_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static unsigned width(char kind) {
  return strchr("lmdIFQa", kind) ? 64 : strchr("sthb", kind) ? 16 : 32;
}

static uint64_t mask(char kind) {
  return width(kind) == 64 ? ~0ull : (1ull << width(kind)) - 1;
}

/* Returns a float of any format: an edge of the format, any bits, or a moderate size. */
static uint64_t random_float(unsigned mantissa, unsigned exponent) {
  const uint64_t r = form_random(), bits = form_random();
  const unsigned width_of = 1 + mantissa + exponent;
  const uint64_t all = width_of == 64 ? ~0ull : (1ull << width_of) - 1;
  const uint64_t one = ((1ull << (exponent - 1)) - 1) << mantissa;
  const uint64_t infinity = ((1ull << exponent) - 1) << mantissa;
  const uint64_t edges[] = {0,
                            1,
                            (1ull << mantissa) - 1,
                            1ull << mantissa,
                            (1ull << mantissa) + 1,
                            one,
                            one - 1,
                            one + 1,
                            one + (1ull << (mantissa - 1)), /* 1.5 */
                            one - (1ull << mantissa),       /* 0.5 */
                            one + (1ull << mantissa),
                            infinity - 1,
                            infinity,
                            infinity + 1,
                            infinity + (1ull << (mantissa - 1)),
                            (1ull << (mantissa + exponent)) - 1};
  const uint64_t sign = (bits & 1) << (width_of - 1);
  switch (r % 8) {
  case 0:
    return sign | edges[r / 8 % (sizeof edges / sizeof *edges)];
  case 1:
  case 2:
    return bits & all;
  case 3: /* exponents near that of one, few bits: halves, small integers */
    return sign | (one + ((r / 8 % 12) << mantissa) - (4ull << mantissa) +
                   ((bits >> 8 & 7) << (mantissa - 3)));
  case 4: /* up to the range of integers */
    return sign | (((one + ((r / 8 % (exponent > 5 ? 68 : 16)) << mantissa)) & ~0ull) +
                   (bits >> 8 & ((1ull << mantissa) - 1)));
  case 5: /* subnormal and nearly subnormal */
    return sign | (bits >> 8 & ((2ull << mantissa) - 1)) >> (r / 8 % mantissa);
  default:
    return sign | (one + ((r / 8 % 8) << mantissa) - (4ull << mantissa) +
                   (bits >> 8 & ((1ull << mantissa) - 1)));
  }
}

static uint64_t random_integer(unsigned bits) {
  const uint64_t r = form_random(), v = form_random();
  static const uint64_t edges[] = {0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256};
  const uint64_t top = 1ull << (bits - 1);
  switch (r % 8) {
  case 0:
    return edges[r / 8 % 16];
  case 1:
    return 0 - edges[r / 8 % 16];
  case 2:
    return top + edges[r / 8 % 4] - 2;
  case 3:
    return v >> (r / 8 % 64);
  case 4:
    return (uint64_t)((int64_t)v >> (r / 8 % 64));
  case 5:
    return 1ull << (r / 8 % bits);
  default:
    return v;
  }
}

static uint64_t random_of(char kind) {
  switch (kind) {
  case 'f':
    return random_float(23, 8);
  case 'd':
    return random_float(52, 11);
  case 'h':
    return random_float(10, 5);
  case 'b':
    return random_float(7, 8);
  case 'H':
    return random_float(10, 5) << 16 | random_float(10, 5);
  case 'B':
    return random_float(7, 8) << 16 | random_float(7, 8);
  case 'I':
    return random_of('i') << 32 | random_of('i');
  case 'F':
    return random_of('f') << 32 | random_of('f');
  case 'Q':
    return random_of('H') << 32 | random_of('H');
  case 'p':
    return form_random() >> 7 & 1;
  case 'c':
    return form_random() % 4 ? form_random() % 70 : random_integer(32) & mask(kind);
  case 'n':
  case 'm':
  case 't':
    for (;;) {
      const uint64_t v = random_integer(width(kind)) & mask(kind);
      if (v)
        return v;
    }
  default:
    return random_integer(width(kind)) & mask(kind);
  }
}

/* Returns an operand that is sometimes equal, adjacent or opposite to another one of its kind. */
static uint64_t random_related(char kind, uint64_t other) {
  const uint64_t sign = 1ull << (width(kind) - 1);
  uint64_t v = 0;
  switch (form_random() % 24) {
  case 0:
    v = other;
    break;
  case 1:
    v = other ^ sign;
    break;
  case 2:
    v = other ^ 1;
    break;
  case 3:
    v = ((other ^ sign) + 1) & mask(kind);
    break;
  default:
    return random_of(kind);
  }
  return v || !strchr("nmt", kind) ? v : random_of(kind);
}

/* Operand a of element i: places in rows, scattered, the same for many lanes, and so on; for all
 * lanes of a warp or some; in one space or in several. */
static uint64_t random_place(const struct form *f, unsigned i) {
  static uint64_t of_warp; /* chosen for each warp */
  enum { PATTERNS = 8, PARTS = 4, LANES = 32 };
  const unsigned lane = i % LANES, warp = i / LANES;
  if (lane == 0)
    of_warp = form_random();
  const uint64_t r = form_random();
  const unsigned base = of_warp >> 20 & 0xff;
  unsigned slot = 0, part = 0;
  switch (warp % PATTERNS) {
  case 0:
    slot = lane;
    break;
  case 1:
    slot = f->place.few ? base + lane / 4 : base;
    break;
  case 2:
    slot = f->place.few ? (lane ^ base) / 3 : (unsigned)(r >> 20);
    break;
  case 3:
    slot = base - lane;
    break;
  case 4:
    slot = base + lane % 16;
    break;
  case 5:
    slot = base + lane * (2 * (of_warp >> 40 & 15) + 1);
    break;
  case 6:
    slot = base + lane / 4;
    break;
  case 7:
    slot = lane / 16 * base + lane;
    break;
  }
  slot %= (unsigned)(f->place.bytes / f->place.element);
  switch (warp / PATTERNS % PARTS) {
  case 0:
    part = 1;
    break;
  case 1:
    part = r >> 50 & 1;
    break;
  case 2:
    part = lane == base % LANES;
    break;
  case 3:
    part = lane <= base % LANES;
    break;
  }
  const unsigned spaces = (unsigned)f->place.spaces;
  const uint64_t space = spaces < 2 ? 0 : (warp / (PATTERNS * PARTS) & 1 ? r >> 30 : base) % spaces;
  return (uint32_t)((int)slot * f->place.element + f->place.bias - f->place.added) |
         (uint64_t)part << 32 | space << 33;
}

/* --- kernels ------------------------------------------------------------------ */

enum variant { ALL_REGISTERS, FROM_BANK, IMMEDIATE, VARIANTS };

static const char *const c_type[] = {"unsigned short", "unsigned", "unsigned long long"};

static unsigned type_of(char kind) {
  return width(kind) == 16 ? 0 : width(kind) == 32 ? 1 : 2;
}

/* Returns the operand that is not in a register: the last one, or the one before it. */
static int scalar_operand(const struct form *f, unsigned index) {
  const int n = (int)strlen(f->in);
  return n < 2 ? -1 : n == 2 ? (int)(index & 1) : 1 + (int)(index & 1);
}

static uint64_t immediate(const struct form *f, unsigned index) {
  uint64_t v = 0;
  /* Each form has a different value, which is the same in each run. */
  const uint64_t mixed = (index + 1) * 0x9e3779b97f4a7c15ull;
  v = mixed >> 7;
  const char kind = f->in[scalar_operand(f, index)];
  switch (kind) {
  case 'f':
    v = 0x40490fdb ^ (mixed >> 40 & 0x80ff0ff1);
    break;
  case 'd': /* the low word of a double immediate is zero */
    v = 0x4009210000000000ull ^ (mixed & 0x8003ff0000000000ull);
    break;
  case 'h':
    v = 0x4248 ^ (mixed & 0x8133);
    break;
  case 'b':
    v = 0x4049 ^ (mixed & 0x8033);
    break;
  case 'H':
    v = 0x42483a11 ^ (mixed & 0x81338133);
    break;
  case 'B':
    v = 0x40493f11 ^ (mixed & 0x80338033);
    break;
  case 'c':
    v = mixed % 37;
    break;
  case 'p':
    return v & 1;
  default:
    v >>= mixed % 29;
    v = v ? v : 5;
  }
  v &= mask(kind);
  return v ? v : 3;
}

static void print_kernel(FILE *out, const struct form *f, unsigned index, enum variant variant) {
  const int scalar = variant == ALL_REGISTERS ? -1 : scalar_operand(f, index);
  fprintf(out,
          "extern \"C\" __global__ void k%u_%u(const unsigned long long *in, unsigned long long "
          "*out, unsigned long long s, const __grid_constant__ struct form_words t) {\n"
          "  unsigned i = blockIdx.x * %u + threadIdx.x;\n  %s r;\n",
          index, variant, BLOCK, c_type[type_of(f->out)]);
  for (int k = 0; f->in[k]; k++) {
    const char *t = c_type[type_of(f->in[k])];
    if (k == scalar && variant == IMMEDIATE)
      fprintf(out, "  const %s v%d = (%s)0x%llxull;\n", t, k, t,
              (unsigned long long)immediate(f, index));
    else if (k == scalar)
      fprintf(out, "  const %s v%d = (%s)s;\n", t, k, t);
    else
      fprintf(out, "  const %s v%d = (%s)in[i + %u];\n", t, k, t, k * COUNT);
  }
  fprintf(out, "  %s\n  asm volatile(\"{ %s }\" : \"=%c\"(r)", f->before ? f->before : "", f->ptx,
          "hrl"[type_of(f->out)]);
  for (int k = 0; f->in[k]; k++)
    fprintf(out, "%s \"%c\"(v%d)", k ? "," : " :", "hrl"[type_of(f->in[k])], k);
  fprintf(out, "%s%s : \"memory\");\n  %s\n  out[i] = r;\n}\n", f->further ? "," : "",
          f->further ? f->further : "", f->after ? f->after : "");
}

/* --- comparison ---------------------------------------------------------------- */

static bool nan_double(uint64_t v) {
  return (v << 1) > 0xffe0000000000000ull;
}

/* Computes the expected results of the operands in[operand][i], for forms with only one. */
static void expect_all(const struct form *f, const uint64_t *in, uint64_t *expected) {
  for (unsigned i = 0; i < COUNT && !f->accept && !f->wrong_lanes; i++) {
    uint64_t v[4] = {0}, lanes[4][32];
    if (f->expect_warp && i % 32)
      continue;
    for (int k = 0; f->in[k]; k++) {
      v[k] = in[i + (unsigned)k * COUNT];
      if (f->expect_warp)
        memcpy(lanes[k], in + i + (unsigned)k * COUNT, sizeof lanes[k]);
    }
    if (f->expect_warp)
      f->expect_warp(f, (const uint64_t(*)[32])lanes, expected + i);
    else
      expected[i] = f->expect(f, v);
  }
}

static bool compare(const struct form *f, const uint64_t *in, const uint64_t *got,
                    const uint64_t *expected, const char *where) {
  unsigned bad = 0;
  uint32_t wrong = 0;
  for (unsigned i = 0; i < COUNT; i++) {
    uint64_t v[4] = {0};
    const uint64_t want = f->accept ? 0 : expected[i] & mask(f->out);
    if (f->wrong_lanes && i % 32 == 0) {
      uint64_t lanes[3][32];
      for (int k = 0; f->in[k]; k++)
        memcpy(lanes[k], in + i + (unsigned)k * COUNT, sizeof lanes[k]);
      wrong = f->wrong_lanes(f, (const uint64_t(*)[32])lanes, got + i);
    }
    for (int k = 0; f->in[k]; k++)
      v[k] = in[i + (unsigned)k * COUNT];
    /* The NaN that double operations return is not known. */
    const bool right =
        f->wrong_lanes ? !(wrong >> i % 32 & 1)
        : f->accept    ? f->accept(f, v, got[i])
                    : got[i] == want || (f->out == 'd' && nan_double(got[i]) && nan_double(want));
    if (!right && bad++ < 3)
      printf("%s (%s): got %llx, expected %llx, of %llx %llx %llx, lane %u\n", f->ptx, where,
             (unsigned long long)got[i], (unsigned long long)want, (unsigned long long)v[0],
             (unsigned long long)v[1], (unsigned long long)v[2], i % 32);
  }
  if (bad)
    printf("%s (%s): %u of %u wrong\n", f->ptx, where, bad, COUNT);
  return !bad;
}

struct params {
  uint64_t in, out, scalar, unused, words[8];
};

static bool run(struct module *m, const struct form *f, unsigned index, enum variant variant,
                struct params *p, uint64_t **expected) {
  char name[32];
  state = 88172645463325252ull + index * 3 + variant; /* the same for each build of the core */
  snprintf(name, sizeof name, "k%u_%u", index, variant);
  static const char *const where[] = {"registers", "constant bank", "immediate"};
  const int scalar = variant == ALL_REGISTERS ? -1 : scalar_operand(f, index);
  uint64_t *in = module_host(m, p->in), *out = module_host(m, p->out);
  for (unsigned i = 0; i < COUNT; i++)
    for (int k = 0; f->in[k]; k++)
      in[i + (unsigned)k * COUNT] =
          f->in[k] == 'a' ? random_place(f, i)
          : k && mask(f->in[k]) == mask(f->in[k - 1]) && f->in[k] != 'c' && f->in[k] != 'p'
              ? random_related(f->in[k], in[i + (unsigned)(k - 1) * COUNT])
              : random_of(f->in[k]);
  const unsigned runs = variant == FROM_BANK ? SCALAR_RUNS : 1, step = COUNT / runs;
  for (unsigned r = 0; r < runs; r++) {
    struct params part = *p;
    part.in += r * step * 8u, part.out += r * step * 8u;
    if (scalar >= 0) {
      part.scalar = variant == IMMEDIATE ? immediate(f, index) : random_of(f->in[scalar]);
      for (unsigned i = 0; i < step; i++)
        in[r * step + i + (unsigned)scalar * COUNT] = part.scalar;
    }
    memset(module_host(m, part.out), 0, step * 8);
    const struct launch launch = {.grid = {step / BLOCK, 1, 1},
                                  .block = {BLOCK, 1, 1},
                                  .params = &part,
                                  .param_bytes = sizeof part};
    struct sm_fault fault = {0};
    if (module_run(m, name, &launch, &fault, NULL) != SM_DONE) {
      printf("%s: %s (%s)\n", f->ptx, fault.message, fault.instruction);
      return false;
    }
  }
  if (!*expected) {
    *expected = calloc(COUNT, sizeof **expected);
    expect_all(f, in, *expected);
  }
  return compare(f, in, out, *expected, where[variant]);
}

static bool has_variant(const struct form *f, unsigned index, enum variant variant) {
  return variant == ALL_REGISTERS ||
         (!f->vector_only && !f->expect_warp && !f->wrong_lanes && scalar_operand(f, index) >= 0);
}

/* Returns the number of forms of a batch that fail. */
static unsigned run_batch(unsigned first, unsigned last, unsigned long *comparisons) {
  char *source;
  size_t size;
  FILE *text = open_memstream(&source, &size);
  fputs("typedef unsigned long long u64;\nstruct __align__(16) form_words { u64 word[8]; };\n"
        "__constant__ __align__(16) u64 table[64] = {",
        text);
  for (unsigned k = 0; k < 64; k++)
    fprintf(text, "%lluull, ", (unsigned long long)form_constant(k));
  fputs("};\n", text);
  for (unsigned k = first; k < last; k++)
    for (unsigned v = 0; v < VARIANTS; v++)
      if (has_variant(&forms[k], k, v))
        print_kernel(text, &forms[k], k, v);
  fclose(text);
  struct module *m = module_compile(source, NULL);
  free(source);
  if (!m)
    return last - first;
  struct params p = {module_alloc(m, COUNT * 8 * 3),
                     module_alloc(m, COUNT * 8),
                     module_alloc(m, COUNT / 32 * 512),
                     0,
                     {0}};
  for (unsigned k = 0; k < 8; k++)
    p.words[k] = form_constant(k);
  bool *failed = calloc(last - first, sizeof *failed);
  uint64_t *(*expected)[VARIANTS] = calloc(last - first, sizeof *expected);
  for (unsigned level = 0; level < SM_CORE_BUILDS; level++) {
    if (!(sm_core_override = sm_core_build(level)))
      continue;
    module_forget_code(m);
    for (unsigned k = first; k < last; k++)
      for (unsigned v = 0; v < VARIANTS; v++)
        if (has_variant(&forms[k], k, v)) {
          if (!failed[k - first] && !run(m, &forms[k], k, v, &p, &expected[k - first][v]))
            failed[k - first] = true;
          *comparisons += COUNT;
        }
  }
  unsigned failures = 0;
  for (unsigned k = 0; k < last - first; k++) {
    failures += failed[k];
    for (unsigned v = 0; v < VARIANTS; v++)
      free(expected[k][v]);
  }
  free(expected);
  free(failed);
  module_free(m);
  return failures;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*fill)(void);
  } groups[] = {{"integer", forms_integer}, {"bits", forms_bits},       {"float", forms_float},
                {"half", forms_half},       {"convert", forms_convert}, {"special", forms_special},
                {"warp", forms_warp},       {"memory", forms_memory},   {"atomic", forms_atomic},
                {"video", forms_video}};
  if (!harness_available())
    return HARNESS_SKIP;
  for (unsigned k = 0; k < sizeof groups / sizeof *groups; k++)
    if (argc > 1 && !strcmp(groups[k].name, argv[1]))
      groups[k].fill();
  if (!form_count) {
    fprintf(stderr, "usage: forms GROUP [TEXT]\n");
    return 2;
  }
  if (argc > 2) { /* only the forms that contain a text */
    unsigned kept = 0;
    for (unsigned k = 0; k < form_count; k++)
      if (strstr(forms[k].ptx, argv[2]))
        forms[kept++] = forms[k];
    form_count = kept;
  }
  unsigned failures = 0;
  unsigned long comparisons = 0;
  for (unsigned k = 0; k < form_count; k += BATCH)
    failures += run_batch(k, k + BATCH < form_count ? k + BATCH : form_count, &comparisons);
  printf("%s: %u forms, %lu results compared, %u forms failed\n", argv[1], form_count, comparisons,
         failures);
  free(forms);
  return failures ? 1 : 0;
}
