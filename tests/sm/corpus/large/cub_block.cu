/* CUB's building blocks for one CTA and one warp, in all their algorithms. */
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

enum { THREADS = 128, ITEMS = 5 };

struct less {
  template <typename T>
  __device__ bool operator()(const T &a, const T &b) const {
    return a < b;
  }
};

template <typename T, cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S>
__global__ void copy(const T *in, T *out, int count) {
  typedef cub::BlockLoad<T, THREADS, ITEMS, L> load;
  typedef cub::BlockStore<T, THREADS, ITEMS, S> store;
  __shared__ typename load::TempStorage for_load;
  __shared__ typename store::TempStorage for_store;
  T items[ITEMS];
  load(for_load).Load(in + blockIdx.x * THREADS * ITEMS, items, count, T(7));
  store(for_store).Store(out + blockIdx.x * THREADS * ITEMS, items, count);
}

template <typename T, int Bits, cub::BlockScanAlgorithm A>
__global__ void radix_sort(T *data, unsigned short *values) {
  typedef cub::BlockRadixSort<T, THREADS, ITEMS, unsigned short, Bits, true, A> sort;
  typedef cub::BlockExchange<T, THREADS, ITEMS, true> exchange;
  __shared__ typename sort::TempStorage for_sort;
  __shared__ typename exchange::TempStorage for_exchange;
  T items[ITEMS];
  unsigned short carried[ITEMS];
  for (int i = 0; i < ITEMS; i++) {
    items[i] = data[threadIdx.x * ITEMS + i];
    carried[i] = values[threadIdx.x * ITEMS + i];
  }
  sort(for_sort).SortBlockedToStriped(items, carried);
  __syncthreads();
  sort(for_sort).SortDescending(items, carried, 2, 7);
  exchange(for_exchange).StripedToBlocked(items, items);
  for (int i = 0; i < ITEMS; i++) {
    data[threadIdx.x * ITEMS + i] = items[i];
    values[threadIdx.x * ITEMS + i] = carried[i];
  }
}

template <typename T, cub::BlockReduceAlgorithm R, cub::BlockScanAlgorithm A>
__global__ void reduce_scan(T *data, int valid) {
  typedef cub::BlockReduce<T, THREADS, R> reduce;
  typedef cub::BlockScan<T, THREADS, A> scan;
  __shared__ typename reduce::TempStorage for_reduce;
  __shared__ typename scan::TempStorage for_scan;
  T item = data[threadIdx.x], items[ITEMS], all;
  for (int i = 0; i < ITEMS; i++)
    items[i] = data[threadIdx.x * ITEMS + i];
  T sum = reduce(for_reduce).Sum(item, valid);
  __syncthreads();
  sum = sum + reduce(for_reduce).Reduce(items, ::cuda::maximum<>());
  scan(for_scan).ExclusiveSum(items, items, all);
  __syncthreads();
  scan(for_scan).InclusiveScan(item, item, ::cuda::minimum<>());
  for (int i = 0; i < ITEMS; i++)
    data[threadIdx.x * ITEMS + i] = items[i] + item + sum + all;
}

template <typename T>
__global__ void merge_sort(T *data) {
  typedef cub::BlockMergeSort<T, THREADS, ITEMS> sort;
  typedef cub::WarpMergeSort<T, ITEMS, 16> warp_sort;
  __shared__ typename sort::TempStorage for_sort;
  __shared__ typename warp_sort::TempStorage for_warp[THREADS / 16];
  T items[ITEMS];
  for (int i = 0; i < ITEMS; i++)
    items[i] = data[threadIdx.x * ITEMS + i];
  warp_sort(for_warp[threadIdx.x / 16]).Sort(items, less());
  sort(for_sort).StableSort(items, less());
  for (int i = 0; i < ITEMS; i++)
    data[threadIdx.x * ITEMS + i] = items[i];
}

template <typename T, int Lanes>
__global__ void warp(T *data) {
  typedef cub::WarpReduce<T, Lanes> reduce;
  typedef cub::WarpScan<T, Lanes> scan;
  typedef cub::WarpExchange<T, ITEMS, 32> exchange;
  __shared__ typename reduce::TempStorage for_reduce[THREADS];
  __shared__ typename scan::TempStorage for_scan[THREADS];
  __shared__ typename exchange::TempStorage for_exchange[THREADS / 32];
  T item = data[threadIdx.x], items[ITEMS], before;
  for (int i = 0; i < ITEMS; i++)
    items[i] = data[threadIdx.x * ITEMS + i];
  T sum = reduce(for_reduce[threadIdx.x / Lanes]).HeadSegmentedSum(item, threadIdx.x % 3 == 0);
  scan(for_scan[threadIdx.x / Lanes]).Scan(item, item, before, ::cuda::maximum<>());
  exchange(for_exchange[threadIdx.x / 32]).BlockedToStriped(items, items);
  for (int i = 0; i < ITEMS; i++)
    data[threadIdx.x * ITEMS + i] = items[i] + sum + before;
}

template <typename T>
__global__ void neighbours(T *data, int *flags) {
  typedef cub::BlockDiscontinuity<T, THREADS> edges;
  typedef cub::BlockShuffle<T, THREADS> shuffle;
  typedef cub::BlockHistogram<unsigned char, THREADS, ITEMS, 256> histogram;
  typedef cub::BlockHistogram<unsigned char, THREADS, ITEMS, 256, cub::BLOCK_HISTO_ATOMIC> atomic;
  __shared__ typename edges::TempStorage for_edges;
  __shared__ typename shuffle::TempStorage for_shuffle;
  __shared__ typename histogram::TempStorage for_histogram;
  __shared__ typename atomic::TempStorage for_atomic;
  __shared__ unsigned bins[256];
  T items[ITEMS];
  int heads[ITEMS], tails[ITEMS];
  unsigned char samples[ITEMS];
  for (int i = 0; i < ITEMS; i++) {
    items[i] = data[threadIdx.x * ITEMS + i];
    samples[i] = (unsigned char)items[i];
  }
  edges(for_edges).FlagHeadsAndTails(heads, tails, items, ::cuda::std::not_equal_to<>());
  shuffle(for_shuffle).Up(items, items);
  histogram(for_histogram).Histogram(samples, bins);
  __syncthreads();
  atomic(for_atomic).Composite(samples, bins);
  __syncthreads();
  for (int i = 0; i < ITEMS; i++) {
    data[threadIdx.x * ITEMS + i] = items[i] + (T)bins[threadIdx.x];
    flags[threadIdx.x * ITEMS + i] = heads[i] + 2 * tails[i];
  }
}

#define EACH(T)                                                                                 \
  template __global__ void copy<T, cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>(const T *, T *, \
                                                                                    int);       \
  template __global__ void copy<T, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_VECTORIZE>(      \
      const T *, T *, int);                                                                     \
  template __global__ void copy<T, cub::BLOCK_LOAD_WARP_TRANSPOSE,                              \
                                cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(const T *, T *, int); \
  template __global__ void copy<T, cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>(const T *, T *, \
                                                                                      int);     \
  template __global__ void radix_sort<T, 4, cub::BLOCK_SCAN_WARP_SCANS>(T *, unsigned short *); \
  template __global__ void radix_sort<T, 6, cub::BLOCK_SCAN_RAKING>(T *, unsigned short *);     \
  template __global__ void reduce_scan<T, cub::BLOCK_REDUCE_RAKING,                             \
                                       cub::BLOCK_SCAN_RAKING_MEMOIZE>(T *, int);               \
  template __global__ void reduce_scan<T, cub::BLOCK_REDUCE_WARP_REDUCTIONS,                    \
                                       cub::BLOCK_SCAN_WARP_SCANS>(T *, int);                   \
  template __global__ void merge_sort<T>(T *);                                                  \
  template __global__ void warp<T, 32>(T *);                                                    \
  template __global__ void warp<T, 11>(T *);                                                    \
  template __global__ void neighbours<T>(T *, int *);
EACH(unsigned char)
EACH(short)
EACH(int)
EACH(unsigned long long)
EACH(float)
EACH(double)
