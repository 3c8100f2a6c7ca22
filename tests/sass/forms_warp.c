/* What the lanes of a warp do together: shuffles, votes, matches, reductions. */
#include <stddef.h>
#include <string.h>

#include "tests/sass/forms.h"

enum { LANES = 32 };

/* As the PTX manual writes it. p[0]: 0 up, 1 down, 2 bfly, 3 idx; p[1]: the
 * predicate is the result */
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

void forms_warp(void) {
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
