// Functions that the machine's own operations compute. The comment before each kernel lists
// the instructions that its code must have (tests/compiler/device/instructions_test.py).

// MUFU.SIN
kernel void native_sine(global float *a) { a[0] = native_sin(a[0]); }
// MUFU.COS
kernel void native_cosine(global float *a) { a[0] = native_cos(a[0]); }
// MUFU.SIN MUFU.COS MUFU.RCP
kernel void native_tangent(global float *a) { a[0] = native_tan(a[0]); }
// MUFU.EX2
kernel void native_e(global float *a) { a[0] = native_exp(a[0]); }
// MUFU.EX2
kernel void native_two(global float *a) { a[0] = native_exp2(a[0]); }
// MUFU.EX2
kernel void native_ten(global float *a) { a[0] = native_exp10(a[0]); }
// MUFU.LG2
kernel void native_ln(global float *a) { a[0] = native_log(a[0]); }
// MUFU.LG2
kernel void native_lb(global float *a) { a[0] = native_log2(a[0]); }
// MUFU.LG2
kernel void native_lg(global float *a) { a[0] = native_log10(a[0]); }
// MUFU.LG2 MUFU.EX2
kernel void native_power(global float *a) { a[0] = native_powr(a[0], a[1]); }
// MUFU.RCP
kernel void native_quotient(global float *a) { a[0] = native_divide(a[0], a[1]); }
// MUFU.RCP
kernel void native_inverse(global float *a) { a[0] = native_recip(a[0]); }
// MUFU.RSQ
kernel void native_inverse_root(global float *a) { a[0] = native_rsqrt(a[0]); }
// MUFU.RSQ|MUFU.SQRT
kernel void native_root(global float *a) { a[0] = native_sqrt(a[0]); }

// MUFU.SIN no LDC STL
kernel void half_sine(global float *a) { a[0] = half_sin(a[0]); }
// MUFU.SIN no LDC STL
kernel void half_cosine(global float *a) { a[0] = half_cos(a[0]); }
// MUFU.SIN MUFU.RCP no LDC STL
kernel void half_tangent(global float *a) { a[0] = half_tan(a[0]); }
// MUFU.EX2
kernel void half_e(global float *a) { a[0] = half_exp(a[0]); }
// MUFU.EX2
kernel void half_two(global float *a) { a[0] = half_exp2(a[0]); }
// MUFU.EX2
kernel void half_ten(global float *a) { a[0] = half_exp10(a[0]); }
// MUFU.LG2
kernel void half_ln(global float *a) { a[0] = half_log(a[0]); }
// MUFU.LG2
kernel void half_lb(global float *a) { a[0] = half_log2(a[0]); }
// MUFU.LG2
kernel void half_lg(global float *a) { a[0] = half_log10(a[0]); }
// MUFU.LG2 MUFU.EX2
kernel void half_power(global float *a) { a[0] = half_powr(a[0], a[1]); }
// MUFU.RCP
kernel void half_quotient(global float *a) { a[0] = half_divide(a[0], a[1]); }
// MUFU.RCP
kernel void half_inverse(global float *a) { a[0] = half_recip(a[0]); }
// MUFU.RSQ
kernel void half_inverse_root(global float *a) { a[0] = half_rsqrt(a[0]); }
// MUFU.RSQ|MUFU.SQRT
kernel void half_root(global float *a) { a[0] = half_sqrt(a[0]); }
// MUFU.RCP
kernel void inverse(global float *a) { a[0] = 1 / a[0]; }
// MUFU.RSQ
kernel void inverse_root(global float *a) { a[0] = rsqrt(a[0]); }
