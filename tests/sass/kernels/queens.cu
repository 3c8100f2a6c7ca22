// Solutions of the n queens problem, with a thread for each choice in the first two rows: once by
// recursion, once with its own stack in local memory.
__device__ __noinline__ unsigned place(unsigned all, unsigned cols, unsigned left, unsigned right) {
  if (cols == all)
    return 1;
  unsigned sum = 0;
  for (unsigned open = all & ~(cols | left | right); open;) {
    unsigned bit = open & -open;
    open ^= bit;
    sum += place(all, cols | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return sum;
}
__device__ bool first_rows(int n, unsigned *cols, unsigned *left, unsigned *right) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= (unsigned)(n * n))
    return false;
  unsigned a = 1u << t / n, b = 1u << t % n;
  unsigned l = a << 1, r = a >> 1;
  if (b & (a | l | r))
    return false;
  *cols = a | b, *left = (l | b) << 1, *right = (r | b) >> 1;
  return true;
}
extern "C" __global__ void queens_recursive(int n, unsigned *sum) {
  unsigned c, l, r;
  if (first_rows(n, &c, &l, &r))
    atomicAdd(sum, place((1u << n) - 1, c, l, r));
}
extern "C" __global__ void queens_stack(int n, unsigned *sum) {
  unsigned c[32], l[32], r[32], open[32], all = (1u << n) - 1, found = 0;
  int at = 0;
  bool any = first_rows(n, &c[0], &l[0], &r[0]);
  if (any) {
    open[0] = all & ~(c[0] | l[0] | r[0]);
    while (at >= 0) {
      if (!open[at]) {
        at--;
        continue;
      }
      unsigned bit = open[at] & -open[at];
      open[at] ^= bit;
      c[at + 1] = c[at] | bit, l[at + 1] = (l[at] | bit) << 1, r[at + 1] = (r[at] | bit) >> 1;
      if (c[at + 1] == all) {
        found++;
        continue;
      }
      at++;
      open[at] = all & ~(c[at] | l[at] | r[at]);
    }
  }
  for (int d = 16; d; d /= 2)
    found += __shfl_xor_sync(~0u, found, d);
  if ((threadIdx.x & 31) == 0)
    atomicAdd(sum, found);
}
