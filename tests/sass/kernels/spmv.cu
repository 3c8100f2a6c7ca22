// y = A x, A in compressed rows: a warp for each row, sums by shuffles; in float and double.
template <typename T>
__device__ void spmv_of(const int *start, const int *column, const T *value, const T *x, T *y,
                        int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= rows)
    return;
  T sum = 0;
  for (int k = start[row] + lane; k < start[row + 1]; k += 32)
    sum = fma(value[k], __ldg(&x[column[k]]), sum);
  for (int d = 16; d; d /= 2)
    sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0)
    y[row] = sum;
}
extern "C" __global__ void spmv(const int *s, const int *c, const float *v, const float *x,
                                float *y, int n) {
  spmv_of(s, c, v, x, y, n);
}
extern "C" __global__ void spmv_double(const int *s, const int *c, const double *v,
                                       const double *x, double *y, int n) {
  spmv_of(s, c, v, x, y, n);
}
