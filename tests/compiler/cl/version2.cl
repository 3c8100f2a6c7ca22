/* OpenCL C 2.0: pointers into the generic address space, atomics of C11, blocks. */
kernel void atomics(global atomic_int *a, global int *out, local atomic_int *l) {
  int expected = 1;
  out[0] = atomic_compare_exchange_strong_explicit(a, &expected, 3, memory_order_relaxed,
                                                   memory_order_relaxed, memory_scope_device);
  out[1] = expected;
  out[2] = atomic_compare_exchange_weak(l, &expected, 5);
  atomic_store(a + 1, 4);
  out[3] = atomic_fetch_add_explicit(a + 1, 1, memory_order_relaxed, memory_scope_device);
  atomic_init(l, 4);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[4] = atomic_exchange(l, 3);
  out[5] = atomic_fetch_max(l, 9);
  out[6] = atomic_load(l);
}

kernel void addresses(global int *a, local int *l) {
  int x = a[3];
  int *q = a[1] ? (int *)a : a[2] ? (int *)l : &x;
  *q += 5;
  global int *in_global = to_global(q);
  local int *in_local = to_local(q);
  private int *in_private = to_private(q);
  a[5] = in_global ? *in_global : -1;
  a[6] = in_local ? *in_local : -1;
  a[7] = in_private ? *in_private : -1;
  a[8] = get_fence(q) == CLK_LOCAL_MEM_FENCE;
}

int (^const whole)(int) = ^(int x) { return x * 7; };

kernel void blocks(global int *a) {
  int taken = a[1];
  int (^caught)(int) = ^(int x) { return x + taken; };
  a[0] = whole(caught(a[2])) + ^(int x) { return x - a[3]; }(a[4]);
}
