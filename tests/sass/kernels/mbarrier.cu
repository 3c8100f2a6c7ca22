// Barriers in shared memory (mbarrier): a warp produces, three consume, through a ring of
// four places; the producer writes what it computes, or copies asynchronously and lets
// the copies arrive. Also each operation alone.
typedef unsigned u32;
typedef unsigned long long u64;
__device__ u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void init(u64 *b, u32 count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count));
}
__device__ u64 arrive(u64 *b) {
  u64 state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(state) : "r"(shared_address(b)) : "memory");
  return state;
}
__device__ bool test(u64 *b, u64 state) {
  u32 done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(shared_address(b)), "l"(state) : "memory");
  return done;
}
__device__ bool test_parity(u64 *b, u32 parity) {
  u32 done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
      : "=r"(done) : "r"(shared_address(b)), "r"(parity) : "memory");
  return done;
}
__device__ u32 pending(u64 state) {
  u32 n;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(state));
  return n;
}
#define RING 4
#define CONSUMERS 96
template <bool COPIES> __device__ void pipeline(const u32 *in, u32 *out, int steps) {
  __shared__ __align__(16) u32 ring[RING][32];
  __shared__ u64 full[RING], empty[RING];
  if (threadIdx.x < RING) {
    init(&full[threadIdx.x], 32);
    init(&empty[threadIdx.x], CONSUMERS);
  }
  __syncthreads();
  int lane = threadIdx.x & 31;
  in += blockIdx.x * steps * 32;
  u32 sum = 0;
  for (int s = 0; s < steps; s++) {
    int place = s % RING;
    u32 parity = s / RING & 1;
    if (threadIdx.x < 32) {
      while (s >= RING && !test_parity(&empty[place], parity ^ 1))
        ;
      if (COPIES) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                         shared_address(&ring[place][lane])),
                     "l"(in + s * 32 + lane) : "memory");
        if (s & 1)
          asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                           shared_address(&full[place])) : "memory");
        else {
          asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(
                           shared_address(&full[place])) : "memory");
          arrive(&full[place]);
        }
      } else {
        ring[place][lane] = in[s * 32 + lane] * 3 + s;
        arrive(&full[place]);
      }
    } else {
      while (!test_parity(&full[place], parity))
        ;
      sum = sum * 5 + ring[place][(lane + threadIdx.x / 32) & 31];
      arrive(&empty[place]);
    }
  }
  if (threadIdx.x >= 32)
    out[blockIdx.x * CONSUMERS + threadIdx.x - 32] = sum;
}
extern "C" __global__ void produce(const u32 *in, u32 *out, int steps) {
  pipeline<false>(in, out, steps);
}
extern "C" __global__ void copy(const u32 *in, u32 *out, int steps) {
  pipeline<true>(in, out, steps);
}
// One thread, step by step: the results of pending_count and test_wait.
extern "C" __global__ void operations(u32 *out, int n) {
  __shared__ u64 b;
  u32 at = shared_address(&b);
  u64 s;
  init(&b, n);
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < n - 2; k++) {
      s = arrive(&b);
      *out++ = pending(s);
      *out++ = test(&b, s);
    }
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
                 : "=l"(s) : "r"(at), "r"(1) : "memory");
    *out++ = pending(s);
    *out++ = test_parity(&b, round & 1);
    if (round == 1) // later phases expect one arrival less
      asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(s) : "r"(at) : "memory");
    else
      s = arrive(&b);
    *out++ = pending(s);
    *out++ = test(&b, s);
    *out++ = test_parity(&b, round & 1);
    n -= round == 1;
  }
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
}
// All threads arrive at a generic address again and again; each round's sum needs all of the
// round before.
extern "C" __global__ void rounds(u32 *out, int n) {
  __shared__ u64 b;
  __shared__ u32 value[256];
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.b64 [%0], %1;" ::"l"(&b), "r"(blockDim.x));
  value[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int k = 0; k < n; k++) {
    u32 next = value[(threadIdx.x + 33) % blockDim.x] * 3 + value[threadIdx.x];
    for (int phase = 0; phase < 2; phase++) {
      u64 state;
      u32 done = 0;
      asm volatile("mbarrier.arrive.b64 %0, [%1];" : "=l"(state) : "l"(&b) : "memory");
      while (!done)
        asm volatile(
            "{ .reg .pred p; mbarrier.test_wait.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
            : "=r"(done) : "l"(&b), "l"(state) : "memory");
      if (phase == 0)
        value[threadIdx.x] = next;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = value[threadIdx.x];
}
