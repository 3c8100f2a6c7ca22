/* Interpreter core: tensor instructions, and those that load and transpose their matrices.
 *
 * The PTX manual describes the layout of matrices in registers ("Matrix Fragments" of the mma
 * instructions). Lane 4 g + t of a warp holds words t, t + 4, ... of rows g and g + 8 of A and of
 * column g of B, and columns 2 t and 2 t + 1 of the same rows of C and D. The registers of inactive
 * lanes are used too. */
#include "emulator/sm/exec/exec_mem.h"
#include "emulator/sm/exec/exec_round.h"
#include "emulator/sm/exec/sem_mma.h"

enum {
  QUAD = 4,    /* lanes that share a row of A or a column of B */
  GROUPS = 8,  /* quads of a warp */
  ROWS = 16,   /* of A, C, D at most */
  COLUMNS = 8, /* of B, C, D */
  A_WORDS = 8, /* of a row of A, at most */
  B_WORDS = 16,
  SPARSE_CHOICES = 32, /* most elements of a row that metadata places */
};

/* Handlers end with a tail call, so functions with large frames are not inlined into them. */
#define APART __attribute__((noinline))

/* The words of A and B as matrices. A has 8 rows if it has one register, else 16. */
struct words {
  uint32_t a[ROWS][A_WORDS], b[B_WORDS][COLUMNS];
  unsigned rows, a_words;
};

static inline void load_words(struct words *t, const struct sm_warp *w, const struct sm_uop *u) {
  const unsigned halves = u->mma.a_registers > 1 ? 2 : 1;
  t->rows = halves * GROUPS;
  t->a_words = u->mma.a_registers / halves * QUAD;
  for (unsigned r = 0; r < u->mma.a_registers; r++) {
    const uint32_t *from = REG(u->s[0] + r * SM_REG_BYTES);
    for (unsigned i = 0; i < SM_LANES; i++)
      t->a[i / QUAD + r % halves * GROUPS][i % QUAD + r / halves * QUAD] = from[i];
  }
  for (unsigned r = 0; r < u->mma.b_registers; r++) {
    const uint32_t *from = REG(u->s[1] + r * SM_REG_BYTES);
    for (unsigned i = 0; i < SM_LANES; i++)
      t->b[i % QUAD + r * QUAD][i / QUAD] = from[i];
  }
}

/* Load a row of 32-bit accumulators from C, and store a row to D in the lanes of m. */
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

/* Vectors with one value for each column. */
typedef double f64_columns __attribute__((vector_size(COLUMNS * sizeof(double))));
typedef int32_t i32_columns __attribute__((vector_size(COLUMNS * sizeof(int32_t))));

/* --- sparse operands --------------------------------------------------------------- */

/* Finds the places along k of the elements in a row of a sparse A. Elements have 16 bits, or 8 if
 * bytes. Two bits of metadata for each element select one of four places; pairs of elements select
 * from the same four. The lanes of the row's quad have the words of metadata. For 16-bit elements,
 * a word has those of eight elements of row g in its low half and of eight of row g + 8 in its high
 * half. For bytes, words with those of 16 elements of one and of the other row alternate. */
static inline void sparse_places(uint8_t *place, const struct sm_warp *w, const struct sm_uop *u,
                                 unsigned row, unsigned count, bool bytes) {
  const uint32_t *words = REG(u->mma.metadata) + row % GROUPS * QUAD;
  const unsigned in_word = bytes ? 16 : 8, high = row / GROUPS;
  const unsigned lanes = count / in_word * (bytes ? 2 : 1), first = u->mma.selector * lanes;
  for (unsigned k = 0; k < count; k++) {
    const unsigned part = k / in_word, at = k % in_word * 2;
    const uint32_t bits = bytes ? words[(first + 2 * part + high) % QUAD] >> at
                                : words[(first + part) % QUAD] >> (16 * high + at);
    place[k] = (uint8_t)(k / 2 * 4 + (bits & 3));
  }
}

/* --- floats ----------------------------------------------------------------------- */

enum { A_FLOATS = 2 * A_WORDS, B_FLOATS = 2 * B_WORDS };

/* The elements of A and B: as they are (raw), and as factors with their exponents. Factors are zero
 * in place of infinities and NaN. */
struct floats {
  float a_raw[ROWS][A_FLOATS], b_raw[B_FLOATS][COLUMNS];
  double a[ROWS][A_FLOATS];
  f64_columns b[B_FLOATS];
  int32_t a_exponent[ROWS][A_FLOATS];
  i32_columns b_exponent[B_FLOATS];
  uint8_t place[ROWS][A_FLOATS]; /* of A's elements along k */
  bool specials;
};

/* One element from each lane's word. */
struct decoded {
  float raw[SM_LANES], v[SM_LANES];
  int32_t exponent[SM_LANES];
  bool specials;
};

static inline void decode_elements(struct decoded *out, const uint32_t *words, unsigned index,
                                   enum sem_mma_type type) {
  const int32_t least = type == SEM_MMA_F16 ? SEM_F16_LEAST : SEM_F32_LEAST;
  uint32_t specials = 0;
  FOR_LANES {
    const float raw = sem_mma_element(words[i], index, type);
    const float v = sem_mma_finite(raw) ? raw : 0;
    specials |= !sem_mma_finite(raw);
    out->raw[i] = raw;
    out->v[i] = v;
    out->exponent[i] = sem_mma_exponent(v, least);
  }
  out->specials = specials;
}

/* Loads the elements of A and B, with the rows and columns of struct words. */
static inline void load_floats(struct floats *t, const struct sm_warp *w, const struct sm_uop *u,
                               enum sem_mma_type type) {
  const unsigned in_word = type == SEM_MMA_TF32 ? 1 : 2;
  struct decoded d;
  t->specials = false;
  for (unsigned r = 0; r < u->mma.a_registers; r++)
    for (unsigned h = 0; h < in_word; h++) {
      decode_elements(&d, REG(u->s[0] + r * SM_REG_BYTES), h, type);
      t->specials |= d.specials;
      for (unsigned i = 0; i < SM_LANES; i++) {
        const unsigned row = i / QUAD + r % 2 * GROUPS;
        const unsigned k = (i % QUAD + r / 2 * QUAD) * in_word + h;
        t->a_raw[row][k] = d.raw[i];
        t->a[row][k] = (double)d.v[i];
        t->a_exponent[row][k] = d.exponent[i];
      }
    }
  for (unsigned r = 0; r < u->mma.b_registers; r++)
    for (unsigned h = 0; h < in_word; h++) {
      decode_elements(&d, REG(u->s[1] + r * SM_REG_BYTES), h, type);
      t->specials |= d.specials;
      for (unsigned i = 0; i < SM_LANES; i++) {
        const unsigned k = (i % QUAD + r * QUAD) * in_word + h;
        t->b_raw[k][i / QUAD] = d.raw[i];
        t->b[k][i / QUAD] = (double)d.v[i];
        t->b_exponent[k][i / QUAD] = d.exponent[i];
      }
    }
}

static inline void load_places(struct floats *t, const struct sm_warp *w, const struct sm_uop *u,
                               enum sem_mma_type type) {
  const unsigned words = u->mma.a_registers / 2 * QUAD;
  for (unsigned i = 0; i < ROWS; i++) {
    if (!u->mma.sparse) {
      for (unsigned k = 0; k < A_FLOATS; k++)
        t->place[i][k] = (uint8_t)k;
      continue;
    }
    sparse_places(t->place[i], w, u, i, 2 * words, false);
    if (type == SEM_MMA_TF32) /* placed by halves */
      for (unsigned k = 0; k < words; k++)
        t->place[i][k] = t->place[i][2 * k] / 2;
  }
}

/* The accumulators, and the sums of aligned terms that replace them. */
struct sums {
  float c[ROWS * COLUMNS];
  union {
    int32_t top[ROWS * COLUMNS];
    i32_columns tops[ROWS];
  };
  union {
    double scale[ROWS * COLUMNS];
    f64_columns scales[ROWS];
  };
  union {
    int32_t sum[ROWS * COLUMNS];
    i32_columns sums[ROWS];
  };
};

#define FOR_ALL SM_INDEPENDENT for (unsigned i = 0; i < ROWS * COLUMNS; i++)

/* Adds count products along k, from first on, to c. */
static inline void sum_terms(struct sums *s, const struct floats *t, unsigned first, unsigned count,
                             bool to_f16) {
  const int32_t least = to_f16 ? SEM_F16_LEAST : SEM_F32_LEAST;
  FOR_ALL {
    s->c[i] = sem_mma_finite(s->c[i]) ? s->c[i] : 0;
    s->top[i] = sem_mma_max(sem_mma_exponent(s->c[i], least), SEM_F32_LEAST);
  }
  for (unsigned i = 0; i < ROWS; i++)
    for (unsigned k = first; k < first + count; k++) {
      const i32_columns e = t->a_exponent[i][k] + t->b_exponent[t->place[i][k]];
      const i32_columns more = e > s->tops[i];
      s->tops[i] = (e & more) | (s->tops[i] & ~more);
    }
  FOR_ALL {
    s->scale[i] = sem_mma_power(SEM_MMA_FRACTION - s->top[i]);
    s->sum[i] = (int32_t)((double)s->c[i] * s->scale[i]);
  }
  for (unsigned i = 0; i < ROWS; i++)
    for (unsigned k = first; k < first + count; k++)
      s->sums[i] +=
          __builtin_convertvector(t->a[i][k] * t->b[t->place[i][k]] * s->scales[i], i32_columns);
  if (to_f16)
    FOR_ALL s->c[i] = sem_mma_to_f16(s->sum[i], s->top[i]);
  else
    FOR_ALL s->c[i] = sem_mma_to_f32(s->sum[i], s->top[i]);
}

/* Corrects sums with infinities or NaN: where the sum in doubles is one of these, it is the
 * result. */
static void sum_specials(float *c, const float *before, const struct floats *t, unsigned first,
                         unsigned count) {
  for (unsigned n = 0; n < ROWS * COLUMNS; n++) {
    const unsigned i = n / COLUMNS, j = n % COLUMNS;
    double sum = (double)before[n];
    for (unsigned k = first; k < first + count; k++)
      sum += (double)t->a_raw[i][k] * (double)t->b_raw[t->place[i][k]][j];
    if (sum - sum != 0)
      c[n] = sum != sum ? sem_f32(SEM_F32_NAN) : (float)sum;
  }
}

/* Loads the accumulators: f16, with two in a register, or f32. */
static inline void load_sums(struct sums *s, const struct sm_warp *w, const struct sm_uop *u) {
  for (unsigned i = 0; i < ROWS; i++) {
    uint32_t row[COLUMNS];
    if (u->mma.option) {
      const uint32_t *from = REG(u->s[2] + i / GROUPS * SM_REG_BYTES) + i % GROUPS * QUAD;
      for (unsigned j = 0; j < COLUMNS; j++)
        row[j] = sem_bits32(sem_mma_element(from[j / 2], j % 2, SEM_MMA_F16));
    } else {
      load_row(row, w, u, i);
    }
    memcpy(&s->c[i * COLUMNS], row, sizeof row);
  }
}

static inline void store_sums(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                              const struct sums *s) {
  uint32_t bits[ROWS * COLUMNS];
  if (!u->mma.option) {
    memcpy(bits, s->c, sizeof bits);
    for (unsigned i = 0; i < ROWS; i++)
      store_row(w, u, m, &bits[i * COLUMNS], i);
    return;
  }
  FOR_ALL bits[i] = sem_mma_f16_bits(s->c[i]);
  FOR_MASK(lane, m) {
    for (unsigned half = 0; half < 2; half++) {
      const uint32_t *from = &bits[(half * GROUPS + lane / QUAD) * COLUMNS + lane % QUAD * 2];
      REG(u->d + half * SM_REG_BYTES)[lane] = from[0] | from[1] << 16;
    }
  }
}

static inline void multiply_matrices(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                                     enum sem_mma_type type, bool to_f16) {
  const unsigned in_word = type == SEM_MMA_TF32 ? 1 : 2;
  const unsigned elements = u->mma.a_registers / 2 * QUAD * in_word;
  const unsigned most = SEM_MMA_BYTES / 4 * in_word, step = elements < most ? elements : most;
  struct floats t;
  struct sums s;
  load_floats(&t, w, u, type);
  load_places(&t, w, u, type);
  load_sums(&s, w, u);
  for (unsigned k = 0; k < elements; k += step) {
    float before[ROWS * COLUMNS];
    uint32_t special = t.specials;
    FOR_ALL {
      before[i] = s.c[i];
      special |= !sem_mma_finite(s.c[i]);
    }
    sum_terms(&s, &t, k, step, to_f16);
    if (UNLIKELY(special))
      sum_specials(s.c, before, &t, k, step);
  }
  store_sums(w, u, m, &s);
}

static APART void multiply_floats(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  if (u->mma.option)
    multiply_matrices(w, u, m, SEM_MMA_F16, true);
  else if (u->mma.type == SEM_MMA_F16)
    multiply_matrices(w, u, m, SEM_MMA_F16, false);
  else if (u->mma.type == SEM_MMA_BF16)
    multiply_matrices(w, u, m, SEM_MMA_BF16, false);
  else
    multiply_matrices(w, u, m, SEM_MMA_TF32, false);
}

/* --- doubles ---------------------------------------------------------------------- */

static APART void multiply_doubles(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  const uint32_t *const alo = REG(u->s[0]), *const ahi = REG(u->s[0] + SM_REG_BYTES);
  const uint32_t *const blo = REG(u->s[1]), *const bhi = REG(u->s[1] + SM_REG_BYTES);
  uint64_t out[2][SM_LANES];
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
}

/* --- integers --------------------------------------------------------------------- */

/* In the encoding of the instruction. */
enum integer { INTEGER_U8, INTEGER_S8, INTEGER_U4 = 4, INTEGER_S4 };

/* Returns an element. sign is its top bit if elements are signed, else 0. */
static inline int32_t integer_element(uint32_t word, unsigned index, unsigned bits, uint32_t sign) {
  const uint32_t v = word >> bits * index & ((1u << bits) - 1);
  return (int32_t)(v ^ sign) - (int32_t)sign;
}

static inline uint32_t sign_of(enum integer type, unsigned bits) {
  return type & 1 ? 1u << (bits - 1) : 0;
}

/* Adds sum, whose elements are less than 2^24, to c. */
static inline void add_integers(uint32_t *c, const i32_columns *sum, bool saturates) {
  for (unsigned j = 0; j < COLUMNS; j++) {
    const int64_t exact = (int64_t)(int32_t)c[j] + (*sum)[j];
    const int64_t limited = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
    c[j] = (uint32_t)(saturates ? limited : exact);
  }
}

static inline void multiply_elements(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                                     unsigned bits) {
  enum { MOST_IN_WORD = 8, MOST = B_WORDS * MOST_IN_WORD };
  const unsigned in_word = 32 / bits, together = in_word / 4; /* elements placed together */
  const uint32_t a_sign = sign_of(u->mma.type, bits), b_sign = sign_of(u->mma.b_type, bits);
  i32_columns b[MOST];
  struct words t;
  load_words(&t, w, u);
  for (unsigned k = 0; k < u->mma.b_registers * QUAD; k++)
    for (unsigned n = 0; n < in_word; n++)
      for (unsigned j = 0; j < COLUMNS; j++)
        b[k * in_word + n][j] = integer_element(t.b[k][j], n, bits, b_sign);
  for (unsigned i = 0; i < t.rows; i++) {
    uint8_t place[SPARSE_CHOICES] = {0};
    uint32_t c[COLUMNS];
    i32_columns sum = {0};
    if (u->mma.sparse)
      sparse_places(place, w, u, i, t.a_words * 4, true);
    for (unsigned k = 0; k < t.a_words * in_word; k++) {
      const int32_t a = integer_element(t.a[i][k / in_word], k % in_word, bits, a_sign);
      sum += a * b[u->mma.sparse ? place[k / together] * together + k % together : k];
    }
    load_row(c, w, u, i);
    add_integers(c, &sum, u->mma.option);
    store_row(w, u, m, c, i);
  }
}

static APART void multiply_integers(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  if (u->mma.type < INTEGER_U4)
    multiply_elements(w, u, m, 8);
  else
    multiply_elements(w, u, m, 4);
}

/* Counts the bits of the XOR or of the AND of rows and columns. */
static APART void multiply_bits(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  struct words t;
  load_words(&t, w, u);
  for (unsigned i = 0; i < t.rows; i++) {
    uint32_t c[COLUMNS];
    load_row(c, w, u, i);
    for (unsigned k = 0; k < t.a_words; k++)
      for (unsigned j = 0; j < COLUMNS; j++) {
        const uint32_t a = t.a[i][k], b = t.b[k][j];
        c[j] += (uint32_t)__builtin_popcount(u->mma.type ? a & b : a ^ b);
      }
    store_row(w, u, m, c, i);
  }
}

#define MULTIPLIER(name, function)                                                                 \
  EACH_WARP(name) {                                                                                \
    if (m)                                                                                         \
      function(w, u, m);                                                                           \
    return DONE;                                                                                   \
  }

MULTIPLIER(hmma, multiply_floats)
MULTIPLIER(dmma, multiply_doubles)
MULTIPLIER(imma, multiply_integers)
MULTIPLIER(bmma, multiply_bits)

/* --- matrices of 8 by 8 halves -------------------------------------------------------- */

/* Returns lane i's word of a matrix of eight rows with four words each. */
static inline uint32_t matrix_word(const uint32_t (*row)[QUAD], unsigned i, bool transposed) {
  if (!transposed)
    return row[i / QUAD][i % QUAD];
  const unsigned column = i / QUAD, down = i % QUAD * 2, shift = 16 * (column % 2);
  const uint32_t above = row[down][column / 2] >> shift & 0xffff;
  return above | (row[down + 1][column / 2] >> shift) << 16;
}

EACH_WARP(movm) {
  uint32_t row[GROUPS][QUAD];
  struct sm_lanes t;
  memcpy(row, REG(u->s[0]), sizeof row);
  for (unsigned i = 0; i < SM_LANES; i++)
    t.l[i] = matrix_word(row, i, true);
  sm_blend(REG(u->d), t.l, m);
  return DONE;
}

/* LDSM: each matrix uses the addresses of eight lanes, one for each row. */
EACH_WARP(ldsm) {
  const unsigned matrices = u->ldsm.matrices, lanes = matrices * GROUPS;
  const uint32_t rows = lanes < SM_LANES ? m & ((1u << lanes) - 1) : m;
  const uint32_t bytes = size_bytes[u->memory.size];
  struct sm_lanes at;
  uint32_t high, bits;
  if (!rows)
    return DONE;
  addresses32(w, u, rows, at.l, &high, &bits);
  if (UNLIKELY((uint64_t)high + bytes > w->shared_bytes || bits & (bytes - 1)))
    return shared_fault(w, u, rows, at.l, bytes, false);
  struct sm_lanes out[QUAD];
  for (unsigned k = 0; k < matrices; k++) {
    uint32_t row[GROUPS][QUAD];
    for (unsigned g = 0; g < GROUPS; g++)
      memcpy(row[g], w->shared + at.l[k * GROUPS + g], sizeof row[g]);
    for (unsigned i = 0; i < SM_LANES; i++)
      out[k].l[i] = matrix_word(row, i, u->ldsm.transposed);
  }
  for (unsigned k = 0; k < matrices; k++)
    sm_blend(REG(u->d + k * SM_REG_BYTES), out[k].l, m);
  return DONE;
}
