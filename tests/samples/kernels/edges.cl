/* Edges of a grey picture: 3 by 3 Gauss blur, then the Sobel magnitude. */
int at(global const uchar *in, int width, int height, int x, int y) {
  return in[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

kernel void blur(global const uchar *in, global uchar *out, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  int sum = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      sum += at(in, width, height, x + i, y + j) * (2 - abs(i)) * (2 - abs(j));
  out[y * width + x] = sum / 16;
}

kernel void sobel(global const uchar *in, global uchar *out, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  int gx = 0, gy = 0;
  for (int k = -1; k <= 1; k++) {
    int weight = 2 - abs(k);
    gx += weight * (at(in, width, height, x + 1, y + k) - at(in, width, height, x - 1, y + k));
    gy += weight * (at(in, width, height, x + k, y + 1) - at(in, width, height, x + k, y - 1));
  }
  out[y * width + x] = convert_uchar_sat(abs(gx) + abs(gy));
}
