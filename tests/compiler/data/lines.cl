/* The source of lines-13.0.cubin: tegraclc lines.cl --emit cubin -o lines-13.0.cubin
 * (CUDA 13.0, run in the root folder, which the line table names). */
kernel void first(global int *p) {
  p[0] = 3;
}

kernel void second(global float *q, int n) {
  float s = 0;
  for (int i = 0; i < n; i++)
    s += sin(q[i]);
  q[n] = s;
}

#line 100 "other \"file\".clh"
kernel void third(global int *p) {
  p[1] = p[0];
}
