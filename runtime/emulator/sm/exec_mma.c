/* Interpreter core: tensor instructions, and those that load and transpose the
 * matrices for them. Where elements lie: PTX manual, "Matrix Fragments" of the
 * mma instructions. Lane 4 g + t of a warp holds words t, t + 4, ... of row g (and
 * g + 8) of A and of column g of B, and columns 2 t and 2 t + 1 of those rows of C
 * and D. All lanes' registers count, whichever lanes are active.
 */
#include "runtime/emulator/sm/exec_mem.h"
#include "runtime/emulator/sm/exec_round.h"
#include "runtime/emulator/sm/sem_mma.h"

enum {
  QUAD = 4,    /* lanes that share a row of A or a column of B */
  GROUPS = 8,  /* quads of a warp; rows of an eighth */
  ROWS = 16,   /* of A, C, D at most */
  COLUMNS = 8, /* of B, C, D */
  A_WORDS = 8, /* of a row, at most */
  B_WORDS = 16,
  SPARSE_CHOICES = 32, /* elements or pairs of a row that metadata places */
};

/* The words of A and B as matrices; x[0]: registers of A (1: it has 8 rows), x[1]:
 * of B */
struct words {
  uint32_t a[ROWS][A_WORDS], b[B_WORDS][COLUMNS];
  unsigned rows, a_words;
};

static inline void load_words(struct words *t, const struct sm_warp *w, const struct sm_uop *u) {
  const unsigned halves = u->x[0] > 1 ? 2 : 1;
  t->rows = halves * GROUPS;
  t->a_words = u->x[0] / halves * QUAD;
  for (unsigned r = 0; r < u->x[0]; r++) {
    const uint32_t *from = REG(u->s[0] + r * SM_REG_BYTES);
    for (unsigned i = 0; i < SM_LANES; i++)
      t->a[i / QUAD + r % halves * GROUPS][i % QUAD + r / halves * QUAD] = from[i];
  }
  for (unsigned r = 0; r < u->x[1]; r++) {
    const uint32_t *from = REG(u->s[1] + r * SM_REG_BYTES);
    for (unsigned i = 0; i < SM_LANES; i++)
      t->b[i % QUAD + r * QUAD][i / QUAD] = from[i];
  }
}

/* A row of 32-bit accumulators from C, or to D in the lanes of m. */
static inline void load_row(uint32_t *row, const struct sm_warp *w, const struct sm_uop *u,
                            unsigned number) {
  const unsigned r = number / GROUPS * 2, lane = number % GROUPS * QUAD;
  for (unsigned c = 0; c < COLUMNS; c++)
    row[c] = REG(u->s[2] + (r + c % 2) * SM_REG_BYTES)[lane + c / 2];
}

static inline void store_row(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                             const uint32_t *row, unsigned number) {
  const unsigned r = number / GROUPS * 2, lane = number % GROUPS * QUAD;
  for (unsigned c = 0; c < COLUMNS; c++)
    if (m >> (lane + c / 2) & 1)
      REG(u->d + (r + c % 2) * SM_REG_BYTES)[lane + c / 2] = row[c];
}

/* The same of two f16 in a register, as f32. */
static inline void load_halves(float *row, const struct sm_warp *w, const struct sm_uop *u,
                               unsigned number) {
  const uint32_t *from = REG(u->s[2] + number / GROUPS * SM_REG_BYTES);
  for (unsigned c = 0; c < COLUMNS; c++)
    row[c] = sem_mma_element(from[number % GROUPS * QUAD + c / 2], c % 2, SEM_MMA_F16);
}

static inline void store_halves(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                                const float *row, unsigned number) {
  const unsigned lane = number % GROUPS * QUAD;
  uint32_t *to = REG(u->d + number / GROUPS * SM_REG_BYTES);
  for (unsigned t = 0; t < QUAD; t++)
    if (m >> (lane + t) & 1)
      to[lane + t] = sem_f32_to_f16(row[2 * t]) | sem_f32_to_f16(row[2 * t + 1]) << 16;
}

/* --- sparse operands --------------------------------------------------------------- */

/* Where along k the elements of a row of A belong, of 16 bits or (bytes) of 8.
 * imm: the metadata's register, x[4]: its selector. Each element has two bits that
 * choose a place out of four; each two share the four. The words of metadata lie
 * in the quad's lanes: of 16-bit elements, eight of row g in the low and eight of row
 * g + 8 in the high half; of bytes, 16 of each row in turn. */
static inline void sparse_places(uint8_t *place, const struct sm_warp *w, const struct sm_uop *u,
                                 unsigned row, unsigned count, bool bytes) {
  const uint32_t *words = REG(u->imm) + row % GROUPS * QUAD;
  const unsigned in_word = bytes ? 16 : 8, high = row / GROUPS;
  const unsigned lanes = count / in_word * (bytes ? 2 : 1), first = u->x[4] * lanes;
  for (unsigned k = 0; k < count; k++) {
    const unsigned part = k / in_word, at = k % in_word * 2;
    const uint32_t bits = bytes ? words[(first + 2 * part + high) % QUAD] >> at
                                : words[(first + part) % QUAD] >> (16 * high + at);
    place[k] = (uint8_t)(k / 2 * 4 + (bits & 3));
  }
}

/* --- floats ----------------------------------------------------------------------- */

/* Factors: as they are, with zero for infinities and NaN, and their exponents. */
struct factors {
  float raw[B_WORDS * 2][COLUMNS], v[B_WORDS * 2][COLUMNS];
  int32_t e[B_WORDS * 2][COLUMNS];
};

struct row {
  float raw[A_WORDS * 2], v[A_WORDS * 2];
  int32_t e[A_WORDS * 2];
  uint8_t place[SPARSE_CHOICES];
};

/* True if it is a number. */
static inline bool factor(float raw, int32_t least, float *v, int32_t *e) {
  const bool finite = sem_mma_finite(raw);
  *v = finite ? raw : 0;
  *e = sem_mma_exponent(*v, least);
  return finite;
}

/* c += the products of count factors; least: of the accumulator's exponents. */
static inline void sum_terms(float *c, const struct row *a, const struct factors *b, unsigned first,
                             unsigned count, bool to_f16, int32_t least) {
  int32_t top[COLUMNS], sum[COLUMNS];
  double scale[COLUMNS];
  for (unsigned j = 0; j < COLUMNS; j++)
    top[j] = sem_mma_max(sem_mma_exponent(c[j], least), SEM_F32_LEAST);
  for (unsigned k = first; k < first + count; k++) {
    const int32_t *e = b->e[a->place[k]];
    for (unsigned j = 0; j < COLUMNS; j++)
      top[j] = sem_mma_max(top[j], a->e[k] + e[j]);
  }
  for (unsigned j = 0; j < COLUMNS; j++) {
    scale[j] = sem_mma_power(SEM_MMA_FRACTION - top[j]);
    sum[j] = (int32_t)((double)c[j] * scale[j]);
  }
  for (unsigned k = first; k < first + count; k++) {
    const float *v = b->v[a->place[k]];
    for (unsigned j = 0; j < COLUMNS; j++)
      sum[j] += (int32_t)((double)a->v[k] * (double)v[j] * scale[j]);
  }
  for (unsigned j = 0; j < COLUMNS; j++)
    c[j] = to_f16 ? sem_mma_to_f16(sum[j], top[j]) : sem_mma_to_f32(sum[j], top[j]);
}

/* Where infinities or NaN take part, the sum is one if a sum of doubles is. */
static inline void sum_specials(float *c, const float *before, const struct row *a,
                                const struct factors *b, unsigned first, unsigned count) {
  for (unsigned j = 0; j < COLUMNS; j++) {
    double sum = (double)before[j];
    for (unsigned k = first; k < first + count; k++)
      sum += (double)a->raw[k] * (double)b->raw[a->place[k]][j];
    if (sum - sum != 0)
      c[j] = sum != sum ? sem_f32(SEM_F32_NAN) : (float)sum;
  }
}

static inline void accumulate(float *c, const struct row *a, const struct factors *b,
                              unsigned elements, unsigned step, bool numbers, bool to_f16) {
  for (unsigned k = 0; k < elements; k += step) {
    float before[COLUMNS];
    bool special = !numbers;
    memcpy(before, c, sizeof before);
    for (unsigned j = 0; j < COLUMNS; j++) {
      special |= !sem_mma_finite(before[j]);
      c[j] = sem_mma_finite(before[j]) ? before[j] : 0;
    }
    sum_terms(c, a, b, k, step, to_f16, to_f16 ? SEM_F16_LEAST : SEM_F32_LEAST);
    if (UNLIKELY(special))
      sum_specials(c, before, a, b, k, step);
  }
}

/* x[2]: enum sem_mma_type, x[3]: A is sparse, x[5]: accumulates in f16 */
HANDLER(hmma) {
  const uint32_t m = exec_mask(w, u);
  const enum sem_mma_type type = u->x[2];
  const unsigned in_word = type == SEM_MMA_TF32 ? 1 : 2;
  const int32_t least = type == SEM_MMA_F16 ? SEM_F16_LEAST : SEM_F32_LEAST;
  struct words t;
  struct factors b;
  bool b_numbers = true;
  if (!m)
    return NEXT;
  load_words(&t, w, u);
  for (unsigned k = 0; k < u->x[1] * QUAD * in_word; k++)
    for (unsigned j = 0; j < COLUMNS; j++) {
      b.raw[k][j] = sem_mma_element(t.b[k / in_word][j], k % in_word, type);
      b_numbers &= factor(b.raw[k][j], least, &b.v[k][j], &b.e[k][j]);
    }
  const unsigned elements = t.a_words * in_word, step = SEM_MMA_BYTES / 4 * in_word;
  struct row a = {0};
  for (unsigned i = 0; i < ROWS; i++) {
    bool numbers = b_numbers;
    if (u->x[3])
      sparse_places(a.place, w, u, i, t.a_words * 2, false);
    for (unsigned k = 0; k < elements; k++) {
      a.raw[k] = sem_mma_element(t.a[i][k / in_word], k % in_word, type);
      numbers &= factor(a.raw[k], least, &a.v[k], &a.e[k]);
      if (!u->x[3])
        a.place[k] = (uint8_t)k;
      else if (type == SEM_MMA_TF32) /* placed by halves */
        a.place[k] = a.place[2 * k] / 2;
    }
    float c[COLUMNS];
    uint32_t bits[COLUMNS];
    if (u->x[5]) {
      load_halves(c, w, u, i);
    } else {
      load_row(bits, w, u, i);
      memcpy(c, bits, sizeof c);
    }
    accumulate(c, &a, &b, elements, step < elements ? step : elements, numbers, u->x[5]);
    if (u->x[5]) {
      store_halves(w, u, m, c, i);
    } else {
      memcpy(bits, c, sizeof c);
      store_row(w, u, m, bits, i);
    }
  }
  return NEXT;
}

/* --- doubles ---------------------------------------------------------------------- */

HANDLER(dmma) {
  const uint32_t m = exec_mask(w, u);
  const uint32_t *const alo = REG(u->s[0]), *const ahi = REG(u->s[0] + SM_REG_BYTES);
  const uint32_t *const blo = REG(u->s[1]), *const bhi = REG(u->s[1] + SM_REG_BYTES);
  uint64_t out[2][SM_LANES];
  if (!m)
    return NEXT;
  for (unsigned n = 0; n < 2; n++) {
    const uint32_t *const clo = REG(u->s[2] + 2 * n * SM_REG_BYTES);
    const uint32_t *const chi = REG(u->s[2] + (2 * n + 1) * SM_REG_BYTES);
    uint64_t la[SM_LANES], lb[SM_LANES], lc[SM_LANES];
    FOR_LANES
    lc[i] = sem_pair(clo[i], chi[i]);
    for (unsigned k = 0; k < QUAD; k++) {
      for (unsigned i = 0; i < SM_LANES; i++) {
        const unsigned from_a = i / QUAD * QUAD + k, from_b = (i % QUAD * 2 + n) * QUAD + k;
        la[i] = sem_pair(alo[from_a], ahi[from_a]);
        lb[i] = sem_pair(blo[from_b], bhi[from_b]);
      }
      const uint64_t *a = la, *b = lb, *c = lc;
      uint64_t *r = out[n];
      IN_ROUND(u->round, r, a, b, c,
               FOR_LANES r[i] =
                   sem_bits64(__builtin_fma(sem_f64(a[i]), sem_f64(b[i]), sem_f64(c[i]))));
      for (unsigned i = 0; i < SM_LANES; i++)
        lc[i] = (r[i] & ~SEM_F64_SIGN) > SEM_F64_EXP ? sem_nan64(a[i], b[i], c[i]) : r[i];
    }
    memcpy(out[n], lc, sizeof lc);
  }
  FOR_MASK(i, m) {
    for (unsigned n = 0; n < 2; n++) {
      REG(u->d + 2 * n * SM_REG_BYTES)[i] = (uint32_t)out[n][i];
      REG(u->d + (2 * n + 1) * SM_REG_BYTES)[i] = (uint32_t)(out[n][i] >> 32);
    }
  }
  return NEXT;
}

/* --- integers --------------------------------------------------------------------- */

/* As the instruction encodes them. */
enum integer { INTEGER_U8, INTEGER_S8, INTEGER_U4 = 4, INTEGER_S4 };

static inline int32_t integer_element(uint32_t word, unsigned index, enum integer type) {
  const unsigned bits = type < INTEGER_U4 ? 8 : 4;
  const uint32_t top = word << (32 - bits * (index + 1));
  return type & 1 ? (int32_t)top >> (32 - bits) : (int32_t)(top >> (32 - bits));
}

/* x[2]: type of A, u->round: of B, x[3]: A is sparse, x[5]: saturates */
HANDLER(imma) {
  enum { MOST_IN_WORD = 8, MOST = B_WORDS * MOST_IN_WORD };
  const uint32_t m = exec_mask(w, u);
  const enum integer a_type = u->x[2], b_type = u->round;
  const unsigned in_word = a_type < INTEGER_U4 ? 4 : 8;
  int32_t b[MOST][COLUMNS];
  struct words t;
  if (!m)
    return NEXT;
  load_words(&t, w, u);
  for (unsigned k = 0; k < u->x[1] * QUAD * in_word; k++)
    for (unsigned j = 0; j < COLUMNS; j++)
      b[k][j] = integer_element(t.b[k / in_word][j], k % in_word, b_type);
  for (unsigned i = 0; i < t.rows; i++) {
    uint8_t place[SPARSE_CHOICES];
    uint32_t c[COLUMNS];
    int32_t sum[COLUMNS] = {0};
    const unsigned together = in_word / 4; /* elements that are placed together */
    if (u->x[3])
      sparse_places(place, w, u, i, t.a_words * 4, true);
    for (unsigned k = 0; k < t.a_words * in_word; k++) {
      const int32_t a = integer_element(t.a[i][k / in_word], k % in_word, a_type);
      const unsigned at = u->x[3] ? place[k / together] * together + k % together : k;
      for (unsigned j = 0; j < COLUMNS; j++)
        sum[j] += a * b[at][j];
    }
    load_row(c, w, u, i);
    for (unsigned j = 0; j < COLUMNS; j++) {
      const int64_t exact = (int64_t)(int32_t)c[j] + sum[j];
      const int64_t limited = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
      c[j] = (uint32_t)(u->x[5] ? limited : exact);
    }
    store_row(w, u, m, c, i);
  }
  return NEXT;
}

/* Sums of the bits of XOR, or x[2] AND */
HANDLER(bmma) {
  const uint32_t m = exec_mask(w, u);
  struct words t;
  if (!m)
    return NEXT;
  load_words(&t, w, u);
  for (unsigned i = 0; i < t.rows; i++) {
    uint32_t c[COLUMNS];
    load_row(c, w, u, i);
    for (unsigned k = 0; k < t.a_words; k++)
      for (unsigned j = 0; j < COLUMNS; j++) {
        const uint32_t a = t.a[i][k], b = t.b[k][j];
        c[j] += (uint32_t)__builtin_popcount(u->x[2] ? a & b : a ^ b);
      }
    store_row(w, u, m, c, i);
  }
  return NEXT;
}

/* --- matrices of 8 by 8 halves -------------------------------------------------------- */

/* What lane i holds of a matrix with a row of four words in each of eight places. */
static inline uint32_t matrix_word(const uint32_t (*row)[QUAD], unsigned i, bool transposed) {
  if (!transposed)
    return row[i / QUAD][i % QUAD];
  const unsigned column = i / QUAD, down = i % QUAD * 2, shift = 16 * (column % 2);
  const uint32_t upper = row[down][column / 2] >> shift & 0xffff;
  return upper | (row[down + 1][column / 2] >> shift) << 16;
}

HANDLER(movm) {
  const uint32_t m = exec_mask(w, u);
  uint32_t row[GROUPS][QUAD];
  struct sm_lanes t;
  memcpy(row, REG(u->s[0]), sizeof row);
  for (unsigned i = 0; i < SM_LANES; i++)
    t.l[i] = matrix_word(row, i, true);
  sm_blend(REG(u->d), t.l, m);
  return NEXT;
}

/* x[0]: the size of a row, x[3]: matrices, of which each takes the addresses of
 * eight lanes, x[4]: transposed */
HANDLER(ldsm) {
  const uint32_t all = exec_mask(w, u);
  const unsigned matrices = u->x[3], lanes = matrices * GROUPS;
  const uint32_t m = lanes < SM_LANES ? all & ((1u << lanes) - 1) : all;
  const uint32_t bytes = size_bytes[u->x[0]];
  struct sm_lanes at;
  uint32_t high, bits;
  if (!m)
    return NEXT;
  addresses32(w, u, m, at.l, &high, &bits);
  if (UNLIKELY((uint64_t)high + bytes > w->shared_bytes || bits & (bytes - 1)))
    return shared_fault(w, u, m, at.l, bytes, false);
  struct sm_lanes out[QUAD];
  for (unsigned k = 0; k < matrices; k++) {
    uint32_t row[GROUPS][QUAD];
    for (unsigned g = 0; g < GROUPS; g++)
      memcpy(row[g], w->shared + at.l[k * GROUPS + g], sizeof row[g]);
    for (unsigned i = 0; i < SM_LANES; i++)
      out[k].l[i] = matrix_word(row, i, u->x[4]);
  }
  for (unsigned k = 0; k < matrices; k++)
    sm_blend(REG(u->d + k * SM_REG_BYTES), out[k].l, all);
  return NEXT;
}
