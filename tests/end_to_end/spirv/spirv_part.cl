/* To be linked with a program from source: a function for it, and one from it. */
float of_source(const float *any, int i);

float of_module(float *any, int i) {
  any[i] += 1;
  return any[i] * 2;
}

kernel void module_kernel(global float *out) {
  float own[2] = {3, 4};
  const int i = get_global_id(0);
  out[i] = of_source(own, i & 1) + of_source(out, i);
}
