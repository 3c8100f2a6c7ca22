/* Work-groups that communicate through global memory; all but the last kernel are for
 * groups of one work-item. Each leaves 1 in result[group] if what it read was right.
 * With WRONG they lack what they need for that.
 */

/* As plain C has them, but the compiler neither moves them nor leaves them out. */
uint plain(global uint *p) {
  uint v;
  asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(v) : "l"((ulong)p) : "memory");
  return v;
}
void put(global uint *p, uint v) {
  asm volatile("st.weak.global.u32 [%0], %1;" ::"l"((ulong)p), "r"(v) : "memory");
}

#ifdef WRONG
#define FENCE()
#define ORDER memory_order_relaxed
#else
#define FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define ORDER   memory_order_acquire
#endif

/* Words in their own lines. */
enum { GROUPS = 24, LAST = 4095, DATA = 0, FLAG = 32, COUNT = 64, PARTS = 96, ROUND = 2048 };

/* The first group waits until the others have been here. */
bool first_of_all(volatile global uint *count) {
  if (get_group_id(0)) {
    atomic_inc(count);
    return false;
  }
  while (*count + 1 != get_num_groups(0))
    ;
  return true;
}

/* Programs that differ in code and constants, one after the other. */
constant uint table[GROUPS] = {[0 ... GROUPS - 1] = VALUE};
kernel void program(global uint *words, global uint *result, uint round) {
  put(result + get_group_id(0),
      words[LAST] == VALUE && table[get_group_id(0)] == words[LAST]);
}

/* What the host has written, and the argument that says so. */
kernel void rounds(global uint *words, global uint *result, uint round) {
  const uint written = *(volatile global uint *)(words + ROUND);
  put(result + get_group_id(0), plain(words + ROUND) == written && round == written);
}

/* Data, then a flag that says it is there. */
kernel void message(global uint *words, global uint *result, uint round) {
  volatile global uint *flag = words + FLAG;
  const uint before = plain(words + DATA);
  if (first_of_all(words + COUNT)) {
    put(words + DATA, 1);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    *flag = 1;
  } else {
    while (!*flag)
      ;
    FENCE();
  }
  put(result + get_group_id(0), plain(words + DATA) - before);
}

/* The same with the atomics of OpenCL 2.0. */
kernel void ordered(global uint *words, global uint *result, uint round) {
  volatile global atomic_uint *flag = (volatile global atomic_uint *)(words + FLAG);
  const uint before = plain(words + DATA);
  if (first_of_all(words + COUNT)) {
    put(words + DATA, 1);
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
  } else {
    while (!atomic_load_explicit(flag, ORDER, memory_scope_device))
      ;
  }
  put(result + get_group_id(0), plain(words + DATA) - before);
}

/* Only a flag: a loop that reads it with plain loads may never end. */
kernel void flag(global uint *words, global uint *result, uint round) {
  volatile global uint *flag = words + FLAG;
  uint seen = plain(words + FLAG);
  if (first_of_all(words + COUNT)) {
    *flag = 1;
    seen = 1;
  }
#ifdef WRONG
  for (uint n = 0; !seen && n < 100000; n++)
    seen = plain(words + FLAG);
#else
  while (!seen)
    seen = *flag;
#endif
  put(result + get_group_id(0), seen);
}

/* A lock around a counter. */
kernel void lock(global uint *words, global uint *result, uint round) {
  volatile global uint *taken = words + FLAG;
  uint last = 0, good = 1;
  for (uint n = 0; n < 4; n++) {
    while (atomic_cmpxchg(taken, 0, 1))
      ;
    FENCE();
    const uint count = plain(words + DATA) + 1;
    put(words + DATA, count);
    FENCE();
    good &= count == atomic_inc(words + COUNT) + 1;
    atomic_xchg(taken, 0);
  }
  put(result + get_group_id(0), good);
}

/* A counter in local memory, which holds anything at first. */
kernel void leftover(global uint *words, global uint *result, uint round) {
  local uint counter;
#ifndef WRONG
  counter = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  put(result + get_group_id(0), atomic_inc(&counter) + 1);
}

/* The last group adds up what each has left. */
kernel void last(global uint *words, global uint *result, uint round) {
  const uint groups = get_num_groups(0);
  uint sum = 0;
  for (uint k = 0; k < groups; k++)
    sum |= plain(words + PARTS + k);
  put(words + PARTS + get_group_id(0), 1);
  FENCE();
  if (atomic_inc(words + COUNT) + 1 == groups) {
    FENCE();
    sum = 0;
    for (uint k = 0; k < groups; k++)
      sum += plain(words + PARTS + k);
    put(result + get_group_id(0), sum == groups);
  } else {
    put(result + get_group_id(0), sum <= 1);
  }
}

/* Within a group a barrier suffices, and atomics are seen by plain loads after them. */
kernel void group(global uint *words, global uint *result, uint round) {
  const uint i = get_local_id(0), n = get_local_size(0);
  global uint *mine = words + get_group_id(0) * (n + 1), *sum = mine + n;
  uint good = 1;
  for (uint round = 1; round < 9; round++) {
    put(mine + i, round * i);
    barrier(CLK_GLOBAL_MEM_FENCE);
    good &= plain(mine + (i + 1) % n) == round * ((i + 1) % n);
    atomic_add(sum, good);
    good &= plain(sum) > (round - 1) * n;
    barrier(CLK_GLOBAL_MEM_FENCE);
    good &= plain(sum) == round * n;
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (i == 0)
    put(result + get_group_id(0), good);
}
