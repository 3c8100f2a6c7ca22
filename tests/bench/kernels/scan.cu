/* Inclusive sums of each block's 512 integers (Blelloch's tree). */
#define SIZE 256

extern "C" __global__ void __launch_bounds__(SIZE)
    scan(const unsigned *__restrict__ in, unsigned *__restrict__ out) {
  __shared__ unsigned tree[2 * SIZE];
  int item = threadIdx.x;
  size_t base = (size_t)blockIdx.x * (2 * SIZE);
  unsigned a = in[base + item], b = in[base + SIZE + item];
  tree[item] = a;
  tree[SIZE + item] = b;
  int offset = 1;
  for (int d = SIZE; d; d /= 2) {
    __syncthreads();
    if (item < d)
      tree[offset * (2 * item + 2) - 1] += tree[offset * (2 * item + 1) - 1];
    offset *= 2;
  }
  if (item == 0)
    tree[2 * SIZE - 1] = 0;
  for (int d = 1; d <= SIZE; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (item < d) {
      int left = offset * (2 * item + 1) - 1, right = offset * (2 * item + 2) - 1;
      unsigned sum = tree[left];
      tree[left] = tree[right];
      tree[right] += sum;
    }
  }
  __syncthreads();
  out[base + item] = tree[item] + a;
  out[base + SIZE + item] = tree[SIZE + item] + b;
}
