/* CUB's device-wide reductions and histograms. The host functions are never run:
 * they make nvcc instantiate the kernels. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_for.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

struct twice {
  template <typename T>
  __device__ void operator()(T &a) const {
    a = a + a;
  }
};

template <typename T>
void reduce(T *in, T *out, int *keys, int count) {
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, in, out, count);
  cub::DeviceReduce::Min(nullptr, bytes, in, out, count);
  cub::DeviceReduce::ArgMax(nullptr, bytes, in, out, keys, count);
  cub::DeviceReduce::ReduceByKey(nullptr, bytes, keys, keys, in, out, keys, ::cuda::std::plus<>(),
                                 count);
  cub::DeviceSegmentedReduce::Max(nullptr, bytes, in, out, 1, keys, keys + 1);
  cub::DeviceFor::ForEachN(in, count, twice());
}

template void reduce(signed char *, signed char *, int *, int);
template void reduce(unsigned short *, unsigned short *, int *, int);
template void reduce(int *, int *, int *, int);
template void reduce(long long *, long long *, int *, int);
template void reduce(float *, float *, int *, int);
template void reduce(double *, double *, int *, int);
template void reduce(__half *, __half *, int *, int);
template void reduce(__nv_bfloat16 *, __nv_bfloat16 *, int *, int);

template <typename T, typename Level>
void histogram(T *samples, unsigned *bins, Level low, Level high, int count) {
  size_t bytes = 0;
  unsigned *three[3] = {bins, bins, bins};
  int levels[3] = {256, 256, 256};
  Level lows[3] = {low, low, low}, highs[3] = {high, high, high};
  cub::DeviceHistogram::HistogramEven(nullptr, bytes, samples, bins, 256, low, high, count);
  cub::DeviceHistogram::HistogramRange(nullptr, bytes, samples, bins, 256, &low, count);
  cub::DeviceHistogram::MultiHistogramEven<4, 3>(nullptr, bytes, samples, three, levels, lows, highs,
                                                 count);
}

template void histogram(unsigned char *, unsigned *, int, int, int);
template void histogram(unsigned short *, unsigned *, int, int, int);
template void histogram(float *, unsigned *, float, float, int);
template void histogram(double *, unsigned *, double, double, int);
