/* Escape times of the Mandelbrot set. */
#pragma OPENCL FP_CONTRACT OFF

kernel void mandelbrot(global uchar *out, int width, float x0, float y0, float step, int limit) {
  int px = get_global_id(0), py = get_global_id(1);
  float cx = x0 + px * step, cy = y0 + py * step;
  float x = 0.0f, y = 0.0f;
  int n = 0;
  while (n < limit && x * x + y * y < 4.0f) {
    float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    n++;
  }
  out[py * width + px] = n == limit ? 0 : 255 - n % 224;
}
