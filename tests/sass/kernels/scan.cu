// Inclusive scan of any length in one pass: blocks read the sums of those
// before them, with flags in global memory.
struct state {
  unsigned flag, sum, prefix, pad;
};
extern "C" __global__ void scan(const unsigned *in, unsigned *out, volatile state *blocks,
                                unsigned *ticket, unsigned n) {
  __shared__ unsigned warp_sum[32], number, before;
  unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
  if (t == 0)
    number = atomicAdd(ticket, 1);
  __syncthreads();
  unsigned b = number, i = b * blockDim.x + t, x = i < n ? in[i] : 0;
  for (unsigned d = 1; d < 32; d *= 2) {
    unsigned y = __shfl_up_sync(~0u, x, d);
    x += lane >= d ? y : 0;
  }
  if (lane == 31)
    warp_sum[warp] = x;
  __syncthreads();
  if (warp == 0) {
    unsigned s = lane < blockDim.x / 32 ? warp_sum[lane] : 0;
    for (unsigned d = 1; d < 32; d *= 2) {
      unsigned y = __shfl_up_sync(~0u, s, d);
      s += lane >= d ? y : 0;
    }
    warp_sum[lane] = s;
  }
  __syncthreads();
  x += warp ? warp_sum[warp - 1] : 0;
  if (t == blockDim.x - 1) {
    blocks[b].sum = x;
    __threadfence();
    blocks[b].flag = 1;
    unsigned sum = 0;
    for (int k = (int)b - 1; k >= 0;) {
      unsigned flag = blocks[k].flag;
      if (flag == 0)
        continue;
      __threadfence();
      if (flag == 2) {
        sum += blocks[k].prefix;
        break;
      }
      sum += blocks[k--].sum;
    }
    blocks[b].prefix = sum + x;
    __threadfence();
    blocks[b].flag = 2;
    before = sum;
  }
  __syncthreads();
  if (i < n)
    out[i] = x + before;
}
