/* CUDA C kernels of real algorithms (kernels/), compiled by NVRTC at several optimisation levels,
 * executed on the SM and compared with results of the CPU.
 *
 * kernels FOLDER NAME
 * FOLDER holds NAME.cu */
#include <complex.h>
#include <fenv.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sass/exact.h"
#include "tests/sass/kernels.h"

u64 random64(void) {
  static u64 state = 0x9e3779b97f4a7c15ull;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static float random_float(void) {
  return (float)(int32_t)random64() * 0x1p-31f;
}

/* --- buffers and launches ------------------------------------------------------ */

struct buffer buffer(struct module *m, size_t bytes) {
  const u64 at = module_alloc(m, bytes);
  struct buffer b = {at, module_host(m, at)};
  memset(b.host, 0, bytes);
  return b;
}

bool run(struct module *m, const char *kernel, struct launch launch, const char *kinds, ...) {
  u8 params[256];
  size_t size = 0;
  va_list list;
  va_start(list, kinds);
  for (; *kinds; kinds++) {
    const u64 v = *kinds == 'p' ? va_arg(list, struct buffer).gpu : va_arg(list, u32);
    const size_t bytes = *kinds == 'p' ? 8 : 4;
    size = (size + bytes - 1) & ~(bytes - 1);
    memcpy(params + size, &v, bytes);
    size += bytes;
  }
  va_end(list);
  launch.params = params;
  launch.param_bytes = size;
  launch.local_bytes = 16384;
  struct sm_fault fault = {0};
  if (module_run(m, kernel, &launch, &fault, NULL) == SM_DONE)
    return true;
  printf("%s: %s (%s)\n", kernel, fault.message, fault.instruction);
  return false;
}

bool check(const char *what, bool right) {
  if (!right)
    printf("%s: wrong\n", what);
  return right;
}

/* --- the algorithms -------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
  const u32 x = *(const u32 *)a, y = *(const u32 *)b;
  return x < y ? -1 : x > y;
}

static bool test_sort(struct module *m) {
  enum { N = 512, BLOCKS = 3, ODD = 500 };
  struct buffer v = buffer(m, N * BLOCKS * 4);
  u32 *p = v.host, want[N * BLOCKS];
  for (int k = 0; k < N * BLOCKS; k++)
    want[k] = p[k] = (u32)random64() >> (k % 32);
  for (int b = 0; b < BLOCKS; b++)
    qsort(want + b * N, N, 4, by_value);
  struct launch launch = GRID(BLOCKS, 1, N, 1);
  launch.dynamic_shared = N * 4;
  bool good = run(m, "bitonic", launch, "p", v) && check("bitonic", !memcmp(p, want, sizeof want));
  for (int k = 0; k < ODD; k++)
    want[k] = p[k] = (u32)random64() >> (k % 32);
  qsort(want, ODD, 4, by_value);
  return run(m, "radix", GRID(1, 1, N, 1), "pi", v, (u32)ODD) &&
         check("radix", !memcmp(p, want, ODD * 4)) && good;
}

static bool test_scan(struct module *m) {
  enum { N = 5000, BLOCK = 256, BLOCKS = (N + BLOCK - 1) / BLOCK };
  struct buffer in = buffer(m, N * 4), out = buffer(m, N * 4), state = buffer(m, BLOCKS * 16),
                ticket = buffer(m, 4);
  u32 sum = 0;
  for (int k = 0; k < N; k++)
    ((u32 *)in.host)[k] = (u32)random64();
  if (!run(m, "scan", GRID(BLOCKS, 1, BLOCK, 1), "ppppi", in, out, state, ticket, (u32)N))
    return false;
  for (int k = 0; k < N; k++)
    if (((u32 *)out.host)[k] != (sum += ((u32 *)in.host)[k]))
      return check("scan", false);
  return true;
}

static bool test_fft(struct module *m) {
  enum { N = 1024, SOME = 64 };
  struct buffer v = buffer(m, N * 8), w = buffer(m, N * 16);
  float complex *f = v.host;
  double complex *d = w.host, in[N], root[N];
  for (int k = 0; k < N; k++) {
    f[k] = random_float() + random_float() * (float complex)I;
    d[k] = in[k] = f[k];
    root[k] = cexp(2 * acos(-1) * I * k / N);
  }
  if (!run(m, "fft", GRID(1, 1, 128, 1), "pi", v, (u32)-1) ||
      !run(m, "fft_double", GRID(1, 1, 128, 1), "pi", w, (u32)-1))
    return false;
  for (int k = 0; k < N; k += N / SOME) {
    double complex want = 0;
    for (int j = 0; j < N; j++)
      want += in[j] * conj(root[j * k % N]);
    if (!(cabs(f[k] - want) < 1e-4) || !(cabs(d[k] - want) < 1e-10))
      return check("fft", false);
  }
  if (!run(m, "fft_double", GRID(1, 1, 128, 1), "pi", w, 1u))
    return false;
  for (int k = 0; k < N; k++)
    if (!(cabs(d[k] / N - in[k]) < 1e-13))
      return check("inverse fft", false);
  return true;
}

static bool test_sgemm(struct module *m) {
  enum { N = 128 };
  struct buffer a = buffer(m, N * N * 4), t = buffer(m, N * N * 4), b = buffer(m, N * N * 4),
                c = buffer(m, N * N * 4), d = buffer(m, N * N * 4);
  float *pa = a.host, *pt = t.host, *pb = b.host;
  for (int k = 0; k < N * N; k++)
    pa[k] = pt[k % N * N + k / N] = random_float(), pb[k] = random_float();
  if (!run(m, "sgemm", GRID(N / 64, N / 64, 256, 1), "pppi", a, b, c, (u32)N) ||
      !run(m, "sgemm_async", GRID(N / 64, N / 64, 256, 1), "pppi", t, b, d, (u32)N))
    return false;
  for (int y = 0; y < N; y++)
    for (int x = 0; x < N; x++) {
      float sum = 0;
      for (int k = 0; k < N; k++)
        sum = fmaf(pa[y * N + k], pb[k * N + x], sum);
      if (((float *)c.host)[y * N + x] != sum || ((float *)d.host)[y * N + x] != sum)
        return check("sgemm", false);
    }
  return true;
}

static bool test_spmv(struct module *m) {
  enum { ROWS = 200, COLUMNS = 300, MOST = 90 };
  struct buffer start = buffer(m, (ROWS + 1) * 4), column = buffer(m, ROWS * MOST * 4),
                value = buffer(m, ROWS * MOST * 4), x = buffer(m, COLUMNS * 4),
                y = buffer(m, ROWS * 4), wide = buffer(m, ROWS * MOST * 8),
                dx = buffer(m, COLUMNS * 8), dy = buffer(m, ROWS * 8);
  int *s = start.host, *c = column.host;
  for (int r = 0; r < ROWS; r++)
    s[r + 1] = s[r] + (int)(random64() % MOST);
  for (int k = 0; k < s[ROWS]; k++) {
    c[k] = (int)(random64() % COLUMNS);
    ((double *)wide.host)[k] = ((float *)value.host)[k] = random_float();
  }
  for (int k = 0; k < COLUMNS; k++)
    ((double *)dx.host)[k] = ((float *)x.host)[k] = random_float();
  if (!run(m, "spmv", GRID(ROWS / 4, 1, 128, 1), "pppppi", start, column, value, x, y, (u32)ROWS) ||
      !run(m, "spmv_double", GRID(ROWS / 4, 1, 128, 1), "pppppi", start, column, wide, dx, dy,
           (u32)ROWS))
    return false;
  for (int r = 0; r < ROWS; r++) {
    float part[64] = {0};
    double part_double[64] = {0};
    for (int k = s[r]; k < s[r + 1]; k++) {
      const int lane = (k - s[r]) % 32;
      part[lane] = fmaf(((float *)value.host)[k], ((float *)x.host)[c[k]], part[lane]);
      part_double[lane] =
          fma(((double *)wide.host)[k], ((double *)dx.host)[c[k]], part_double[lane]);
    }
    for (int d = 16; d; d /= 2)
      for (int k = 0; k < 32; k++)
        part[k] += part[k + d], part_double[k] += part_double[k + d];
    if (((float *)y.host)[r] != part[0] || ((double *)dy.host)[r] != part_double[0])
      return check("spmv", false);
  }
  return true;
}

static void from_hex(u8 *out, const char *hex) {
  for (unsigned v; sscanf(hex, "%2x", &v) == 1; hex += 2)
    *out++ = (u8)v;
}

static bool test_aes(struct module *m) {
  enum { N = 100 };
  /* NIST SP 800-38A, F.1.1 */
  static const char *const text[] = {
      "6bc1bee22e409f96e93d7e117393172a", "ae2d8a571e03ac9c9eb76fac45af8e51",
      "30c81c46a35ce411e5fbc1191a0a52ef", "f69f2445df4f9b17ad2b417be66c3710"};
  static const char *const cipher[] = {
      "3ad77bb40d7a3660a89ecaf32466ef97", "f5d3d58503b9699de785895a96fdbaaf",
      "43b1cd7f598ece23881b00e3ed030688", "7b0c785e27e8ad3f8223207104725dd4"};
  struct buffer in = buffer(m, N * 16), out = buffer(m, N * 16), key = buffer(m, 16);
  from_hex(key.host, "2b7e151628aed2a6abf7158809cf4f3c");
  u8 want[N * 16];
  for (int k = 0; k < N; k++) {
    from_hex((u8 *)in.host + 16 * k, text[k % 4]);
    from_hex(want + 16 * k, cipher[k % 4]);
  }
  return run(m, "aes", GRID(2, 1, 64, 1), "pppi", in, out, key, (u32)N) &&
         check("aes", !memcmp(out.host, want, sizeof want));
}

static bool test_blake2(struct module *m) {
  /* Computed with Python's hashlib. */
  static const struct {
    u32 length;
    const char *b, *s;
  } rows[] = {
#include "tests/sass/blake2_digests.h"
  };
  enum { N = sizeof rows / sizeof *rows, TEXT = 400 };
  struct buffer text = buffer(m, TEXT), length = buffer(m, N * 4), b = buffer(m, N * 64),
                s = buffer(m, N * 32);
  for (int k = 0; k < TEXT; k++)
    ((u8 *)text.host)[k] = (u8)(k * 7 + 3);
  for (int k = 0; k < N; k++)
    ((u32 *)length.host)[k] = rows[k].length;
  if (!run(m, "blake2b", GRID(1, 1, N, 1), "ppp", text, length, b) ||
      !run(m, "blake2s", GRID(1, 1, N, 1), "ppp", text, length, s))
    return false;
  for (int k = 0; k < N; k++) {
    u8 want[64];
    from_hex(want, rows[k].b);
    if (memcmp(want, (u8 *)b.host + 64 * k, 64))
      return check("blake2b", false);
    from_hex(want, rows[k].s);
    if (memcmp(want, (u8 *)s.host + 32 * k, 32))
      return check("blake2s", false);
  }
  return true;
}

/* A length of 15 or more continues in bytes of up to 255. */
static size_t put_length(u8 *to, size_t n) {
  size_t used = 0;
  if (n < 15)
    return 0;
  for (n -= 15; n >= 255; n -= 255)
    to[used++] = 255;
  to[used++] = (u8)n;
  return used;
}

/* Writes a random block and its decoded contents. */
static size_t make_lz4(u8 *block, u8 *text, size_t *length) {
  size_t at = 0, n = 0;
  for (int k = 0; k < 20; k++) {
    const bool last = k == 19;
    const size_t literals = random64() % 5 ? random64() % 20 : random64() % 400;
    const size_t match = 4 + (random64() % 5 ? random64() % 18 : random64() % 300);
    u8 *token = &block[at++];
    *token = (u8)((literals < 15 ? literals : 15) << 4 | (last             ? 0
                                                          : match - 4 < 15 ? match - 4
                                                                           : 15));
    at += put_length(block + at, literals);
    for (size_t j = 0; j < literals || n == 0; j++) {
      if (j >= literals) { /* the first block needs at least one literal to copy from */
        *token = (u8)(*token + 16);
      }
      block[at++] = text[n++] = (u8)random64();
    }
    if (last)
      break;
    const size_t offset = 1 + random64() % n;
    block[at++] = (u8)offset;
    block[at++] = (u8)(offset >> 8);
    at += put_length(block + at, match - 4);
    for (size_t j = 0; j < match; j++, n++)
      text[n] = text[n - offset];
  }
  *length = n;
  return at;
}

static bool test_lz4(struct module *m) {
  enum { BLOCKS = 70, ROOM = 16384 };
  struct buffer in = buffer(m, BLOCKS * ROOM), start = buffer(m, (BLOCKS + 1) * 4),
                out = buffer(m, BLOCKS * ROOM), length = buffer(m, BLOCKS * 4);
  u8 *text = calloc(BLOCKS, ROOM);
  size_t want[BLOCKS];
  u32 *s = start.host;
  for (int k = 0; k < BLOCKS; k++)
    s[k + 1] = s[k] + (u32)make_lz4((u8 *)in.host + s[k], text + k * ROOM, &want[k]);
  bool good =
      run(m, "lz4", GRID(3, 1, 32, 1), "pppipi", in, start, out, (u32)ROOM, length, (u32)BLOCKS);
  for (int k = 0; good && k < BLOCKS; k++)
    good = check("lz4", ((int *)length.host)[k] == (int)want[k] &&
                            !memcmp((u8 *)out.host + k * ROOM, text + k * ROOM, want[k]));
  free(text);
  return good;
}

static bool test_stencil(struct module *m) {
  enum { NX = 37, NY = 21, NZ = 9, ALL = NX * NY * NZ };
  struct buffer in = buffer(m, ALL * 4), out = buffer(m, ALL * 4);
  float *v = in.host;
  for (int k = 0; k < ALL; k++)
    v[k] = random_float();
  if (!run(m, "stencil", GRID(3, 3, 16, 8), "ppiii", in, out, (u32)NX, (u32)NY, (u32)NZ))
    return false;
#define AT(x, y, z)                                                                                \
  ((x) < 0 || (y) < 0 || (z) < 0 || (x) >= NX || (y) >= NY || (z) >= NZ                            \
       ? 0.0f                                                                                      \
       : v[((z)*NY + (y)) * NX + (x)])
  for (int z = 0; z < NZ; z++)
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) {
        float sum = AT(x - 1, y, z) + AT(x + 1, y, z);
        sum = sum + AT(x, y - 1, z);
        sum = sum + AT(x, y + 1, z);
        sum = sum + AT(x, y, z - 1);
        sum = sum + AT(x, y, z + 1);
        if (((float *)out.host)[(z * NY + y) * NX + x] != fmaf(sum, 0.1f, AT(x, y, z) * 0.4f))
          return check("stencil", false);
      }
  return true;
}

static bool test_queens(struct module *m) {
  enum { N = 8, SOLUTIONS = 92 };
  struct buffer sum = buffer(m, 8);
  struct buffer second = {sum.gpu + 4, (u8 *)sum.host + 4};
  return run(m, "queens_recursive", GRID(2, 1, 32, 1), "ip", (u32)N, sum) &&
         run(m, "queens_stack", GRID(2, 1, 32, 1), "ip", (u32)N, second) &&
         check("queens", ((u32 *)sum.host)[0] == SOLUTIONS && ((u32 *)sum.host)[1] == SOLUTIONS);
}

enum { THREADS = 256 };
#define ALL_THREADS GRID(THREADS / 64, 1, 64, 1)

static uint16_t half_bits(float v) {
  return (uint16_t)exact_round((struct exact){v, false}, &FORMAT_F16, FE_TONEAREST);
}

static float half_value(const void *at) {
  uint16_t bits;
  memcpy(&bits, at, sizeof bits);
  return (float)exact_of(bits, &FORMAT_F16).v;
}

static bool test_tensor(struct module *m) {
  enum { N = 128, ALL = N * N };
  struct buffer a = buffer(m, ALL * 2), b = buffer(m, ALL * 2), c = buffer(m, ALL * 4);
  struct buffer bytes = buffer(m, ALL), transposed = buffer(m, ALL), sums = buffer(m, ALL * 4);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) { /* sums of small integers are exact */
      const int x = (int)(random64() >> 30 & 31) - 16, y = (int)(random64() >> 30 & 31) - 16;
      ((uint16_t *)a.host)[i * N + k] = half_bits((float)x);
      ((uint16_t *)b.host)[k * N + i] = half_bits((float)y);
      ((int8_t *)bytes.host)[i * N + k] = (int8_t)x;
      ((int8_t *)transposed.host)[i * N + k] = (int8_t)y;
    }
  if (!run(m, "gemm", GRID(N / 64, N / 64, 128, 1), "pppi", a, b, c, (u32)N) ||
      !run(m, "gemm_bytes", GRID(N / 16 * N / 8 / 4, 1, 128, 1), "pppi", bytes, transposed, sums,
           (u32)N))
    return false;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int sum = 0;
      for (int k = 0; k < N; k++)
        sum += ((int8_t *)bytes.host)[i * N + k] * ((int8_t *)transposed.host)[j * N + k];
      if (((float *)c.host)[i * N + j] != (float)sum || ((int *)sums.host)[i * N + j] != sum)
        return check("tensor", false);
    }
  return true;
}

static bool test_pipeline(struct module *m, const char *kernel, bool copies) {
  enum { CTAS = 2, STEPS = 37, CONSUMERS = 96 };
  struct buffer in = buffer(m, CTAS * STEPS * 128), out = buffer(m, CTAS * CONSUMERS * 4);
  for (int k = 0; k < CTAS * STEPS * 32; k++)
    ((u32 *)in.host)[k] = (u32)random64();
  if (!run(m, kernel, GRID(CTAS, 1, 32 + CONSUMERS, 1), "ppi", in, out, (u32)STEPS))
    return false;
  for (u32 t = 0; t < CTAS * CONSUMERS; t++) {
    const u32 thread = t % CONSUMERS + 32;
    u32 sum = 0;
    for (u32 s = 0; s < STEPS; s++) {
      const u32 v =
          ((u32 *)in.host)[(t / CONSUMERS * STEPS + s) * 32 + (thread % 32 + thread / 32) % 32];
      sum = sum * 5 + (copies ? v : v * 3 + s);
    }
    if (((u32 *)out.host)[t] != sum)
      return check(kernel, false);
  }
  return true;
}

static bool test_mbarrier(struct module *m) {
  enum { COUNT = 5, ROUNDS = 4 };
  struct buffer out = buffer(m, 256 * 4), sums = buffer(m, THREADS * 4);
  if (!run(m, "operations", GRID(1, 1, 1, 1), "pi", out, (u32)COUNT))
    return false;
  const u32 *got = out.host;
  for (u32 round = 0, n = COUNT; round < 3; n -= round++ == 1) {
    for (u32 k = 0; k < n - 2; k++) /* the count before the arrival, as the phase has not ended */
      if (*got++ != n - k || *got++ != 0)
        return check("mbarrier operations", false);
    if (*got++ != 2 || *got++ != 0 || *got++ != 1 || *got++ != 1 || *got++ != 1)
      return check("mbarrier operations", false);
  }
  if (!run(m, "rounds", ALL_THREADS, "pi", sums, (u32)ROUNDS))
    return false;
  for (u32 cta = 0; cta < THREADS / 64; cta++) {
    u32 v[64], next[64];
    for (u32 t = 0; t < 64; t++)
      v[t] = t;
    for (u32 r = 0; r < ROUNDS; r++, memcpy(v, next, sizeof v))
      for (u32 t = 0; t < 64; t++)
        next[t] = v[(t + 33) % 64] * 3 + v[t];
    if (memcmp((u32 *)sums.host + cta * 64, v, sizeof v))
      return check("mbarrier rounds", false);
  }
  return test_pipeline(m, "produce", false) && test_pipeline(m, "copy", true);
}

/* --- the language ------------------------------------------------------------------ */

static bool test_function_pointers(struct module *m) {
  struct buffer v = buffer(m, THREADS * 4);
  u32 want[THREADS];
  for (u32 t = 0; t < THREADS; t++) {
    const u32 in = ((u32 *)v.host)[t] = (u32)random64();
    u32 x = in;
    for (u32 k = 0; k < 20; k++) {
      const u32 b = in + k;
      switch ((x >> 3 ^ t) & 3) {
      case 0:
        x += b;
        break;
      case 1:
        x *= b;
        break;
      case 2:
        x ^= b << 3;
        break;
      case 3:
        x %= b | 1;
      }
    }
    want[t] = x;
  }
  return run(m, "function_pointers", ALL_THREADS, "p", v) &&
         check("function pointers", !memcmp(v.host, want, sizeof want));
}

static s64 interpret(const u8 *code, int n, u32 t) {
  s64 stack[17] = {0};
  int top = 0;
  for (int pc = 0; pc < n; pc++) {
    const s64 a = top > 0 ? stack[top - 1] : 0, b = top > 1 ? stack[top - 2] : 0;
    const int op = code[pc] % 14;
    if (op < 2) {
      stack[top] = op ? pc * 77 + 1 : (s64)t;
      top = (top + 1) & 15;
    } else if (op == 10) {
      pc += a & 1;
    } else if (op == 9) {
      if (top > 1)
        stack[top - 1] = b, stack[top - 2] = a;
    } else if (op == 7 || op == 8 || op == 11) {
      if (top > 0)
        stack[top - 1] = op == 7 ? a >> 5 : op == 8 ? ~a : (s64)((u64)a << (t & 63));
    } else if (op == 13) {
      if (top > 0)
        stack[top & 15] = a, top = (top + 1) & 15;
    } else if (top > 1) {
      const s64 r = op == 2   ? (s64)((u64)b + (u64)a)
                    : op == 3 ? (s64)((u64)b - (u64)a)
                    : op == 4 ? (s64)((u64)b * (u64)a)
                    : op == 5 ? (a ? (s64)((u64)b / (u64)a) : 7)
                    : op == 6 ? (a > 0 ? b % a : 3)
                              : (b < a ? b : a);
      stack[--top - 1] = r;
    }
  }
  u64 sum = 0;
  for (int k = 0; k < top; k++)
    sum = sum * 31 + (u64)stack[k];
  return (s64)sum;
}

static bool test_interpreter(struct module *m) {
  enum { CODE = 300 };
  struct buffer code = buffer(m, CODE), out = buffer(m, THREADS * 8);
  for (int k = 0; k < CODE; k++)
    ((u8 *)code.host)[k] = (u8)(random64() % 3 ? random64() : random64() % 2);
  if (!run(m, "interpreter", ALL_THREADS, "pip", code, (u32)CODE, out))
    return false;
  for (u32 t = 0; t < THREADS; t++)
    if (((s64 *)out.host)[t] != interpret(code.host, CODE, t))
      return check("interpreter", false);
  return true;
}

static bool test_spill(struct module *m) {
  enum { LIVE = 48 };
  struct buffer in = buffer(m, THREADS * LIVE * 4), out = buffer(m, THREADS * LIVE * 4);
  for (int k = 0; k < THREADS * LIVE; k++)
    ((float *)in.host)[k] = random_float();
  if (!run(m, "spill", ALL_THREADS, "pp", in, out))
    return false;
  for (int t = 0; t < THREADS; t++) {
    float v[LIVE];
    memcpy(v, (float *)in.host + t * LIVE, sizeof v);
    for (int r = 0; r < 5; r++)
      for (int k = 0; k < LIVE; k++)
        v[k] = fmaf(v[(k + 7) % LIVE], 0.5f, v[(k * 5 + 1) % LIVE]);
    if (memcmp(v, (float *)out.host + t * LIVE, sizeof v))
      return check("spill", false);
  }
  return true;
}

static bool test_division(struct module *m) {
  struct buffer a = buffer(m, THREADS * 8), b = buffer(m, THREADS * 8), q = buffer(m, THREADS * 8),
                n = buffer(m, THREADS * 16), r = buffer(m, THREADS * 32);
  for (int t = 0; t < THREADS; t++) {
    ((double *)a.host)[t] = ldexp(random_float(), (int)(random64() % 2000) - 1000);
    ((double *)b.host)[t] = ldexp(random_float(), (int)(random64() % 2000) - 1000);
    ((u64 *)n.host)[2 * t] = random64() >> random64() % 64;
    ((u64 *)n.host)[2 * t + 1] = random64() >> random64() % 64;
  }
  if (!run(m, "division", ALL_THREADS, "ppppp", a, b, q, n, r))
    return false;
  for (int t = 0; t < THREADS; t++) {
    const u64 x = ((u64 *)n.host)[2 * t], y = ((u64 *)n.host)[2 * t + 1];
    const u64 want[4] = {x / (y | 1), x % (y | 1), (u64)((s64)x / ((s64)y | 2)),
                         (u64)((s64)x % ((s64)y | 2))};
    if (memcmp(want, (u64 *)r.host + 4 * t, sizeof want) ||
        ((double *)q.host)[t] != ((double *)a.host)[t] / ((double *)b.host)[t])
      return check("division", false);
  }
  return true;
}

static bool near(double got, double want) {
  return fabs(got - want) <= 4 * 0x1p-52 * fabs(want);
}

static bool test_trigonometry(struct module *m) {
  struct buffer x = buffer(m, THREADS * 8), y = buffer(m, THREADS * 32);
  for (int t = 0; t < THREADS; t++)
    ((double *)x.host)[t] = ldexp(random_float(), (int)(random64() % 40) - 20);
  if (!run(m, "trigonometry", ALL_THREADS, "pp", x, y))
    return false;
  for (int t = 0; t < THREADS; t++) {
    const double a = ((double *)x.host)[t], *r = (double *)y.host + 4 * t;
    if (!near(r[0], sin(a)) || !near(r[1], cos(a * 1e6)) || !near(r[2], atan2(a, fma(a, a, -3))) ||
        fabs(r[3] - (sqrt(fabs(a)) + cbrt(a))) > 1e-14 * (1 + fabs(a)))
      return check("trigonometry", false);
  }
  return true;
}

static bool test_dot_products(struct module *m) {
  enum { N = 1000 };
  struct buffer a = buffer(m, N * 4), b = buffer(m, N * 4), out = buffer(m, 4);
  u32 want = 0;
  for (int k = 0; k < N; k++) {
    const u32 x = ((u32 *)a.host)[k] = (u32)random64(), y = ((u32 *)b.host)[k] = (u32)random64();
    for (int j = 0; j < 32; j += 8)
      want += (u32)((int8_t)(x >> j) * (int8_t)(y >> j));
    want += (u32)((int16_t)x * (int8_t)(y >> 16) + (int16_t)(x >> 16) * (int8_t)(y >> 24));
  }
  return run(m, "dot_products", GRID(3, 1, 128, 1), "pppi", a, b, out, (u32)N) &&
         check("dot products", *(u32 *)out.host == want);
}

static bool test_halves(struct module *m) {
  struct buffer a = buffer(m, THREADS * 4), b = buffer(m, THREADS * 4), c = buffer(m, THREADS * 4),
                out = buffer(m, THREADS * 12);
  struct buffer *const in[] = {&a, &b, &c};
  for (int t = 0; t < THREADS; t++)
    for (int k = 0; k < 3; k++) { /* small integers and halves, exact in any format */
      u32 both = 0;
      for (int j = 0; j < 32; j += 16)
        both |= (u32)half_bits((float)((int)(random64() % 64) - 32) / 2) << j;
      ((u32 *)in[k]->host)[t] = both;
    }
  if (!run(m, "halves", ALL_THREADS, "pppp", a, b, c, out))
    return false;
  for (int t = 0; t < THREADS; t++) {
    const u32 *r = (u32 *)out.host + 3 * t;
    for (int j = 0; j < 2; j++) {
      float v[3];
      for (int k = 0; k < 3; k++)
        v[k] = half_value((u8 *)in[k]->host + 4 * t + 2 * j);
      const float sum = half_value((const u8 *)&r[0] + 2 * j),
                  most = half_value((const u8 *)&r[1] + 2 * j);
      if (sum != v[0] * v[1] + v[2] || most != (v[0] > v[1] ? v[0] : v[1]) ||
          (r[2] >> j & 1) != (v[0] < v[1]))
        return check("halves", false);
    }
  }
  return true;
}

static bool test_spin_lock(struct module *m) {
  struct buffer lock = buffer(m, 4), count = buffer(m, 4);
  u32 want = 0;
  for (int k = 0; k < 4 * 64; k++)
    want += 1 + (want & 1);
  return run(m, "spin_lock", GRID(4, 1, 64, 1), "pp", lock, count) &&
         check("spin lock", *(u32 *)count.host == want);
}

static bool test_language(struct module *m) {
  bool good = test_function_pointers(m);
  good = test_interpreter(m) && good;
  good = test_spill(m) && good;
  good = test_division(m) && good;
  good = test_trigonometry(m) && good;
  good = test_dot_products(m) && good;
  good = test_halves(m) && good;
  return test_spin_lock(m) && good;
}

/* --- all kernels at all levels ------------------------------------------------------- */

static char *read_file(const char *folder, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.cu", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *text = calloc(1, 1 << 20);
  const size_t n = fread(text, 1, (1 << 20) - 1, file);
  fclose(file);
  text[n] = 0;
  return text;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    bool (*test)(struct module *);
  } tests[] = {{"sort", test_sort},         {"scan", test_scan},         {"fft", test_fft},
               {"sgemm", test_sgemm},       {"spmv", test_spmv},         {"aes", test_aes},
               {"blake2", test_blake2},     {"lz4", test_lz4},           {"stencil", test_stencil},
               {"queens", test_queens},     {"language", test_language}, {"tensor", test_tensor},
               {"mbarrier", test_mbarrier}, {"together", test_together}};
  static const char *const levels[][3] = {{NULL},
                                          {"--ptxas-options=-O1", NULL},
                                          {"--ptxas-options=-O0", NULL},
                                          {"--maxrregcount=32", NULL},
                                          {"--device-debug", NULL}};
  if (!harness_available())
    return HARNESS_SKIP;
  int failures = 0, runs = 0;
  for (unsigned k = 0; k < sizeof tests / sizeof *tests; k++) {
    if (argc < 2 || (argc > 2 && strcmp(argv[2], tests[k].name)))
      continue;
    char *source = read_file(argv[1], tests[k].name);
    if (!source) {
      fprintf(stderr, "%s: cannot read\n", tests[k].name);
      return 2;
    }
    for (unsigned l = 0; l < sizeof levels / sizeof *levels; l++, runs++) {
      struct module *m = module_compile(source, levels[l]);
      if (!m || !tests[k].test(m)) {
        printf("%s failed, options %s\n", tests[k].name, levels[l][0] ? levels[l][0] : "none");
        failures++;
      }
      module_free(m);
    }
    free(source);
  }
  printf("%d runs, %d failed\n", runs, failures);
  return failures || !runs;
}
