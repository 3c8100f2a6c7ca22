/* Counts of n bytes, four at a time: shared counters, then global ones. */
#define SIZE 256

extern "C" __global__ void __launch_bounds__(SIZE)
    histogram(const unsigned *__restrict__ in, unsigned *__restrict__ counts, int words) {
  __shared__ unsigned bins[256];
  int item = threadIdx.x;
  bins[item] = 0;
  __syncthreads();
  for (int i = blockIdx.x * SIZE + item; i < words; i += gridDim.x * SIZE) {
    unsigned word = in[i];
    atomicAdd(&bins[word & 255], 1);
    atomicAdd(&bins[word >> 8 & 255], 1);
    atomicAdd(&bins[word >> 16 & 255], 1);
    atomicAdd(&bins[word >> 24], 1);
  }
  __syncthreads();
  atomicAdd(&counts[item], bins[item]);
}
