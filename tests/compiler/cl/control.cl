/* Control flow: loops that swap and rotate values (phi copies), switches,
 * early exits, nested breaks, gotos made by the optimiser. */
kernel void swap(global int *a, int n) {
  int x = a[0], y = a[1], z = a[2];
  for (int i = 0; i < n; i++) {
    int t = x;
    x = y;
    y = z;
    z = t;
  }
  a[3] = x;
  a[4] = y;
  a[5] = z;
}

kernel void lost_copy(global int *a, int n) {
  int last = -1, now = 0;
  while (now < n) {
    last = now;
    now += a[now & 7] + 1;
  }
  a[8] = last;
  a[9] = now;
}

kernel void fibonacci(global ulong *out, int n) {
  ulong a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    out[i] = a;
    ulong c = a + b;
    a = b;
    b = c;
  }
}

kernel void choose(global int *a, long key) {
  int i = get_global_id(0), r;
  switch (a[i]) {
  case 0: r = 10; break;
  case 1: r = 11;
  case 2: r = i; break;
  case 100: return;
  case -5: r = 3; break;
  default: r = -1;
  }
  switch (key) {
  case 0x100000000l: r += 7; break;
  case -1: r += 9; break;
  case 3: r *= 5; break;
  }
  char small = (char)r;
  switch (small) {
  case 'a': r = 1; break;
  case 'b': r = 1000; break;
  case -128: r = 77; break;
  case 9: r = -1000; break;
  }
  a[i] = r;
}

kernel void nested(global int *a, int w, int h) {
  int found = -1;
  for (int y = 0; y < h; y++) {
    for (int x = 0; x < w; x++) {
      if (a[y * w + x] == 0)
        continue;
      if (a[y * w + x] < 0)
        goto out;
      found = y * w + x;
    }
    if (found > h)
      break;
  }
out:
  do {
    found++;
  } while (found & 3);
  a[0] = found;
}

kernel void divergent(global const int *in, global int *out, local int *shared) {
  int l = get_local_id(0);
  shared[l] = in[get_global_id(0)];
  for (int step = get_local_size(0) / 2; step > 0; step >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < step)
      shared[l] += shared[l + step];
  }
  if (l == 0)
    out[get_group_id(0)] = shared[0];
}
