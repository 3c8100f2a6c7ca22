/* What differs between the LLVM IR of SPIR-V and of OpenCL C: address spaces, arguments by
 * value, built-in functions with pointers, barriers. Built both ways. */
constant float table[4] = {0.5f, 1.5f, 2.5f, 3.5f};
constant float *constant tables[2] = {table, table + 2};
global int counter = 7;

typedef struct {
  char tag;
  float3 scale;
  int offsets[5];
} setup;

float pick(const float *any, int i) {
  return any[i & 7];
}

void spread(float *any, int count) {
  for (int i = 0; i < count; i++)
    any[i] = i * 1.25f;
}

struct node {
  global const float4 *at;
  const struct node *next;
};

float walk(const struct node *node) {
  float sum = 0;
  for (; node; node = node->next)
    sum = sum * 3 + node->at->x;
  return sum;
}

kernel void double_all(global float *out) {
  out[3 * get_global_id(0)] *= 2;
}

__attribute__((reqd_work_group_size(32, 1, 1))) kernel void features(global float *restrict out, const global float4 *in, local float *scratch,
                     constant uint *words, setup s, double3 wide, uchar small,
                     volatile global int *sums) {
  const int i = get_global_id(0), l = get_local_id(0);
  float private_array[8];
  scratch[l] = in[i].x * s.scale.y;
  barrier(CLK_LOCAL_MEM_FENCE);
  spread(private_array, 8);
  const float *any = private_array;
  if (i % 3 == 1)
    any = scratch;
  else if (i % 3 == 2)
    any = (const float *)in;
  float sum = pick(any, i);
  float4 v = fma(in[i], (float4)(s.scale, 1), table[i & 3]);
  float whole;
  sum += fract(v.y, &whole) + whole;
  vstore3(convert_float3(wide) + v.xyz, i, out);
  atomic_add(sums, s.offsets[i % 5]);
  atomic_fetch_max_explicit((volatile global atomic_int *)sums + 1, i, memory_order_relaxed,
                            memory_scope_device);
  if (i == 0)
    atomic_add((volatile global int *)&counter, small);
  for (int k = 0; k < (int)(words[0] & 15); k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (words[k & 3] > 100)
      break;
    sum += native_sin(sum) + scratch[(l + k) % get_local_size(0)];
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  const struct node last = {in + i, 0}, first = {in, &last};
  sum += walk(&first);
  double_all(out);
  out[3 * i] += sum + s.tag + tables[i & 1][words[i & 3] & 1];
  out[3 * i + 1] += as_float(popcount(i) + mul24(i, 3) + convert_int_sat_rte(v.z));
  out[3 * i + 2] += work_group_reduce_add(i) + sub_group_reduce_max(i);
}
