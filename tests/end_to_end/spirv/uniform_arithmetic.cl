/* cl_khr_work_group_uniform_arithmetic: kernels like those of uniform_groups.cl, with the functions of
 * OpenCL C. */
#ifndef cl_khr_work_group_uniform_arithmetic
#error "the extension's macro is missing"
#endif
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define STORE(name, x)                                                                                           \
  *to = work_group_reduce_##name(x), to += n;                                                                    \
  *to = work_group_scan_inclusive_##name(x), to += n;                                                            \
  *to = work_group_scan_exclusive_##name(x), to += n
#define KERNEL(T, body)                                                                                          \
  kernel void work_group_##T(global const T *in, global T *out) {                                                \
    size_t n = get_global_size(0);                                                                               \
    global T *to = out + get_global_id(0);                                                                       \
    T x = in[get_global_id(0)];                                                                                  \
    body;                                                                                                        \
  }
#define INTEGERS STORE(mul, x); STORE(and, x); STORE(or, x); STORE(xor, x)
#define FLOATS STORE(mul, x)
/* Any number but 0 is true. */
#define TRUTHS                                                                                                   \
  int b = x ? 2 * (int)get_local_id(0) - 1 : 0;                                                                  \
  STORE(logical_and, b); STORE(logical_or, b); STORE(logical_xor, b)
KERNEL(int, INTEGERS)
KERNEL(uint, INTEGERS)
KERNEL(long, INTEGERS)
KERNEL(ulong, INTEGERS)
KERNEL(half, FLOATS)
KERNEL(float, FLOATS)
KERNEL(double, FLOATS)
KERNEL(uchar, TRUTHS)
