// Declarations of the functions of Intel's extensions. clang's built-in table has none of them, and
// its header only some. The front end adds this file to programs that mention them.

// cl_intel_subgroups, _char, _short and _long
#define OCL_DECLARE __attribute__((overloadable, convergent))
#define OCL_SHUFFLES(T)                                                                            \
  T OCL_DECLARE intel_sub_group_shuffle(T, uint);                                                  \
  T OCL_DECLARE intel_sub_group_shuffle_down(T, T, uint);                                          \
  T OCL_DECLARE intel_sub_group_shuffle_up(T, T, uint);                                            \
  T OCL_DECLARE intel_sub_group_shuffle_xor(T, uint);
#define OCL_ALL_SHUFFLES(T)                                                                        \
  OCL_SHUFFLES(T) OCL_SHUFFLES(T##2) OCL_SHUFFLES(T##3) OCL_SHUFFLES(T##4) OCL_SHUFFLES(T##8)      \
  OCL_SHUFFLES(T##16)
OCL_ALL_SHUFFLES(char)
OCL_ALL_SHUFFLES(uchar)
OCL_ALL_SHUFFLES(short)
OCL_ALL_SHUFFLES(ushort)
OCL_ALL_SHUFFLES(int)
OCL_ALL_SHUFFLES(uint)
OCL_ALL_SHUFFLES(float)
// Beyond the specification: vectors of the types that follow. CLBlast has some.
OCL_ALL_SHUFFLES(long)
OCL_ALL_SHUFFLES(ulong)
#ifdef cl_khr_fp64
OCL_ALL_SHUFFLES(double)
#endif
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
OCL_ALL_SHUFFLES(half)
#pragma OPENCL EXTENSION cl_khr_fp16 : disable
#endif

#define OCL_OPERATION(T, name)                                                                     \
  T OCL_DECLARE intel_sub_group_reduce_##name(T);                                                  \
  T OCL_DECLARE intel_sub_group_scan_inclusive_##name(T);                                          \
  T OCL_DECLARE intel_sub_group_scan_exclusive_##name(T);
#define OCL_OPERATIONS(T)                                                                          \
  OCL_OPERATION(T, add) OCL_OPERATION(T, min) OCL_OPERATION(T, max)                                \
  T OCL_DECLARE intel_sub_group_broadcast(T, uint);
OCL_OPERATIONS(char)
OCL_OPERATIONS(uchar)
OCL_OPERATIONS(short)
OCL_OPERATIONS(ushort)

#if __OPENCL_C_VERSION__ >= 200 || defined(__OPENCL_CPP_VERSION__)
#define OCL_BLOCK_READ_WRITE(name, T, n)                                                           \
  T##n OCL_DECLARE intel_sub_group_block_read##name(read_write image2d_t, int2);                   \
  void OCL_DECLARE intel_sub_group_block_write##name(read_write image2d_t, int2, T##n);
#else
#define OCL_BLOCK_READ_WRITE(name, T, n)
#endif
#define OCL_BLOCK(name, T, n)                                                                      \
  T##n OCL_DECLARE intel_sub_group_block_read##name(const global T *);                             \
  T##n OCL_DECLARE intel_sub_group_block_read##name(read_only image2d_t, int2);                    \
  void OCL_DECLARE intel_sub_group_block_write##name(global T *, T##n);                            \
  void OCL_DECLARE intel_sub_group_block_write##name(write_only image2d_t, int2, T##n);            \
  OCL_BLOCK_READ_WRITE(name, T, n)
#define OCL_BLOCKS(name, T)                                                                        \
  OCL_BLOCK(name, T, ) OCL_BLOCK(name##2, T, 2) OCL_BLOCK(name##4, T, 4) OCL_BLOCK(name##8, T, 8)
OCL_BLOCKS(, uint)
OCL_BLOCKS(_ui, uint)
OCL_BLOCKS(_uc, uchar)
OCL_BLOCK(_uc16, uchar, 16)
OCL_BLOCKS(_us, ushort)
OCL_BLOCK(_us16, ushort, 16)
OCL_BLOCKS(_ul, ulong)

// cl_intel_split_work_group_barrier
void OCL_DECLARE intel_work_group_barrier_arrive(cl_mem_fence_flags);
void OCL_DECLARE intel_work_group_barrier_wait(cl_mem_fence_flags);
#if __OPENCL_C_VERSION__ >= 200 || defined(__OPENCL_CPP_VERSION__)
void OCL_DECLARE intel_work_group_barrier_arrive(cl_mem_fence_flags, memory_scope);
void OCL_DECLARE intel_work_group_barrier_wait(cl_mem_fence_flags, memory_scope);
#endif

// cl_intel_bfloat16_conversions
#define OCL_BFLOAT16(n)                                                                            \
  ushort##n __attribute__((overloadable, const)) intel_convert_bfloat16##n##_as_ushort##n(float##n); \
  float##n __attribute__((overloadable, const)) intel_convert_as_bfloat16##n##_float##n(ushort##n);
OCL_BFLOAT16()
OCL_BFLOAT16(2)
OCL_BFLOAT16(3)
OCL_BFLOAT16(4)
OCL_BFLOAT16(8)
OCL_BFLOAT16(16)

#undef OCL_BFLOAT16
#undef OCL_DECLARE
#undef OCL_SHUFFLES
#undef OCL_ALL_SHUFFLES
#undef OCL_OPERATION
#undef OCL_OPERATIONS
#undef OCL_BLOCK_READ_WRITE
#undef OCL_BLOCK
#undef OCL_BLOCKS
