/* SPV_KHR_uniform_group_instructions: each instruction over each type it takes. The translator
 * makes the instructions of calls by these names. A kernel's results: operations, of each the
 * reduction and the scans, of each one value for each work-item. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

enum { WORKGROUP = 2, SUBGROUP = 3, REDUCE = 0, INCLUSIVE = 1, EXCLUSIVE = 2 };

#define DECLARE(name, T) T __attribute__((overloadable, convergent)) __spirv_Group##name##KHR(int, int, T);
#define INTEGERS(T) DECLARE(IMul, T) DECLARE(BitwiseAnd, T) DECLARE(BitwiseOr, T) DECLARE(BitwiseXor, T)
INTEGERS(char)
INTEGERS(short)
INTEGERS(int)
INTEGERS(long)
INTEGERS(int2)
DECLARE(FMul, half)
DECLARE(FMul, float)
DECLARE(FMul, double)
DECLARE(FMul, float2)
DECLARE(LogicalAnd, bool)
DECLARE(LogicalOr, bool)
DECLARE(LogicalXor, bool)

#define STORE(scope, name, x)                                                                                    \
  *to = __spirv_Group##name##KHR(scope, REDUCE, x), to += n;                                                     \
  *to = __spirv_Group##name##KHR(scope, INCLUSIVE, x), to += n;                                                  \
  *to = __spirv_Group##name##KHR(scope, EXCLUSIVE, x), to += n
#define KERNEL(T, kind, scope, body)                                                                             \
  kernel void kind##_##T(global const T *in, global T *out) {                                                    \
    size_t n = get_global_size(0);                                                                               \
    global T *to = out + get_global_id(0);                                                                       \
    T x = in[get_global_id(0)];                                                                                  \
    body(scope);                                                                                                 \
  }
#define OF_INTEGERS(scope)                                                                                       \
  STORE(scope, IMul, x); STORE(scope, BitwiseAnd, x); STORE(scope, BitwiseOr, x); STORE(scope, BitwiseXor, x)
#define OF_FLOATS(scope) STORE(scope, FMul, x)
#define OF_TRUTHS(scope)                                                                                         \
  bool b = x & 1; STORE(scope, LogicalAnd, b); STORE(scope, LogicalOr, b); STORE(scope, LogicalXor, b)
#define BOTH(T, body) KERNEL(T, work_group, WORKGROUP, body) KERNEL(T, sub_group, SUBGROUP, body)
BOTH(char, OF_INTEGERS)
BOTH(short, OF_INTEGERS)
BOTH(int, OF_INTEGERS)
BOTH(long, OF_INTEGERS)
BOTH(int2, OF_INTEGERS)
BOTH(half, OF_FLOATS)
BOTH(float, OF_FLOATS)
BOTH(double, OF_FLOATS)
BOTH(float2, OF_FLOATS)
BOTH(uchar, OF_TRUTHS)
