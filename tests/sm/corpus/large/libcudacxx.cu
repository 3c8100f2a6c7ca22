/* The C++ library for device code, and cooperative groups. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/tuple>

namespace cg = cooperative_groups;

template <typename T, cuda::thread_scope Scope>
__global__ void atomics(T *data, T *out) {
  cuda::atomic_ref<T, Scope> cell(data[threadIdx.x & 3]);
  T seen = cell.load(cuda::memory_order_acquire);
  cell.store(seen + T(1), cuda::memory_order_release);
  out[threadIdx.x] = cell.fetch_add(seen, cuda::memory_order_relaxed);
  out[threadIdx.x] += cell.exchange(seen, cuda::memory_order_seq_cst);
  while (!cell.compare_exchange_weak(seen, seen + T(2), cuda::memory_order_acq_rel))
    out[threadIdx.x] += T(1);
  cell.fetch_max(seen, cuda::memory_order_release);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, Scope);
}

#define ATOMICS(T)                                                                 \
  template __global__ void atomics<T, cuda::thread_scope_block>(T *, T *);         \
  template __global__ void atomics<T, cuda::thread_scope_device>(T *, T *);        \
  template __global__ void atomics<T, cuda::thread_scope_system>(T *, T *);        \
  template __global__ void atomics<T, cuda::thread_scope_thread>(T *, T *);
ATOMICS(signed char)
ATOMICS(unsigned short)
ATOMICS(int)
ATOMICS(unsigned)
ATOMICS(long long)
ATOMICS(float)
ATOMICS(double)

template <typename T>
__global__ void complex_numbers(const cuda::std::complex<T> *in, cuda::std::complex<T> *out) {
  cuda::std::complex<T> a = in[threadIdx.x], b = in[threadIdx.x + 1];
  out[0] = a * b / (a - b);
  out[1] = cuda::std::exp(a) + cuda::std::sqrt(b);
  out[2] = cuda::std::pow(a, b) - cuda::std::log(a);
  out[3] = cuda::std::sin(a) * cuda::std::tanh(b);
  out[4] = cuda::std::acos(a) + cuda::std::atanh(b);
  out[5] = cuda::std::polar(cuda::std::abs(a), cuda::std::arg(b));
}
template __global__ void complex_numbers(const cuda::std::complex<float> *, cuda::std::complex<float> *);
template __global__ void complex_numbers(const cuda::std::complex<double> *,
                                         cuda::std::complex<double> *);

template <typename T>
__global__ void mathematics(const T *in, T *out) {
  T x = in[threadIdx.x], y = in[threadIdx.x + 32];
  int exponent;
  out[0] = cuda::std::fma(x, y, cuda::std::hypot(x, y));
  out[1] = cuda::std::remainder(x, y) + cuda::std::fmod(x, y);
  out[2] = cuda::std::lgamma(x) + cuda::std::tgamma(y) + cuda::std::erf(x);
  out[3] = cuda::std::frexp(x, &exponent) + cuda::std::ldexp(y, exponent);
  out[4] = cuda::std::nextafter(x, y) + cuda::std::cbrt(x) + cuda::std::expm1(y);
  out[5] = cuda::std::asinh(x) + cuda::std::log1p(y) + cuda::std::atan2(x, y);
  out[6] = (T)cuda::std::lround(x) + (T)cuda::std::llrint(y) + cuda::std::trunc(x);
  out[7] = cuda::std::pow(x, y) + cuda::std::exp2(x) + cuda::std::log10(y);
}
template __global__ void mathematics(const float *, float *);
template __global__ void mathematics(const double *, double *);

template <typename T>
__global__ void bits(const T *in, T *out) {
  T x = in[threadIdx.x], y = in[threadIdx.x + 32];
  out[0] = cuda::std::popcount(x) + cuda::std::countl_zero(y) + cuda::std::countr_one(x);
  out[1] = cuda::std::rotl(x, (int)y) ^ cuda::std::rotr(y, (int)x);
  out[2] = cuda::std::bit_ceil(x) | cuda::std::bit_floor(y);
  out[3] = cuda::std::gcd(x, y) + cuda::std::lcm(x, (T)7);
  out[4] = cuda::std::midpoint(x, y);
}
template __global__ void bits(const unsigned char *, unsigned char *);
template __global__ void bits(const unsigned *, unsigned *);
template __global__ void bits(const unsigned long long *, unsigned long long *);

template <int Size, typename T>
__global__ void groups(T *data) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<Size>(block);
  T x = data[block.thread_rank()];
  x = cg::reduce(tile, x, cg::plus<T>()) + cg::inclusive_scan(tile, x);
  x = x + tile.shfl_xor(x, 1) + tile.shfl_up(x, 2);
  if (tile.any(x > T(3))) {
    auto active = cg::coalesced_threads();
    x = x + cg::reduce(active, x, cg::greater<T>()) + (T)active.num_threads();
  }
  auto parts = cg::labeled_partition(tile, (int)x & 3);
  x = x + (T)parts.thread_rank() + (T)tile.match_any((int)x);
  block.sync();
  data[block.thread_rank()] = x;
}
template __global__ void groups<32>(int *);
template __global__ void groups<8>(unsigned *);
template __global__ void groups<4>(float *);
template __global__ void groups<16>(double *);
template __global__ void groups<2>(long long *);

template <int Stages, typename T>
__global__ void staged(const T *in, T *out, int rounds) {
  __shared__ T buffer[Stages][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  T sum = T();
  for (int next = 0, round = 0; round < rounds; round++) {
    for (; next < rounds && next < round + Stages; next++) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffer[next % Stages], in + next * 256,
                         cuda::aligned_size_t<16>(sizeof(buffer[0])), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum = sum + buffer[round % Stages][threadIdx.x];
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}
template __global__ void staged<2>(const int *, int *, int);
template __global__ void staged<4>(const double *, double *, int);

__global__ void barriers(const int *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ cuda::binary_semaphore<cuda::thread_scope_block> semaphore;
  __shared__ int words[256];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    init(&barrier, block.size());
    new (&semaphore) cuda::binary_semaphore<cuda::thread_scope_block>(1);
  }
  block.sync();
  cuda::memcpy_async(block, words, in, sizeof(words), barrier);
  auto token = barrier.arrive();
  barrier.wait(std::move(token));
  semaphore.acquire();
  words[0]++;
  semaphore.release();
  barrier.arrive_and_wait();
  out[block.thread_rank()] = words[block.thread_rank()];
}
