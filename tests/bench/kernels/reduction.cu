/* Sums of n floats, one for each block: each thread adds up its part, the block
 * the sums, in a tree in shared memory. */
#define SIZE 256

extern "C" __global__ void __launch_bounds__(SIZE)
    reduction(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ float part[SIZE];
  int item = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * SIZE + item; i < n; i += gridDim.x * SIZE)
    sum += in[i];
  part[item] = sum;
  for (int step = SIZE / 2; step; step /= 2) {
    __syncthreads();
    if (item < step)
      part[item] += part[item + step];
  }
  if (item == 0)
    sums[blockIdx.x] = part[0];
}
