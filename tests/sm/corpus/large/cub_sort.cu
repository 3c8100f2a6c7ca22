/* CUB's device-wide sorts. The host functions are never run: they make nvcc
 * instantiate the kernels. */
#include <cuda_fp16.h>

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

struct less {
  template <typename T>
  __device__ bool operator()(const T &a, const T &b) const {
    return a < b;
  }
};

template <typename Key, typename Value>
void sort(Key *keys, Value *values, int *offsets, int count) {
  size_t bytes = 0;
  cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, keys, count);
  cub::DeviceRadixSort::SortPairsDescending(nullptr, bytes, keys, keys, values, values, count);
  cub::DeviceMergeSort::StableSortKeys(nullptr, bytes, keys, count, less());
  cub::DeviceMergeSort::SortPairs(nullptr, bytes, keys, values, count, less());
  cub::DeviceSegmentedSort::SortPairs(nullptr, bytes, keys, keys, values, values, count, 1, offsets,
                                      offsets + 1);
}

template void sort(unsigned char *, short *, int *, int);
template void sort(short *, double *, int *, int);
template void sort(unsigned *, unsigned *, int *, int);
template void sort(long long *, char *, int *, int);
template void sort(float *, int4 *, int *, int);
template void sort(double *, float *, int *, int);
template void sort(__half *, long long *, int *, int);
