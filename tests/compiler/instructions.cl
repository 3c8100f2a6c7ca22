// What must be one instruction of the machine: each kernel after the operations that
// its code must have (instructions_test.py).
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// HADD2
kernel void half_sum(global half *a, half b) { a[0] += b; }
// HMUL2
kernel void half_product(global half *a, half b) { a[0] *= b; }
// HFMA2
kernel void half_fma(global half *a, half b, half c) { a[0] = fma(a[0], b, c); }
// HFMA2
kernel void half_contracted(global half *a, half b, half c) { a[0] = a[0] * b + c; }
// HSETP2
kernel void half_comparison(global half *a, half b, half c) { if (a[0] < b) a[0] = c; }
// HMNMX2
kernel void half_least(global half *a, half b) { a[0] = fmin(a[0], b); }
// HADD2|HFMA2 no PRMT
kernel void half_pair(global half2 *a, global const half2 *b) { a[0] = a[0] - b[0]; }
