// Decodes LZ4 blocks, one for each thread. length is the decoded length, or -1.
extern "C" __global__ void lz4(const unsigned char *in, const unsigned *start,
                               unsigned char *out, int room, int *length, int blocks) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= blocks)
    return;
  const unsigned char *p = in + start[t], *end = in + start[t + 1];
  unsigned char *to = out + (size_t)t * room;
  int at = 0;
  length[t] = -1;
  while (p < end) {
    unsigned token = *p++, n = token >> 4;
    if (n == 15)
      for (unsigned more = 255; more == 255 && p < end;)
        n += more = *p++;
    if (n > (unsigned)(end - p) || at + (int)n > room)
      return;
    while (n--)
      to[at++] = *p++;
    if (p == end)
      break;
    if (end - p < 2)
      return;
    int offset = p[0] | p[1] << 8;
    p += 2;
    n = token & 15;
    if (n == 15)
      for (unsigned more = 255; more == 255 && p < end;)
        n += more = *p++;
    n += 4;
    if (!offset || offset > at || at + (int)n > room)
      return;
    for (; n; n--, at++)
      to[at] = to[at - offset];
  }
  length[t] = at;
}
