/* Kernels of mutated.c: what they compute goes to memory only if it is a number
 * that it never is, so that they run with any pointer.
 */
uint step(uint x) {
  return rotate(x * 2654435761u, 13u) ^ popcount(x);
}

kernel void hash(global uint *out, uint seed, uint rounds) {
  uint x = seed + (uint)get_global_id(0);
  for (uint k = 0; k < (rounds & 63); k++)
    x = x & 1 ? step(x) : x / 3 + k;
  if (x * 2 == 0x12345679)
    out[0] = x;
}

kernel void exchange(global float *out, float scale) {
  local float part[64];
  float private_table[16];
  size_t l = get_local_id(0);
  for (uint k = 0; k < 16; k++)
    private_table[k] = sin(scale * k);
  part[l & 63] = private_table[l & 15];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (uint k = 0; k < 64; k++)
    sum += part[(l * k) & 63] / (1 + private_table[k & 15] * private_table[k & 15]);
  if (isinf(sum))
    out[0] = sum;
}

kernel void wide(global double *out, double x, long n) {
  double y = fma(x, x, 1.0) / 7.0;
  long m = n / 3 + n % 1000003;
  if (isnan(y) && m == 123456789)
    out[0] = y;
}
