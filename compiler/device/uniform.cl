// Declarations of the functions of cl_khr_work_group_uniform_arithmetic, which clang lacks. The
// front end adds this file to programs that mention them.
#if defined(cl_khr_work_group_uniform_arithmetic) &&                                               \
    (__OPENCL_C_VERSION__ >= 200 || defined(__OPENCL_CPP_VERSION__))
#define OCL_OPERATION(T, name)                                                                     \
  T __attribute__((overloadable, convergent)) work_group_reduce_##name(T);                         \
  T __attribute__((overloadable, convergent)) work_group_scan_inclusive_##name(T);                 \
  T __attribute__((overloadable, convergent)) work_group_scan_exclusive_##name(T);
#define OCL_OPERATIONS(T)                                                                          \
  OCL_OPERATION(T, and) OCL_OPERATION(T, or) OCL_OPERATION(T, xor) OCL_OPERATION(T, mul)
OCL_OPERATIONS(int)
OCL_OPERATIONS(uint)
OCL_OPERATIONS(long)
OCL_OPERATIONS(ulong)
OCL_OPERATION(float, mul)
#ifdef cl_khr_fp64
OCL_OPERATION(double, mul)
#endif
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
OCL_OPERATION(half, mul)
#pragma OPENCL EXTENSION cl_khr_fp16 : disable
#endif
OCL_OPERATION(int, logical_and)
OCL_OPERATION(int, logical_or)
OCL_OPERATION(int, logical_xor)
#undef OCL_OPERATION
#undef OCL_OPERATIONS
#endif
