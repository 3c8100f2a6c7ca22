/* Source of kinds-13.0.cubin, made by nvcc -cubin -arch=sm_87: kernels that show attributes
 * which sample.cu's lack (of barriers, warp-wide instructions, exits, textures and surfaces,
 * launch bounds, local memory), for the fuzzing of the reader. */
__device__ int shared_state[64];

extern "C" __global__ void __launch_bounds__(128, 4) k_bounds(int *out) { *out = threadIdx.x; }

extern "C" __global__ void __maxnreg__(40) k_registers(float *out, int n) {
  float local[64];
  for (int i = 0; i < 64; i++)
    local[i] = out[i * n];
  for (int i = 0; i < n; i++)
    local[i & 63] += local[(i * 7) & 63];
  out[0] = local[n & 63];
}

extern "C" __global__ void k_warp(unsigned *out, int n) {
  unsigned x = out[threadIdx.x];
  x += __shfl_xor_sync(0xffffffffu, x, 3) + __ballot_sync(0xffffffffu, x & 1);
  x ^= __match_any_sync(0xffffffffu, x & 3) + __reduce_add_sync(0xffffffffu, x);
  if (x == 12345u)
    return;
  __syncwarp();
  out[threadIdx.x] = x / (unsigned)n + x % 17u;
  if (n < 0)
    __trap();
}

extern "C" __global__ void k_barriers(int *out, int n) {
  __shared__ int part[256];
  part[threadIdx.x] = out[threadIdx.x];
  if (__syncthreads_or(n))
    asm volatile("barrier.sync %0, %1;" ::"r"(n & 7), "r"(64));
  asm volatile("bar.arrive 9, 64;");
  __syncthreads();
  out[threadIdx.x] = part[255 - threadIdx.x] + atomicAdd(&shared_state[n & 63], 1);
}

extern "C" __global__ void k_images(cudaTextureObject_t t, cudaSurfaceObject_t s, float *out) {
  out[threadIdx.x] = tex2D<float>(t, threadIdx.x * 0.5f, 1.0f);
  surf2Dwrite(out[0], s, 4, 5);
}

extern "C" __global__ void k_copy(const float4 *__restrict__ in, float4 *out) {
  extern __shared__ float4 tile[];
  unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.wait_all;" ::"r"(to),
               "l"(in + threadIdx.x));
  out[threadIdx.x] = tile[threadIdx.x];
}

struct wide {
  double a;
  char b[3];
  short4 c;
};

extern "C" __global__ void k_many(char a, short b, int c, long long d, struct wide e, float2 f,
                                  const __grid_constant__ int g, void *out) {
  *(double *)out = a + b + c + (double)d + e.a + e.b[1] + e.c.z + f.y + g;
}
