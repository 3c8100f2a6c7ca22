/* printf: writes a record of the call to the launch's print buffer. The host formats
 * the records after the launch. For the layouts see struct print_buffer,
 * print_record and enum print_type in gpu/cubin/kernel_code.h.
 */
#ifndef TEGRACL_PRINTF_CUH
#define TEGRACL_PRINTF_CUH

namespace ocl {

struct print_buffer {
  ulong reserved, dropped, capacity, unused;
};
struct print_record {
  uint size, arg_count;
  const void *format;
};

enum { PRINT_ALIGN = 8, PRINT_LANES = 8 };
template <class T> constexpr uint print_type = 0;
template <> constexpr uint print_type<uchar> = 0;
template <> constexpr uint print_type<ushort> = 1;
template <> constexpr uint print_type<uint> = 2;
template <> constexpr uint print_type<ulong> = 3;
template <> constexpr uint print_type<half> = 4;
template <> constexpr uint print_type<float> = 5;
template <> constexpr uint print_type<double> = 6;
template <> constexpr uint print_type<const void *> = 7;

template <class T> constexpr uchar print_byte = print_type<T> + PRINT_LANES;
template <class T, int N>
constexpr uchar print_byte<vec<T, N>> = print_type<T> + N * PRINT_LANES;

/* Bytes in a record. */
constexpr uint print_room(uint bytes) {
  return (bytes + PRINT_ALIGN - 1) / PRINT_ALIGN * PRINT_ALIGN;
}
template <class... A> constexpr uint print_rooms = (0 + ... + print_room(sizeof(A)));

template <class T> OCL_FN void print_value(char *&at, const T &value) {
  *(T *)at = value;
  at += print_room(sizeof(T));
}

/* Returns 0, or -1 if the buffer is full. */
template <class... A> OCL_FN int print(const hidden &h, const void *format, const A &...values) {
  constexpr uint count = sizeof...(A);
  constexpr uint size = sizeof(print_record) + print_room(count) + print_rooms<A...>;
  constexpr uchar types[count + 1] = {print_byte<A>..., 0};
  print_buffer *buffer = (print_buffer *)h.print_buffer;
  if (!buffer)
    return -1;
  const ulong place = atomicAdd(&buffer->reserved, (ulong)size);
  if (place + size > buffer->capacity) {
    atomicAdd(&buffer->dropped, 1ull);
    return -1;
  }
  char *at = (char *)(buffer + 1) + place;
  *(print_record *)at = {size, count, format};
  at += sizeof(print_record);
#pragma unroll
  for (uint i = 0; i < count; i += PRINT_ALIGN) {
    ulong word = 0;
#pragma unroll
    for (uint k = i; k < i + PRINT_ALIGN && k < count; k++)
      word |= (ulong)types[k] << 8 * (k - i);
    *(ulong *)(at + i) = word;
  }
  at += print_room(count);
  (print_value(at, values), ...);
  return 0;
}

} // namespace ocl
#endif
