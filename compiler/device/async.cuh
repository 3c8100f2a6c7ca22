/* OpenCL C asynchronous copies and prefetch (section 6.15.11 of OpenCL C 3.0). Copies are executed
 * immediately by the whole work-group; waiting is a barrier. An event is a meaningless pointer. */
#ifndef TEGRACL_ASYNC_CUH
#define TEGRACL_ASYNC_CUH
#include "tegracl.cuh"

namespace ocl {

typedef char *event_t;

/* An element in memory: COUNT words of at most 16 bytes. A vector of
 * three elements has the size of four. */
struct alignas(16) word16 {
  ulong s[2];
};
template <class T> struct memory_form { static constexpr int BYTES = sizeof(T); };
template <class T> struct memory_form<vec<T, 3>> { static constexpr int BYTES = 4 * sizeof(T); };
template <class T> struct element_words {
  static constexpr int BYTES = memory_form<T>::BYTES;
  static constexpr int COUNT = BYTES > 16 ? BYTES / 16 : 1;
  typedef pick<BYTES >= 16, word16, ubits<BYTES>> word;
};

/* Distributes words over the work-items: adjacent work-items copy the words of an element. */
template <class T>
OCL_FN void copy_elements(T *to, ulong to_stride, const T *from, ulong from_stride, ulong count) {
  typedef element_words<T> E;
  typedef typename E::word W;
  W *to_words = reinterpret_cast<W *>(to);
  const W *from_words = reinterpret_cast<const W *>(from);
  uint first = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  uint step = blockDim.x * blockDim.y * blockDim.z;
  for (ulong i = first; i < count * E::COUNT; i += step) {
    ulong element = i / E::COUNT, word = i % E::COUNT;
    to_words[element * to_stride * E::COUNT + word] =
        from_words[element * from_stride * E::COUNT + word];
  }
}

template <class T, class E>
OCL_FN event_t async_work_group_copy(T *to, const T *from, ulong count, E event) {
  copy_elements(to, 1, from, 1, count);
  return event_t(event);
}

/* The stride applies to the elements in global memory. */
template <class T, class E>
OCL_FN event_t async_work_group_strided_copy(T *to, const T *from, ulong count, ulong stride,
                                             E event) {
  if (__isShared(to))
    copy_elements(to, 1, from, stride, count);
  else
    copy_elements(to, stride, from, 1, count);
  return event_t(event);
}

template <class E> OCL_FN void wait_group_events(int, E) {
  __syncthreads();
}

/* A prefetch hint would not improve performance here. */
template <class T> OCL_FN void prefetch(const T *, ulong) {}

} // namespace ocl
#endif
