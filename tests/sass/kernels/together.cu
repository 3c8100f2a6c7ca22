// Work-items that wait for each other: named barriers, locks, queues between
// blocks, atomics that all blocks contend for; recursion that diverges.
typedef unsigned long long u64;
#define K extern "C" __global__ void
#define T (blockIdx.x * blockDim.x + threadIdx.x)

// Halves of the block have a barrier each, and different numbers of rounds.
K named_barriers(unsigned *out) {
  __shared__ unsigned word[256];
  unsigned t = threadIdx.x, half = t / 128, x = t;
  for (int round = 0; round < (half ? 9 : 5); round++) {
    word[t] = x;
    asm volatile("bar.sync %0, 128;" ::"r"(half + 1) : "memory");
    x = x * 3 + word[half * 128 + (t + 37) % 128];
    asm volatile("bar.sync %0, 128;" ::"r"(half + 1) : "memory");
  }
  out[t] = x;
}

// in: a bit for each of the three reductions.
K barrier_reductions(const unsigned *in, unsigned *out) {
  unsigned v = in[T], id = threadIdx.x / 64 + 3, r, a, o;
  asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, %2, 64, p;}"
               : "=r"(r) : "r"(v & 1), "r"(id));
  asm volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.and.pred q, %2, 64, p; selp.u32 %0, 1, 0, q;}"
               : "=r"(a) : "r"(v & 2), "r"(id));
  asm volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.or.pred q, %2, 64, p; selp.u32 %0, 1, 0, q;}"
               : "=r"(o) : "r"(v & 4), "r"(id));
  out[T] = r | a << 8 | o << 9;
}

// A barrier that lanes of one warp reach on different branches, a second after some
// of them have ended, and a third in a loop whose length differs between warps.
K diverged_barriers(unsigned *out) {
  __shared__ unsigned word[96];
  unsigned t = threadIdx.x, x;
  word[t] = t * t;
  if (t % 3) {
    asm volatile("barrier.sync 7;" ::: "memory");
    x = word[95 - t] + 1;
  } else {
    word[t] += 5;
    asm volatile("barrier.sync 7;" ::: "memory");
    x = word[t ^ 1] * 3;
  }
  out[t] = x;
  asm volatile("barrier.sync 7;" ::: "memory");
  if (t % 5 == 0)
    return;
  word[t] = x;
  __syncthreads();
  x += word[t / 5 * 5 + 1 + t % 4];
  for (unsigned k = 0; k < t / 32 + 1; k++) {
    asm volatile("bar.warp.sync %0;" ::"r"(t / 32 == 1 ? 0xef7bdef7u : t / 32 == 0 ? 0xbdef7bdeu : 0x7bdef7bdu));
    x = x * 3 + k;
  }
  out[t] = x;
}

// One half of the block fills a buffer, the other adds it up. Neither waits where
// it only signals the other half.
K produce_consume(const unsigned *in, unsigned *out, int rounds) {
  __shared__ unsigned buffer[128];
  const unsigned t = threadIdx.x % 128;
  unsigned sum = 0;
  if (threadIdx.x < 128) {
    for (int k = 0; k < rounds; k++) {
      asm volatile("bar.sync 1, 256;" ::: "memory");
      buffer[t] = in[k * 128 + t];
      asm volatile("bar.arrive 2, 256;" ::: "memory");
    }
  } else {
    asm volatile("bar.arrive 1, 256;" ::: "memory");
    for (int k = 0; k < rounds; k++) {
      asm volatile("bar.sync 2, 256;" ::: "memory");
      sum = sum * 5 + buffer[(t * 3 + k) % 128];
      if (k + 1 < rounds)
        asm volatile("bar.arrive 1, 256;" ::: "memory");
    }
    out[t] = sum;
  }
}

struct totals {
  unsigned add, min, and_, or_, xor_, inc, dec, exch, got, cas, tickets, histogram[16];
  int max;
  float f;
  u64 wide, wide_max;
  double d;
  unsigned halves;
};

// All lanes of all blocks change the same words. marks: a word for each ticket
K contention(struct totals *o, unsigned *marks, int rounds) {
  __shared__ unsigned bins[16], sum;
  __shared__ float fsum;
  if (threadIdx.x < 16)
    bins[threadIdx.x] = 0, sum = 0, fsum = 0;
  __syncthreads();
  for (int k = 0; k < rounds; k++) {
    unsigned v = (T * rounds + k) * 2654435761u;
    atomicAdd(&o->add, v), atomicMin(&o->min, v), atomicMax(&o->max, (int)v);
    atomicAnd(&o->and_, v | 0xffff), atomicOr(&o->or_, 1u << v % 31), atomicXor(&o->xor_, v);
    atomicInc(&o->inc, 1000), atomicDec(&o->dec, 777);
    atomicXor(&o->got, atomicExch(&o->exch, v));
    atomicAdd(&o->f, 1.0f), atomicAdd(&o->d, 0.25);
    atomicAdd(&o->wide, (u64)v << 7), atomicMax(&o->wide_max, (u64)v << 20);
    for (unsigned old = o->cas, seen;; old = seen)
      if ((seen = atomicCAS(&o->cas, old, old + (v & 7))) == old)
        break;
    atomicAdd(&marks[atomicAdd(&o->tickets, 1)], 1);
    atomicAdd(&bins[v >> 28], 1), atomicAdd(&sum, v & 3), atomicAdd(&fsum, 0.5f);
  }
  __syncthreads();
  if (threadIdx.x < 16)
    atomicAdd(&o->histogram[threadIdx.x], bins[threadIdx.x]);
  if (threadIdx.x == 0) {
    unsigned one = 0x40003c00; // 2, 1
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(&o->halves), "r"(one) : "memory");
    atomicAdd(&o->f, fsum), atomicAdd(&o->wide, sum);
  }
}

// A queue from the first block to the second. ring: 4 places of a block's width
K queue(volatile unsigned *head, volatile unsigned *tail, unsigned *ring, unsigned *out, int items) {
  unsigned sum = 0;
  for (unsigned k = 0; k < items; k++) {
    if (threadIdx.x == 0)
      while (blockIdx.x == 0 ? k - *tail >= 4 : *head == k)
        __nanosleep(100);
    __syncthreads();
    __threadfence();
    volatile unsigned *place = ring + k % 4 * blockDim.x;
    if (blockIdx.x == 0)
      place[threadIdx.x] = k * k + threadIdx.x;
    else
      sum = sum * 7 + place[(threadIdx.x + k) % blockDim.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      *(blockIdx.x == 0 ? head : tail) = k + 1;
  }
  if (blockIdx.x)
    out[threadIdx.x] = sum;
}

// A lock that is taken in order, by lanes of one warp and of others.
K ticket_lock(unsigned *ticket, volatile unsigned *serving, volatile unsigned *order) {
  const unsigned mine = atomicAdd(ticket, 1);
  while (*serving != mine)
    __nanosleep(20);
  const unsigned n = order[0];
  order[n + 1] = mine;
  order[0] = n + 1;
  __threadfence();
  *serving = mine + 1;
}

// Functions that call each other by pointers, to a different depth in each lane.
typedef unsigned (*step)(unsigned, unsigned);
__device__ unsigned walk(unsigned n, unsigned depth);
__device__ __noinline__ unsigned left(unsigned n, unsigned depth) { return walk(n / 2, depth + 1) * 3; }
__device__ __noinline__ unsigned right(unsigned n, unsigned depth) { return walk(n / 3, depth + 1) + n; }
__device__ __noinline__ unsigned both(unsigned n, unsigned depth) {
  return walk(n / 4, depth + 2) ^ walk(n / 5, depth + 1);
}
__device__ step steps[3] = {left, right, both};
__device__ __noinline__ unsigned walk(unsigned n, unsigned depth) {
  return n < 2 ? depth : steps[n % 3](n, depth) + depth;
}
K recursion(unsigned *v) { v[T] = walk(v[T], 0); }
