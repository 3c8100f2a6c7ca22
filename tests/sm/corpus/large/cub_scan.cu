/* CUB's device-wide scans and selections. The host functions are never run: they
 * make nvcc instantiate the kernels. */
#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

struct larger {
  template <typename T>
  __device__ T operator()(const T &a, const T &b) const {
    return a < b ? b : a;
  }
};

struct difference {
  template <typename T>
  __device__ T operator()(const T &a, const T &b) const {
    return a - b;
  }
};

struct odd {
  template <typename T>
  __device__ bool operator()(const T &a) const {
    return (long long)a & 1;
  }
};

template <typename T>
void scan(T *in, T *out, int *keys, int count) {
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, count);
  cub::DeviceScan::ExclusiveScan(nullptr, bytes, in, out, larger(), T(0), count);
  cub::DeviceScan::ExclusiveSumByKey(nullptr, bytes, keys, in, out, count);
  cub::DeviceSelect::If(nullptr, bytes, in, out, keys, count, odd());
  cub::DeviceSelect::Unique(nullptr, bytes, in, out, keys, count);
  cub::DeviceSelect::UniqueByKey(nullptr, bytes, in, keys, out, keys, keys, count);
  cub::DevicePartition::Flagged(nullptr, bytes, in, keys, out, keys, count);
  cub::DeviceRunLengthEncode::Encode(nullptr, bytes, in, out, keys, keys, count);
  cub::DeviceAdjacentDifference::SubtractLeftCopy(nullptr, bytes, in, out, count, difference());
}

template void scan(unsigned char *, unsigned char *, int *, int);
template void scan(short *, short *, int *, int);
template void scan(int *, int *, int *, int);
template void scan(unsigned long long *, unsigned long long *, int *, int);
template void scan(float *, float *, int *, int);
template void scan(double *, double *, int *, int);
