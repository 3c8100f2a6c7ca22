// Bitonic sort of a block in shared memory, and a radix sort of 4 bits a pass
// whose counts are made by ballots.
extern "C" __global__ void bitonic(unsigned *v) {
  extern __shared__ unsigned s[];
  unsigned t = threadIdx.x, n = blockDim.x, *block = v + blockIdx.x * n;
  s[t] = block[t];
  for (unsigned size = 2; size <= n; size *= 2)
    for (unsigned step = size / 2; step; step /= 2) {
      __syncthreads();
      unsigned other = t ^ step;
      if (other > t) {
        bool up = (t & size) == 0;
        unsigned a = s[t], b = s[other];
        if ((a > b) == up)
          s[t] = b, s[other] = a;
      }
    }
  __syncthreads();
  block[t] = s[t];
}

extern "C" __global__ void radix(unsigned *v, unsigned n) {
  __shared__ unsigned s[512], count[16][17], start[16];
  unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
  unsigned key = t < n ? v[t] : ~0u;
  for (int shift = 0; shift < 32; shift += 4) {
    unsigned digit = key >> shift & 15, rank = 0;
    for (unsigned d = 0; d < 16; d++) {
      unsigned same = __ballot_sync(~0u, digit == d);
      if (digit == d)
        rank = __popc(same & ((1u << lane) - 1));
      if (lane == 0)
        count[d][warp] = __popc(same);
    }
    __syncthreads();
    if (t < 16) {
      unsigned sum = 0;
      for (unsigned w = 0; w < blockDim.x / 32; w++) {
        unsigned c = count[t][w];
        count[t][w] = sum;
        sum += c;
      }
      unsigned before = sum;
      for (int d = 1; d < 16; d *= 2) {
        unsigned x = __shfl_up_sync(0xffffu, before, d, 16);
        if (t >= d)
          before += x;
      }
      start[t] = before - sum;
    }
    __syncthreads();
    s[start[digit] + count[digit][warp] + rank] = key;
    __syncthreads();
    key = s[t];
    __syncthreads();
  }
  if (t < n)
    v[t] = key;
}
