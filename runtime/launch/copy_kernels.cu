// Copies and fills of boxes of memory, for recordings whose channel has no copy engine.
// runtime/generate_kernels.py compiles this into copy_kernels.h.
//
// An element is the widest that all addresses, pitches and widths allow. Threads go over
// the box in strides, so that any grid covers any box. The source is read as ordinary
// memory, not through a read-only path: kernels before may have written it.

typedef unsigned long long u64;

struct copy_box {
  u64 target, source;
  u64 width, rows, slices; // width in elements
  u64 target_row, target_slice, source_row, source_slice; // pitches in bytes
};

struct fill_box {
  __align__(16) unsigned char pattern[128]; // repeated until the end
  u64 target;
  u64 width, rows, slices;
  u64 row, slice;
  u64 mask; // elements of the pattern, a power of two, less 1
};

template <class T> __device__ static void copy(const copy_box &b) {
  for (u64 z = blockIdx.z; z < b.slices; z += gridDim.z)
    for (u64 y = blockIdx.y * blockDim.y + threadIdx.y; y < b.rows; y += gridDim.y * blockDim.y)
      for (u64 x = blockIdx.x * blockDim.x + threadIdx.x; x < b.width;
           x += gridDim.x * blockDim.x)
        ((T *)(b.target + z * b.target_slice + y * b.target_row))[x] =
            ((const T *)(b.source + z * b.source_slice + y * b.source_row))[x];
}

template <class T> __device__ static void fill(const fill_box &b) {
  for (u64 z = blockIdx.z; z < b.slices; z += gridDim.z)
    for (u64 y = blockIdx.y * blockDim.y + threadIdx.y; y < b.rows; y += gridDim.y * blockDim.y)
      for (u64 x = blockIdx.x * blockDim.x + threadIdx.x; x < b.width;
           x += gridDim.x * blockDim.x)
        ((T *)(b.target + z * b.slice + y * b.row))[x] = ((const T *)b.pattern)[x & b.mask];
}

#define KERNELS(NAME, T)                                                                           \
  extern "C" __global__ void copy_##NAME(const __grid_constant__ copy_box b) { copy<T>(b); }       \
  extern "C" __global__ void fill_##NAME(const __grid_constant__ fill_box b) { fill<T>(b); }

KERNELS(1, unsigned char)
KERNELS(4, unsigned)
KERNELS(16, uint4)
