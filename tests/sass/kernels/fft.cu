// Complex FFT of 1024 points in a block, radix 2 in shared memory after a bit
// reversal; also in double.
template <typename T> struct pair_of { T x, y; };
template <typename T> __device__ void fft_of(pair_of<T> *v, T *s, int sign) {
  const int n = 1024, t = threadIdx.x;
  pair_of<T> *p = (pair_of<T> *)s;
  for (int i = t; i < n; i += blockDim.x)
    p[__brev(i) >> 22] = v[blockIdx.x * n + i];
  for (int half = 1; half < n; half *= 2) {
    __syncthreads();
    for (int i = t; i < n / 2; i += blockDim.x) {
      int k = i & (half - 1), at = (i - k) * 2 + k;
      T si, co;
      sincospi((T)(sign * k) / half, &si, &co);
      pair_of<T> a = p[at], b = p[at + half];
      T re = b.x * co - b.y * si, im = b.x * si + b.y * co;
      p[at].x = a.x + re, p[at].y = a.y + im;
      p[at + half].x = a.x - re, p[at + half].y = a.y - im;
    }
  }
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x)
    v[blockIdx.x * n + i] = p[i];
}
extern "C" __global__ void fft(pair_of<float> *v, int sign) {
  __shared__ float s[2048];
  fft_of<float>(v, s, sign);
}
extern "C" __global__ void fft_double(pair_of<double> *v, int sign) {
  __shared__ double s[2048];
  fft_of<double>(v, s, sign);
}
