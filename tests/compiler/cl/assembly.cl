/* Inline PTX, as applications for NVIDIA devices use it. */
uint lane(void) {
  uint r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}
uint rotate_left(uint x, uint n) {
  uint r;
  asm volatile("shf.l.wrap.b32 %0, %1, %1, %2;" : "=r"(r) : "r"(x), "r"(n));
  return r;
}
kernel void assembly(global uint *out, global ulong *wide, global float *f, global double *d) {
  size_t i = get_global_id(0);
  uint low, high, carry;
  asm("add.cc.u32 %0, %3, %4;\n\taddc.cc.u32 %1, %4, %3;\n\taddc.u32 %2, 0, 0;"
      : "=&r"(low), "=r"(high), "=r"(carry)
      : "r"(out[0]), "r"(out[1]));
  out[i] = rotate_left(low, lane()) + high + carry;
  ulong w;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(w) : "r"(low), "r"(high), "l"(wide[i]));
  wide[i] = w;
  float g;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(g) : "f"(f[i]));
  f[i] = g;
  double e = d[i];
  asm("add.f64 %0, %0, 0d3FF0000000000000;" : "+d"(e));
  d[i] = e;
  ushort s = (ushort)low;
  asm("add.u16 %0, %1, 3;" : "=h"(s) : "h"(s));
  out[i + 1] = s;
  asm volatile("membar.gl;" ::: "memory", "memory");
  asm volatile("st.global.u32 [%0], %1;" ::"l"(out + 2), "r"(high) : "memory");
  /* A tie by number in the middle, and a label for each copy of the statement. */
  asm("sub.u32 %0, %1, %2;" : "=r"(low) : "0"(low), "r"(high));
  for (int k = 0; k < 2; k++)
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0; @p bra L%=; add.u32 %0, %0, %1; L%=: }"
                 : "+r"(carry)
                 : "r"(low));
  out[i + 3] = carry;
}
