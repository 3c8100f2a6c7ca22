/* Specialization constants, as the translator takes them from LLVM IR. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define CONSTANT(type) type __attribute__((overloadable)) __spirv_SpecConstant(int, type);
CONSTANT(bool)
CONSTANT(char)
CONSTANT(short)
CONSTANT(int)
CONSTANT(long)
CONSTANT(half)
CONSTANT(float)
CONSTANT(double)

kernel void constants(global double *out) {
  out[0] = __spirv_SpecConstant(10, (bool)true);
  out[1] = __spirv_SpecConstant(11, (char)-1);
  out[2] = __spirv_SpecConstant(12, (short)-2);
  out[3] = __spirv_SpecConstant(13, 3);
  out[4] = __spirv_SpecConstant(14, 4l);
  out[5] = __spirv_SpecConstant(15, (half)5);
  out[6] = __spirv_SpecConstant(16, 6.5f);
  out[7] = __spirv_SpecConstant(17, 7.25);
}
