/* Accelerations of n bodies (x, y, z, mass) on each other, a tile of them in
 * local memory at a time. n is a multiple of the work-group's 128. */
#define TILE 128

__attribute__((reqd_work_group_size(TILE, 1, 1))) kernel void
nbody(global const float4 *restrict bodies, global float4 *restrict out, int n) {
  local float4 tile[TILE];
  int item = get_local_id(0), i = get_global_id(0);
  float4 me = bodies[i];
  float3 sum = 0;
  for (int k = 0; k < n; k += TILE) {
    tile[item] = bodies[k + item];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < TILE; j++) {
      float4 other = tile[j];
      float3 d = other.xyz - me.xyz;
      float inverse = rsqrt(d.x * d.x + d.y * d.y + d.z * d.z + 1e-6f);
      sum += d * (other.w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = (float4)(sum, 0);
}
