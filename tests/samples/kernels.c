/* The samples: each runs a kernel, computes the same on the CPU, and compares the results. */
#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

/* Reproducible pseudo-random numbers for inputs (xorshift, Marsaglia 2003). */
static uint32_t random_state = 2463534242u;
static uint32_t random_u32(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  random_state ^= random_state << 5;
  return random_state;
}
static float random_float(void) {
  return (float)(random_u32() >> 8) / 16777216.0f;
}

bool sample_vadd(const struct host *host) {
  enum { N = 1 << 20 };
  static float a[N], b[N], got[N];
  for (int i = 0; i < N; i++) {
    a[i] = random_float();
    b[i] = random_float();
  }
  cl_program program = sample_build(host, "vadd");
  cl_mem ma = sample_buffer(host, sizeof a, a), mb = sample_buffer(host, sizeof b, b);
  cl_mem mc = sample_buffer(host, sizeof got, NULL);
  if (!program || !ma || !mb || !mc ||
      !sample_run(host, program, "vadd", 1, (size_t[]){N}, NULL, sizeof ma, &ma, sizeof mb, &mb,
                  sizeof mc, &mc, SAMPLE_END) ||
      !sample_fetch(host, mc, sizeof got, got))
    return sample_verdict("vadd", false, "did not run");
  clReleaseMemObject(ma);
  clReleaseMemObject(mb);
  clReleaseProgram(program);
  int wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += got[i] != a[i] + b[i];
  return sample_verdict("vadd", wrong == 0, "%d of %d sums differ from the CPU's", wrong, N);
}

bool sample_mandelbrot(const struct host *host) {
  enum { SIZE = 1024, LIMIT = 256 };
  const int width = SIZE, limit = LIMIT;
  const float x0 = -2.2f, y0 = -1.5f, step = 3.0f / SIZE;
  static uint8_t got[SIZE * SIZE], expected[SIZE * SIZE];
  cl_program program = sample_build(host, "mandelbrot");
  cl_mem out = sample_buffer(host, sizeof got, NULL);
  if (!program || !out ||
      !sample_run(host, program, "mandelbrot", 2, (size_t[]){SIZE, SIZE}, NULL, sizeof out, &out,
                  sizeof width, &width, sizeof x0, &x0, sizeof y0, &y0, sizeof step, &step,
                  sizeof limit, &limit, SAMPLE_END) ||
      !sample_fetch(host, out, sizeof got, got))
    return sample_verdict("mandelbrot", false, "did not run");
  clReleaseProgram(program);
  for (int py = 0; py < SIZE; py++)
    for (int px = 0; px < SIZE; px++) {
      float cx = x0 + (float)px * step, cy = y0 + (float)py * step, x = 0, y = 0;
      int n = 0;
      while (n < limit && x * x + y * y < 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        n++;
      }
      expected[py * SIZE + px] = (uint8_t)(n == limit ? 0 : 255 - n % 224);
    }
  int wrong = 0;
  for (int i = 0; i < SIZE * SIZE; i++)
    wrong += got[i] != expected[i];
  return sample_verdict("mandelbrot", wrong == 0, "%d of %d pixels differ from the CPU's", wrong,
                        SIZE * SIZE) &&
         picture_write_png(host->pictures, "fractal.png", got, SIZE, SIZE);
}

bool sample_matmul(const struct host *host) {
  enum { N = 256 };
  const int n = N;
  static float a[N * N], b[N * N], got[N * N];
  for (int i = 0; i < N * N; i++) {
    a[i] = random_float() - 0.5f;
    b[i] = random_float() - 0.5f;
  }
  cl_program program = sample_build(host, "matmul");
  cl_mem ma = sample_buffer(host, sizeof a, a), mb = sample_buffer(host, sizeof b, b);
  cl_mem mc = sample_buffer(host, sizeof got, NULL);
  if (!program || !ma || !mb || !mc ||
      !sample_run(host, program, "matmul", 2, (size_t[]){N, N}, (size_t[]){16, 16}, sizeof ma, &ma,
                  sizeof mb, &mb, sizeof mc, &mc, sizeof n, &n, SAMPLE_END) ||
      !sample_fetch(host, mc, sizeof got, got))
    return sample_verdict("matmul", false, "did not run");
  clReleaseMemObject(ma);
  clReleaseMemObject(mb);
  clReleaseProgram(program);
  int wrong = 0; /* fma in the same order, so the sums must be bit-identical */
  for (int row = 0; row < N; row++)
    for (int col = 0; col < N; col++) {
      float sum = 0;
      for (int k = 0; k < N; k++)
        sum = fmaf(a[row * N + k], b[k * N + col], sum);
      wrong += sum != got[row * N + col];
    }
  return sample_verdict("matmul", wrong == 0, "%d of %d elements differ from the CPU's", wrong,
                        N * N);
}

bool sample_histogram(const struct host *host) {
  enum { SIZE = 1 << 20, BINS = 256 };
  const cl_uint size = SIZE;
  static uint8_t data[SIZE];
  cl_uint expected[BINS] = {0}, got[BINS];
  for (int i = 0; i < SIZE; i++) {
    data[i] = (uint8_t)((random_u32() & 0xff) * (random_u32() & 0xff) >> 8);
    expected[data[i]]++;
  }
  cl_program program = sample_build(host, "histogram");
  cl_mem in = sample_buffer(host, sizeof data, data);
  const cl_uint zero[BINS] = {0};
  cl_mem total = sample_buffer(host, sizeof zero, zero);
  if (!program || !in || !total ||
      !sample_run(host, program, "histogram", 1, (size_t[]){16384}, (size_t[]){256}, sizeof in, &in,
                  sizeof size, &size, sizeof total, &total, sizeof expected, NULL, SAMPLE_END) ||
      !sample_fetch(host, total, sizeof got, got))
    return sample_verdict("histogram", false, "did not run");
  clReleaseMemObject(in);
  clReleaseProgram(program);
  int wrong = 0;
  for (int i = 0; i < BINS; i++)
    wrong += got[i] != expected[i];
  return sample_verdict("histogram", wrong == 0, "%d of %d bins differ from the CPU's", wrong,
                        BINS);
}

bool sample_nbody(const struct host *host) {
  enum { N = 2048 };
  const int n = N;
  const float dt = 0.01f, softening = 0.01f;
  static cl_float4 old[N], fresh[N], velocity[N];
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 4; k++)
      old[i].s[k] = k < 3 ? random_float() * 2 - 1 : random_float() / N;
  cl_program program = sample_build(host, "nbody");
  cl_mem mold = sample_buffer(host, sizeof old, old);
  cl_mem mfresh = sample_buffer(host, sizeof fresh, NULL);
  cl_mem mvelocity = sample_buffer(host, sizeof velocity, velocity);
  if (!program || !mold || !mfresh || !mvelocity ||
      !sample_run(host, program, "nbody", 1, (size_t[]){N}, NULL, sizeof mold, &mold, sizeof mfresh,
                  &mfresh, sizeof mvelocity, &mvelocity, sizeof n, &n, sizeof dt, &dt,
                  sizeof softening, &softening, SAMPLE_END) ||
      !sample_fetch(host, mfresh, sizeof fresh, fresh))
    return sample_verdict("nbody", false, "did not run");
  clReleaseMemObject(mold);
  clReleaseMemObject(mvelocity);
  clReleaseProgram(program);
  /* Error bound: rsqrt within 2 ulp, cubed, and n roundings of a sum with mixed signs. Compared
   * with a computation in double, relative to the sum of magnitudes. */
  double worst = 0;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 3; k++) {
      double sum = 0, magnitude = 0;
      for (int j = 0; j < N; j++) {
        double d[3], r = softening;
        for (int m = 0; m < 3; m++) {
          d[m] = (double)old[j].s[m] - (double)old[i].s[m];
          r += d[m] * d[m];
        }
        double term = d[k] * (double)old[j].s[3] / (r * sqrt(r));
        sum += term;
        magnitude += fabs(term);
      }
      double expected = (double)old[i].s[k] + (double)dt * (double)dt * sum;
      double bound = fabs(expected) + (double)dt * (double)dt * magnitude;
      worst = fmax(worst, fabs((double)fresh[i].s[k] - expected) / bound);
    }
  return sample_verdict("nbody", worst < 1e-6, "largest relative error %.2g (limit 1e-06)", worst);
}

bool sample_sha256(const struct host *host) {
  enum { COUNT = 10000, STRIDE = 56, WORDS = SHA256_DIGEST_LENGTH / 4 };
  const cl_uint stride = STRIDE;
  static uint8_t messages[COUNT * STRIDE];
  static cl_uint lengths[COUNT], got[COUNT * WORDS];
  for (size_t i = 0; i < sizeof messages; i++)
    messages[i] = (uint8_t)random_u32();
  for (int i = 0; i < COUNT; i++)
    lengths[i] = (cl_uint)i % STRIDE;
  cl_program program = sample_build(host, "sha256");
  cl_mem mm = sample_buffer(host, sizeof messages, messages);
  cl_mem ml = sample_buffer(host, sizeof lengths, lengths);
  cl_mem md = sample_buffer(host, sizeof got, NULL);
  if (!program || !mm || !ml || !md ||
      !sample_run(host, program, "sha256", 1, (size_t[]){COUNT}, NULL, sizeof mm, &mm,
                  sizeof stride, &stride, sizeof ml, &ml, sizeof md, &md, SAMPLE_END) ||
      !sample_fetch(host, md, sizeof got, got))
    return sample_verdict("sha256", false, "did not run");
  clReleaseMemObject(mm);
  clReleaseMemObject(ml);
  clReleaseProgram(program);
  int wrong = 0;
  for (int i = 0; i < COUNT; i++) {
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256(messages + (size_t)i * STRIDE, lengths[i], digest);
    bool same = true;
    for (int k = 0; k < WORDS; k++) {
      const uint8_t *d = digest + k * 4;
      same &= got[i * WORDS + k] ==
              ((uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 | (uint32_t)d[3]);
    }
    wrong += !same;
  }
  return sample_verdict("sha256", wrong == 0, "%d of %d digests differ from OpenSSL's", wrong,
                        COUNT);
}

static int pixel(const uint8_t *in, int width, int height, int x, int y) {
  x = x < 0 ? 0 : x >= width ? width - 1 : x;
  y = y < 0 ? 0 : y >= height ? height - 1 : y;
  return in[y * width + x];
}

/* Computes the same as kernels/edges.cl, on the CPU. */
static void edges_on_cpu(const uint8_t *in, uint8_t *smooth, uint8_t *out, int width, int height) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int sum = 0;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
          sum += pixel(in, width, height, x + i, y + j) * (2 - abs(i)) * (2 - abs(j));
      smooth[y * width + x] = (uint8_t)(sum / 16);
    }
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int gx = 0, gy = 0;
      for (int k = -1; k <= 1; k++) {
        gx += (2 - abs(k)) * (pixel(smooth, width, height, x + 1, y + k) -
                              pixel(smooth, width, height, x - 1, y + k));
        gy += (2 - abs(k)) * (pixel(smooth, width, height, x + k, y + 1) -
                              pixel(smooth, width, height, x + k, y - 1));
      }
      int magnitude = abs(gx) + abs(gy);
      out[y * width + x] = (uint8_t)(magnitude > 255 ? 255 : magnitude);
    }
}

bool sample_edges(const struct host *host) {
  uint8_t *photo = NULL;
  int width, height;
  if (!host->photo)
    return sample_verdict("edges", false, "needs a photograph: -p FILE.jpg");
  if (!picture_read_jpeg(host->photo, &photo, &width, &height))
    return sample_verdict("edges", false, "cannot read %s", host->photo);
  size_t size = (size_t)width * (size_t)height;
  uint8_t *got = malloc(size), *smooth = malloc(size), *expected = malloc(size);
  cl_program program = sample_build(host, "edges");
  cl_mem in = sample_buffer(host, size, photo);
  cl_mem middle = sample_buffer(host, size, NULL), out = sample_buffer(host, size, NULL);
  const size_t local[2] = {32, 8};
  const size_t global[2] = {((size_t)width + 31) / 32 * 32, ((size_t)height + 7) / 8 * 8};
  bool ran =
      got && smooth && expected && program && in && middle && out &&
      sample_run(host, program, "blur", 2, global, local, sizeof in, &in, sizeof middle, &middle,
                 sizeof width, &width, sizeof height, &height, SAMPLE_END) &&
      sample_run(host, program, "sobel", 2, global, local, sizeof middle, &middle, sizeof out, &out,
                 sizeof width, &width, sizeof height, &height, SAMPLE_END) &&
      sample_fetch(host, out, size, got);
  int wrong = 0;
  if (ran) {
    clReleaseMemObject(in);
    clReleaseMemObject(middle);
    clReleaseProgram(program);
    edges_on_cpu(photo, smooth, expected, width, height);
    for (size_t i = 0; i < size; i++)
      wrong += got[i] != expected[i];
  }
  bool ok = sample_verdict("edges", ran && wrong == 0, "%d of %zu pixels differ from the CPU's",
                           wrong, size) &&
            picture_write_png(host->pictures, "edges.png", got, width, height);
  free(photo);
  free(got);
  free(smooth);
  free(expected);
  return ok;
}
