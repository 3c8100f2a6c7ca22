/* Atomic functions of OpenCL C 1.x, 32 and 64 bits, global and local. */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void atomics(global int *i, global uint *u, global float *f, local int *l, local uint *m) {
  atomic_add(i, 1);
  atomic_sub(i, 2);
  atomic_xchg(i, 3);
  atomic_inc(i);
  atomic_dec(i);
  atomic_cmpxchg(i, 4, 5);
  atomic_min(i, -1);
  atomic_max(i, 6);
  atomic_and(i, 7);
  atomic_or(i, 8);
  atomic_xor(i, 9);
  u[1] = atomic_min(u, 1u) + atomic_max(u, 6u) + atomic_inc(u) + atomic_dec(u);
  f[1] = atomic_xchg(f, 2.0f);
  i[1] = atomic_add(l, 1) + atomic_min(l, -5) + atomic_cmpxchg(l, 1, 2);
  u[2] = atomic_or(m, 1u) + atomic_max(m, 3u);
  atom_add(i, 1);
  atom_inc(l);
}
kernel void wide_atomics(volatile global long *i, volatile global ulong *u, local long *l) {
  atom_add(i, 1l);
  atom_sub(i, 1l);
  atom_xchg(u, 5ul);
  atom_inc(u);
  atom_dec(i);
  atom_cmpxchg(i, 1l, 2l);
  atom_min(i, -4l);
  atom_max(u, 4ul);
  atom_and(i, 3l);
  atom_or(u, 3ul);
  atom_xor(i, 3l);
  i[1] = atom_add(l, 2l);
}
