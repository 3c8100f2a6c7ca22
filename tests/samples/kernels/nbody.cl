/* One step of n bodies under gravity; xyz position, w mass. */
kernel void nbody(global const float4 *old, global float4 *fresh, global float4 *velocity, int n,
                  float dt, float softening) {
  int i = get_global_id(0);
  float4 p = old[i];
  float3 a = (float3)(0.0f);
  for (int j = 0; j < n; j++) {
    float4 q = old[j];
    float3 d = q.xyz - p.xyz;
    float r = rsqrt(dot(d, d) + softening);
    a += d * (q.w * r * r * r);
  }
  float4 v = velocity[i];
  v.xyz += a * dt;
  velocity[i] = v;
  fresh[i] = (float4)(p.xyz + v.xyz * dt, p.w);
}
