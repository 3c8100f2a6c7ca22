/* Kernels of device_kernels.c that check themselves: arithmetic of halves, atomics of OpenCL C 1.x
 * and 2.0, fences, and asynchronous copies. One work-group of GROUP work-items. in has 64 floats of
 * both signs around 1, scratch is zero. A failed check writes 1 at its line number. */
#define GROUP 96
#define CHECK(c)                                                                                   \
  if (!(c))                                                                                        \
  failures[__LINE__] = 1
#define KERNEL(name)                                                                               \
  kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void name(                             \
      global const float *in, global int *failures, global ulong *scratch)

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
KERNEL(halfs) {
  half4 a = convert_half4(vload4(get_local_id(0) % 8, in)), b = convert_half4(vload4(3, in));
  float4 wide = convert_float4(a), other = convert_float4(b);
  half nan = NAN;
  CHECK(all((a < b) == convert_short4(wide < other)) && all((a >= b) == ~(a < b)));
  CHECK(all((a > b) == convert_short4(wide > other)) && all((a <= b) == ~(a > b)));
  CHECK(!(nan == nan) && nan != nan && all(-a == convert_half4(-wide)));
  a += b;
  CHECK(all(a == convert_half4(wide + other)));
  CHECK((int)(half)-2.5h == -2 && (half)65519.0f == 65504.0h && isinf((half)65520));
  CHECK(sizeof(half16) == 32 && sizeof(half3) == 8);
}

KERNEL(atomics_32) {
  local int sums[8];
  uint i = get_local_id(0);
  global int *words = (global int *)scratch;
  if (i < 8)
    sums[i] = i == 3 ? INT_MAX : 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  int before = atomic_add(&sums[0], 2);
  CHECK(before >= 0 && before < 2 * GROUP && before % 2 == 0);
  atomic_sub(&sums[1], (int)i);
  atomic_max(&sums[2], (int)i * 3);
  atomic_min(&sums[3], -(int)i);
  atomic_or(&sums[4], 1 << (i & 31));
  atomic_inc(&sums[5]);
  atomic_xor(&sums[6], (int)i);
  atomic_dec(&sums[7]);
  atomic_add(&words[0], 2);
  atomic_max((global uint *)&words[1], 0x80000000u + i);
  atomic_min(&words[2], -(int)i);
  while (atomic_cmpxchg(&words[3], (int)i, (int)i + 1) != (int)i)
    ;
  atomic_xchg((global float *)&words[4], 1.5f);
  atomic_inc((global uint *)&words[5]);
  atomic_and(&words[6], 0);
  atomic_sub(&words[7], 1);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  CHECK(sums[0] == 2 * GROUP && sums[1] == -GROUP * (GROUP - 1) / 2 && sums[2] == 3 * (GROUP - 1));
  CHECK(sums[3] == 1 - GROUP && sums[4] == -1 && sums[5] == GROUP && sums[6] == 0 &&
        sums[7] == -GROUP);
  CHECK(words[0] == 2 * GROUP && words[1] == (int)(0x80000000u + GROUP - 1) &&
        words[2] == 1 - GROUP);
  CHECK(words[3] == GROUP && as_float(words[4]) == 1.5f && words[5] == GROUP && words[7] == -GROUP);
}

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
KERNEL(atomics_64) {
  local ulong sums[4];
  uint i = get_local_id(0);
  global long *words = (global long *)scratch;
  if (i < 4)
    sums[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atom_add(&sums[0], 0x100000001ul);
  atom_max(&sums[1], (ulong)i << 40);
  atom_or(&sums[2], 1ul << (i % 64));
  atom_xchg(&sums[3], 5ul);
  atom_sub(&words[0], 0x100000001l);
  atom_min(&words[1], -((long)i << 40));
  atom_inc(&words[2]);
  atom_xor(&words[3], (long)i << 32);
  long old = words[4], seen;
  while ((seen = atom_cmpxchg(&words[4], old, old + (1l << 33))) != old)
    old = seen;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  CHECK(sums[0] == 0x100000001ul * GROUP && sums[1] == (GROUP - 1ul) << 40 && sums[2] == ~0ul);
  CHECK(sums[3] == 5 && words[0] == -0x100000001l * GROUP && words[1] == -((GROUP - 1l) << 40));
  CHECK(words[2] == GROUP && words[3] == 0 && words[4] == (long)GROUP << 33);
}

KERNEL(atomics_2) {
  local atomic_int sums[8];
  local atomic_flag flag;
  int i = get_local_id(0);
  global atomic_int *words = (global atomic_int *)scratch;
  global atomic_ulong *wide = (global atomic_ulong *)(scratch + 64);
  if (i < 8)
    atomic_init(&sums[i], i == 2 ? -1 : 0);
  if (i == 0)
    atomic_flag_clear(&flag);
  work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  atomic_fetch_add(&sums[0], 2);
  atomic_fetch_sub(&sums[1], i);
  atomic_fetch_and(&sums[2], ~(1 << i % 32));
  atomic_fetch_or(&sums[3], 1 << i % 32);
  atomic_fetch_xor(&sums[4], i);
  atomic_fetch_min(&sums[5], -i);
  atomic_fetch_max(&sums[6], i);
  if (!atomic_flag_test_and_set(&flag))
    atomic_fetch_add(&sums[7], 1);
  int seen = atomic_load(&words[0]);
  while (!atomic_compare_exchange_strong(&words[0], &seen, seen + 3))
    ;
  atomic_exchange(&words[1], 7);
  atomic_store(&words[2], 5);
#define DEVICE memory_order_acq_rel, memory_scope_device
  atomic_fetch_or_explicit(&wide[0], 1ul << i % 64, DEVICE);
  atomic_fetch_xor_explicit(&wide[1], (ulong)i << 32, DEVICE);
  atomic_fetch_add_explicit(&wide[2], 1ul << 33, DEVICE);
  atomic_fetch_sub_explicit(&wide[3], 1ul << 33, DEVICE);
  atomic_fetch_max_explicit(&wide[4], (ulong)i << 40, DEVICE);
  atomic_exchange_explicit(&wide[5], 1ul << 50, DEVICE);
  ulong old = atomic_load_explicit(&wide[6], memory_order_relaxed, memory_scope_device);
  while (!atomic_compare_exchange_weak_explicit(&wide[6], &old, old + (1ul << 40),
                                                memory_order_seq_cst, memory_order_relaxed,
                                                memory_scope_device))
    ;
  work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_device);
  volatile local int *s = (volatile local int *)sums;
  volatile global int *w = (volatile global int *)words;
  volatile global ulong *u = (volatile global ulong *)wide;
  CHECK(s[0] == 2 * GROUP && s[1] == -GROUP * (GROUP - 1) / 2 && s[2] == 0 && s[3] == -1);
  CHECK(s[4] == 0 && s[5] == 1 - GROUP && s[6] == GROUP - 1 && s[7] == 1);
  CHECK(w[0] == 3 * GROUP && w[1] == 7 && w[2] == 5 && u[0] == ~0ul && u[1] == 0);
  CHECK(u[2] == (ulong)GROUP << 33 && u[3] == -((ulong)GROUP << 33));
  CHECK(u[4] == (GROUP - 1ul) << 40 && u[5] == 1ul << 50 && u[6] == (ulong)GROUP << 40);
  work_group_barrier(CLK_GLOBAL_MEM_FENCE);
  if (i == 0)
    atomic_flag_clear_explicit(&flag, memory_order_release, memory_scope_work_group);
  atomic_fetch_and_explicit(&wide[0], ~(1ul << i % 64), DEVICE);
  work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (!atomic_flag_test_and_set_explicit(&flag, DEVICE))
    atomic_store_explicit(&wide[1], 9, memory_order_release, memory_scope_device);
  work_group_barrier(CLK_GLOBAL_MEM_FENCE);
  CHECK(u[0] == 0 && u[1] == 9);
}

/* A message from one warp to another, by each kind of fence. */
KERNEL(fences) {
  volatile global int *message = (volatile global int *)scratch;
  global atomic_int *sent = (global atomic_int *)(scratch + 64);
  int i = get_local_id(0);
  for (int kind = 1; kind <= 3; kind++) {
    if (i == 0) {
      message[kind] = kind;
      if (kind == 1)
        write_mem_fence(CLK_GLOBAL_MEM_FENCE);
      else if (kind == 2)
        mem_fence(CLK_GLOBAL_MEM_FENCE);
      else
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
      atomic_store_explicit(sent, kind, memory_order_relaxed, memory_scope_device);
    }
    if (i == 64) {
      while (atomic_load_explicit(sent, memory_order_relaxed, memory_scope_device) < kind)
        ;
      if (kind == 1)
        read_mem_fence(CLK_GLOBAL_MEM_FENCE);
      else if (kind == 2)
        mem_fence(CLK_GLOBAL_MEM_FENCE);
      else
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
      CHECK(message[kind] == kind);
    }
  }
}

KERNEL(async_copies) {
  local float tile[64], strided[16];
  local int3 triples[8];
  local double4 wide[4];
  uint i = get_local_id(0);
  global int3 *source = (global int3 *)scratch;
  global double4 *sink = (global double4 *)(scratch + 64);
  if (i < 8)
    source[i] = (int3)(i, i + 1, i + 2);
  if (i < 4)
    wide[i] = (double4)(i, i + 1, i + 2, i + 3);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  event_t events[2];
  events[0] = async_work_group_copy(tile, in, 64, 0);
  events[1] = async_work_group_strided_copy(strided, in + 1, 16, 3, 0);
  event_t third = async_work_group_copy(triples, source, 8, 0);
  third = async_work_group_strided_copy(sink, wide, 4, 2, third);
  prefetch(in, 64);
  wait_group_events(2, events);
  wait_group_events(1, &third);
  CHECK(tile[i % 64] == in[i % 64] && strided[i % 16] == in[1 + 3 * (i % 16)]);
  CHECK(all(triples[i % 8] == (int3)(i % 8) + (int3)(0, 1, 2)));
  barrier(CLK_GLOBAL_MEM_FENCE);
  CHECK(all(sink[2 * (i % 4)] == wide[i % 4]));
}
// Beyond 2^16, the results of these functions may be any finite numbers in their range.
KERNEL(large_angles) {
  uint i = get_global_id(0);
  for (int power = 17; power < 128; power++) {
    float x = ldexp(in[i] < 0 ? -1.0f : 1.0f, power), y = ldexp(in[i] / 2, power);
    CHECK(fabs(half_sin(x)) <= 1 && fabs(half_sin(y)) <= 1);
    CHECK(fabs(half_cos(x)) <= 1 && fabs(half_cos(y)) <= 1);
    CHECK(!isnan(half_tan(x)) && !isnan(half_tan(y)));
  }
}
