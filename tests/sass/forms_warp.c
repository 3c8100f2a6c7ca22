/* Operations between the lanes of a warp: shuffles, votes, matches, reductions, by all lanes and by
 * those of two masks. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tests/sass/forms.h"

enum { LANES = 32 };

/* As the PTX manual defines it. p[0]: 0 up, 1 down, 2 bfly, 3 idx; p[1]: the predicate is the
 * result */
static void e_shfl(const struct form *f, const uint64_t (*in)[32], uint64_t *out) {
  for (int lane = 0; lane < LANES; lane++) {
    const int b = (int)in[1][lane] & 31, c = (int)in[2][lane] & 31;
    const int segment = (int)in[2][lane] >> 8 & 31;
    const int most = (lane & segment) | (c & ~segment), least = lane & segment;
    int j = 0;
    bool p = false;
    switch (f->p[0]) {
    case 0:
      j = lane - b, p = j >= most;
      break;
    case 1:
      j = lane + b, p = j <= most;
      break;
    case 2:
      j = lane ^ b, p = j <= most;
      break;
    case 3:
      j = least | (b & ~segment), p = j <= most;
      break;
    }
    out[lane] = f->p[1] ? p : in[0][p ? j : lane];
  }
}

/* p[0]: what */
static void e_vote(const struct form *f, const uint64_t (*in)[32], uint64_t *out) {
  uint32_t ballot = 0;
  for (int k = 0; k < LANES; k++)
    ballot |= (uint32_t)(in[0][k] != 0) << k;
  const uint32_t r[] = {ballot == ~0u, ballot != 0, ballot == ~0u || ballot == 0, ballot};
  for (int k = 0; k < LANES; k++)
    out[k] = r[f->p[0]];
}

/* p[0]: all */
static void e_match(const struct form *f, const uint64_t (*in)[32], uint64_t *out) {
  for (int k = 0; k < LANES; k++) {
    uint32_t m = 0;
    for (int j = 0; j < LANES; j++)
      m |= (uint32_t)(in[0][j] == in[0][k]) << j;
    out[k] = f->p[0] && m != ~0u ? 0 : m;
  }
}

/* p[0]: add min max and or xor, p[1]: signed */
static void e_redux(const struct form *f, const uint64_t (*in)[32], uint64_t *out) {
  int64_t r = 0;
  for (int k = 0; k < LANES; k++) {
    const int64_t v = f->p[1] ? (int32_t)in[0][k] : (int64_t)in[0][k];
    if (k == 0) {
      r = v;
      continue;
    }
    switch (f->p[0]) {
    case 0:
      r += v;
      break;
    case 1:
      r = v < r ? v : r;
      break;
    case 2:
      r = v > r ? v : r;
      break;
    case 3:
      r &= v;
      break;
    case 4:
      r |= v;
      break;
    case 5:
      r ^= v;
      break;
    }
  }
  for (int k = 0; k < LANES; k++)
    out[k] = (uint64_t)r;
}

static void add(struct form *f,
                void (*expect)(const struct form *, const uint64_t (*)[32], uint64_t *), int p0,
                int p1) {
  f->expect_warp = expect;
  f->p[0] = p0, f->p[1] = p1;
}

/* --- by masks --------------------------------------------------------------------- */

/* The sign of the last operand divides the lanes of a warp into two groups. p[2]: PREDICATED
 * excludes one of them. */
enum variant { TOGETHER, SPLIT, PREDICATED, VARIANTS };

static bool group_of(const struct form *f, const uint64_t (*in)[32], int lane) {
  return in[strlen(f->in) - 1][lane] >> 31 & 1;
}

static uint32_t lanes_of_group(const struct form *f, const uint64_t (*in)[32], int lane) {
  uint32_t mask = 0;
  for (int k = 0; k < LANES; k++)
    mask |= (uint32_t)(group_of(f, in, k) == group_of(f, in, lane)) << k;
  return mask;
}

/* p[3]: the operation between the lanes of a mask. The result is checked for each mask. */
enum masked { SHFL, VOTE, MATCH, REDUX, EXCHANGE, ACTIVE };

static bool right(const struct form *f, const uint64_t (*in)[32], const uint64_t *got, int lane) {
  const uint32_t mask = lanes_of_group(f, in, lane);
  uint64_t a[2][32], out[32];
  switch ((enum masked)f->p[3]) {
  case SHFL: { /* a value from a lane outside the mask is undefined */
    uint64_t from[3][32];
    memcpy(from, in, sizeof from);
    for (int k = 0; k < LANES; k++)
      from[0][k] = (uint64_t)k;
    e_shfl(f, (const uint64_t(*)[32])from, out);
    return !(mask >> out[lane] & 1) || got[lane] == in[0][out[lane]];
  }
  case ACTIVE: { /* the lanes of its branch, including itself, must all have the same result */
    const uint32_t m = (uint32_t)got[lane];
    for (int k = 0; k < LANES; k++)
      if (m >> k & 1 && got[k] != m)
        return false;
    return m >> lane & 1 && !(m & ~mask);
  }
  case EXCHANGE:
    return got[lane] == in[0][mask >> (lane ^ 1) & 1 ? lane ^ 1 : lane];
  case VOTE:
  case MATCH:
  case REDUX:
    break;
  }
  /* Lanes outside the mask get an operand of the mask. Sums, ballots and matches exclude them. */
  for (int k = 0; k < LANES; k++)
    a[0][k] = in[0][mask >> k & 1 ? k : lane];
  if (f->p[3] == VOTE) {
    e_vote(f, (const uint64_t(*)[32])a, out);
    return got[lane] == (f->p[0] == 3 ? out[lane] & mask : out[lane]);
  }
  if (f->p[3] == MATCH) {
    e_match(f, (const uint64_t(*)[32])a, out);
    return got[lane] == (out[lane] & mask);
  }
  if (f->p[0] == 0 || f->p[0] == 5) /* sums */
    for (int k = 0; k < LANES; k++)
      a[0][k] = mask >> k & 1 ? in[0][k] : 0;
  e_redux(f, (const uint64_t(*)[32])a, out);
  return got[lane] == (uint32_t)out[lane];
}

static uint32_t wrong_masked(const struct form *f, const uint64_t (*in)[32], const uint64_t *got) {
  uint32_t wrong = 0;
  for (int lane = 0; lane < LANES; lane++) {
    const bool left_out = f->p[2] == PREDICATED && !group_of(f, in, lane);
    wrong |= (uint32_t) !(left_out ? got[lane] == (uint32_t)in[0][lane] : right(f, in, got, lane))
             << lane;
  }
  return wrong;
}

/* operation: computes t from the operands and the mask m. */
static void masked(const char *in, const char *operation, enum masked what, int p0, int p1) {
  static const char *const bodies[VARIANTS] = {
      "@!q not.b32 m, m; %s",
      "@q bra yes; not.b32 m, m; %s bra.uni end; yes: %s end: bar.warp.sync -1;",
      "@!q bra end; %s end: bar.warp.sync -1;"};
  for (enum variant v = TOGETHER; v < VARIANTS; v++) {
    char body[400];
    /* Without a branch the other lanes do not wait at the warp's barriers. */
    if (v == TOGETHER && (what == EXCHANGE || what == ACTIVE))
      continue;
    snprintf(body, sizeof body, bodies[v], operation, operation);
    struct form *f = form_add(
        in, 'i',
        ".reg .pred p, q; .reg .b32 c, m, t, u; cvt.u32.u%d t, %%1; setp.lt.s32 q, %%%zu, 0; "
        "vote.sync.ballot.b32 m, q, -1; %s mov.b32 %%0, t;",
        *in == 'l' ? 64 : 32, strlen(in), body);
    f->wrong_lanes = wrong_masked;
    f->p[0] = p0, f->p[1] = p1, f->p[2] = (int)v, f->p[3] = what;
    if (what == EXCHANGE) {
      f->before = "__shared__ __align__(8) unsigned words[256];"
                  "const unsigned place = (unsigned)__cvta_generic_to_shared(words + "
                  "threadIdx.x);";
      f->further = "\"r\"(place), \"r\"(place ^ 4), \"r\"(1u << (i % 32 ^ 1))";
    }
  }
}

static void forms_masked(void) {
  char text[160];
  static const char *const shuffles[] = {"up", "down", "bfly", "idx"};
  for (int k = 0; k < 4; k++) {
    snprintf(text, sizeof text, "and.b32 c, %%3, 0x1f1f; shfl.sync.%s.b32 t, %%1, %%2, c, m;",
             shuffles[k]);
    masked("iii", text, SHFL, k, 0);
  }
  static const char *const votes[] = {"all.pred p, p", "any.pred p, p", "uni.pred p, p",
                                      "ballot.b32 t, p"};
  for (int k = 0; k < 4; k++) {
    snprintf(text, sizeof text, "setp.ne.u32 p, %%1, 0; vote.sync.%s, m;%s", votes[k],
             k < 3 ? " selp.b32 t, 1, 0, p;" : "");
    masked("pi", text, VOTE, k, 0);
  }
  for (int k = 0; k < 4; k++) {
    snprintf(text, sizeof text, "match.%s.sync.b%d t, %%1, m;", k & 1 ? "all" : "any",
             k & 2 ? 64 : 32);
    masked(k & 2 ? "li" : "pi", text, MATCH, k & 1, 0);
  }
  static const char *const sums[] = {"add.u32", "min.u32", "max.u32", "and.b32", "or.b32",
                                     "xor.b32", "add.s32", "min.s32", "max.s32"};
  for (int k = 0; k < 9; k++) {
    snprintf(text, sizeof text, "redux.sync.%s t, %%1, m;", sums[k]);
    masked("ii", text, REDUX, k % 6, k / 6);
  }
  masked("ii",
         "st.shared.u32 [%3], %1; bar.warp.sync m; and.b32 c, m, %5; setp.ne.u32 p, c, 0; selp.b32 "
         "c, %4, %3, p; ld.shared.u32 t, [c];",
         EXCHANGE, 0, 0);
  masked("ii", "activemask.b32 t;", ACTIVE, 0, 0);
}

/* A jump table with a target for each lane. */
static uint64_t e_table(const struct form *f, const uint64_t *in) {
  (void)f;
  const uint64_t a = in[0], targets[] = {a + 1, a * 3, ~a, a ^ 0x5555, a >> 3, 0 - a};
  return targets[in[1] % 6];
}

void forms_warp(void) {
  forms_masked();
  form_add("ii", 'i',
           ".reg .b32 n; targets: .branchtargets t0, t1, t2, t3, t4, t5; rem.u32 n, %%2, 6; "
           "brx.idx n, targets; t0: add.u32 %%0, %%1, 1; bra end; t1: mul.lo.u32 %%0, %%1, 3; bra "
           "end; t2: not.b32 %%0, %%1; bra end; t3: xor.b32 %%0, %%1, 0x5555; bra end; t4: shr.u32 "
           "%%0, %%1, 3; bra end; t5: neg.s32 %%0, %%1; end:")
      ->expect = e_table;
  static const char *const shuffles[] = {"up", "down", "bfly", "idx"};
  for (int k = 0; k < 4; k++) {
    add(form_add("iii", 'i',
                 ".reg .b32 c; and.b32 c, %%3, 0x1f1f; shfl.sync.%s.b32 %%0, %%1, %%2, c, -1;",
                 shuffles[k]),
        e_shfl, k, 0);
    add(form_add("iii", 'i',
                 ".reg .b32 t, c; .reg .pred p; and.b32 c, %%3, 0x1f1f; shfl.sync.%s.b32 t|p, %%1, "
                 "%%2, c, -1; selp.u32 %%0, 1, 0, p;",
                 shuffles[k]),
        e_shfl, k, 1);
  }
  static const char *const votes[] = {"all", "any", "uni"};
  for (int k = 0; k < 3; k++)
    add(form_add("p", 'i',
                 ".reg .pred p, q; setp.ne.u32 p, %%1, 0; vote.sync.%s.pred q, p, -1; selp.u32 "
                 "%%0, 1, 0, q;",
                 votes[k]),
        e_vote, k, 0);
  add(form_add("p", 'i', ".reg .pred p; setp.ne.u32 p, %%1, 0; vote.sync.ballot.b32 %%0, p, -1;"),
      e_vote, 3, 0);
  for (int bits = 32; bits <= 64; bits += 32) {
    const char kind[] = {bits == 32 ? 'i' : 'l', 0};
    add(form_add(kind, 'i', "match.any.sync.b%d %%0, %%1, -1;", bits), e_match, 0, 0);
    add(form_add(kind, 'i', "match.all.sync.b%d %%0, %%1, -1;", bits), e_match, 1, 0);
  }
  static const char *const sums[] = {"add", "min", "max", "and", "or", "xor"};
  for (int k = 0; k < 6; k++)
    for (int s = 0; s < (k < 3 ? 2 : 1); s++)
      add(form_add("i", 'i', "redux.sync.%s.%s %%0, %%1, -1;", sums[k],
                   k < 3 ? s ? "s32" : "u32" : "b32"),
          e_redux, k, s);
}
