/* Work-items that wait for each other (kernels/together.cu), on several host threads at once. The
 * test checks results that do not depend on the order. */
#include <stdio.h>
#include <string.h>

#include "tests/sass/kernels.h"

enum { THREADS = 3 };

static struct launch at_once(struct launch launch) {
  launch.threads = THREADS;
  return launch;
}

static bool test_named_barriers(struct module *m) {
  enum { N = 256, HALF = 128, BLOCKS = 4 };
  struct buffer out = buffer(m, N * 4), in = buffer(m, N * BLOCKS * 4),
                results = buffer(m, N * BLOCKS * 4);
  u32 x[N], next[N];
  for (u32 t = 0; t < N; t++)
    x[t] = t;
  for (u32 round = 0; round < 9; round++) {
    for (u32 t = 0; t < N; t++)
      next[t] = x[t] * 3 + x[t / HALF * HALF + (t + 37) % HALF];
    for (u32 t = 0; t < N; t++)
      x[t] = t < HALF && round >= 5 ? x[t] : next[t];
  }
  bool good = run(m, "named_barriers", GRID(1, 1, N, 1), "p", out) &&
              check("named barriers", !memcmp(out.host, x, sizeof x));

  u32 *bits = in.host;
  for (u32 k = 0; k < N * BLOCKS; k++) /* mostly the same bits within a group of 64 */
    bits[k] = (k / 64 % 3 == 0 ? 7 : k / 64 % 3 == 1 ? 1 : 2) ^ (random64() % 100 == 0 ? 7 : 0);
  good = run(m, "barrier_reductions", at_once(GRID(BLOCKS, 1, N, 1)), "pp", in, results) && good;
  for (u32 k = 0; k < N * BLOCKS; k += 64) {
    u32 count = 0, all = 1, any = 0;
    for (u32 j = k; j < k + 64; j++)
      count += bits[j] & 1, all &= bits[j] >> 1 & 1, any |= bits[j] >> 2 & 1;
    for (u32 j = k; j < k + 64; j++)
      if (((u32 *)results.host)[j] != (count | all << 8 | any << 9))
        return check("barrier reductions", false);
  }
  return good;
}

static bool test_diverged_barriers(struct module *m) {
  enum { N = 96 };
  struct buffer out = buffer(m, N * 4);
  u32 word[N], x[N];
  for (u32 t = 0; t < N; t++)
    word[t] = t * t + (t % 3 ? 0 : 5);
  for (u32 t = 0; t < N; t++)
    x[t] = t % 3 ? word[N - 1 - t] + 1 : word[t ^ 1] * 3;
  memcpy(word, x, sizeof x);
  for (u32 t = 0; t < N; t++) {
    if (t % 5 == 0)
      continue;
    x[t] += word[t / 5 * 5 + 1 + t % 4];
    for (u32 k = 0; k < t / 32 + 1; k++)
      x[t] = x[t] * 3 + k;
  }
  return run(m, "diverged_barriers", GRID(1, 1, N, 1), "p", out) &&
         check("diverged barriers", !memcmp(out.host, x, sizeof x));
}

static bool test_produce_consume(struct module *m) {
  enum { N = 128, ROUNDS = 20 };
  struct buffer in = buffer(m, N * ROUNDS * 4), out = buffer(m, N * 4);
  u32 *v = in.host, want[N] = {0};
  for (int k = 0; k < N * ROUNDS; k++)
    v[k] = (u32)random64();
  for (int k = 0; k < ROUNDS; k++)
    for (int t = 0; t < N; t++)
      want[t] = want[t] * 5 + v[k * N + (t * 3 + k) % N];
  return run(m, "produce_consume", GRID(1, 1, 2 * N, 1), "ppi", in, out, (u32)ROUNDS) &&
         check("producers and consumers of a block", !memcmp(out.host, want, sizeof want));
}

/* Must equal the struct in together.cu. */
struct totals {
  u32 add, min, and, or, xor, inc, dec, exch, got, cas, tickets, histogram[16];
  int32_t max;
  float f;
  u64 wide, wide_max;
  double d;
  u32 halves;
};

static bool test_contention(struct module *m) {
  enum { BLOCKS = 12, BLOCK = 160, ROUNDS = 4, N = BLOCKS * BLOCK * ROUNDS };
  struct buffer out = buffer(m, sizeof(struct totals)), marks = buffer(m, N * 4);
  struct totals *got = out.host;
  struct totals want = {.min = ~0u, .and = ~0u, .max = INT32_MIN};
  got->min = got->and = ~0u, got->max = INT32_MIN;
  u32 given = 0, dec = 0;
  for (u32 k = 0; k < N; k++) {
    const u32 v = k * 2654435761u;
    want.add += v, want.xor ^= v, want.or |= 1u << v % 31, want.and &= v | 0xffff;
    want.min = v < want.min ? v : want.min;
    want.max = (int32_t)v > want.max ? (int32_t)v : want.max;
    want.inc = want.inc >= 1000 ? 0 : want.inc + 1;
    dec = dec == 0 || dec > 777 ? 777 : dec - 1;
    given ^= v;
    want.cas += v & 7;
    want.wide += ((u64)v << 7) + (v & 3);
    want.wide_max = (u64)v << 20 > want.wide_max ? (u64)v << 20 : want.wide_max;
    want.histogram[v >> 28]++;
    want.f += 1.5f, want.d += 0.25;
  }
  want.dec = dec, want.tickets = N;
  want.halves = 0x4e004a00; /* 24, 12 */
  if (!run(m, "contention", at_once(GRID(BLOCKS, 1, BLOCK, 1)), "ppi", out, marks, (u32)ROUNDS))
    return false;
  /* Every value except the last has been exchanged out once. */
  bool good = check("exchanges", (got->got ^ got->exch) == given);
  want.exch = got->exch, want.got = got->got;
  good = check("totals", !memcmp(got, &want, sizeof want)) && good;
  for (u32 k = 0; k < N; k++)
    if (((u32 *)marks.host)[k] != 1)
      return check("tickets", false);
  return good;
}

static bool test_queue(struct module *m) {
  enum { N = 64, ITEMS = 30 };
  struct buffer head = buffer(m, 4), tail = buffer(m, 4), ring = buffer(m, 4 * N * 4),
                out = buffer(m, N * 4);
  u32 want[N] = {0};
  for (u32 k = 0; k < ITEMS; k++)
    for (u32 t = 0; t < N; t++)
      want[t] = want[t] * 7 + k * k + (t + k) % N;
  return run(m, "queue", at_once(GRID(2, 1, N, 1)), "ppppi", head, tail, ring, out, (u32)ITEMS) &&
         check("queue between blocks", !memcmp(out.host, want, sizeof want));
}

static bool test_ticket_lock(struct module *m) {
  enum { N = 2 * 64 };
  struct buffer ticket = buffer(m, 4), serving = buffer(m, 4), order = buffer(m, (N + 1) * 4);
  if (!run(m, "ticket_lock", at_once(GRID(2, 1, 64, 1)), "ppp", ticket, serving, order))
    return false;
  const u32 *p = order.host;
  bool good = p[0] == N;
  for (u32 k = 0; k < N; k++)
    good = good && p[k + 1] == k;
  return check("ticket lock", good);
}

static u32 walk(u32 n, u32 depth) {
  if (n < 2)
    return depth;
  const u32 below = n % 3 == 0   ? walk(n / 2, depth + 1) * 3
                    : n % 3 == 1 ? walk(n / 3, depth + 1) + n
                                 : walk(n / 4, depth + 2) ^ walk(n / 5, depth + 1);
  return below + depth;
}

static bool test_recursion(struct module *m) {
  enum { N = 256 };
  struct buffer v = buffer(m, N * 4);
  u32 want[N];
  for (u32 k = 0; k < N; k++) {
    ((u32 *)v.host)[k] = (u32)(random64() >> 32) >> k % 29;
    want[k] = walk(((u32 *)v.host)[k], 0);
  }
  return run(m, "recursion", GRID(2, 1, N / 2, 1), "p", v) &&
         check("recursion", !memcmp(v.host, want, sizeof want));
}

bool test_together(struct module *m) {
  bool good = test_named_barriers(m);
  good = test_diverged_barriers(m) && good;
  good = test_produce_consume(m) && good;
  good = test_contention(m) && good;
  good = test_queue(m) && good;
  good = test_ticket_lock(m) && good;
  return test_recursion(m) && good;
}
