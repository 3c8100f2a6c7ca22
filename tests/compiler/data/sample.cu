/* Source of the CUBINs beside it (nothing of NVIDIA's libraries is in them), which show what the reader must understand:
 * all sections, relocations, attributes. Each was made from the PTX that nvcc 13.0
 * gives for compute_80 (version lowered to what the older ptxas takes, and
 * `.reqntid 32, 2, 1` added to k_required):
 *   sample-11.8.cubin, -12.4, -13.0   ptxas -arch=sm_87 (11.8: with -DSMALL, more
 *                                     than 4352 bytes of parameters came later)
 *   debug-13.0.cubin                  nvcc -cubin -G -DSMALL -arch=sm_87
 *   sm86-13.0.cubin, sm90-13.0.cubin  nvcc -cubin -arch=sm_86, sm_90
 *   unlinked-13.0.cubin               nvcc -dc -cubin -arch=sm_87
 *   printf-13.0.cubin                 nvcc -cubin -arch=sm_87 -DPRINT
 */
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter;
__device__ int *counter_address = &counter;

extern "C" __global__ void __launch_bounds__(256)
    k_add(const float *__restrict__ a, float *b, unsigned local, float4 v, int n) {
  extern __shared__ float dynamic[];
  __shared__ float fixed[33];
  int i = threadIdx.x;
  fixed[i & 31] = a[i];
  dynamic[i] = 1;
  __syncthreads();
  b[i] = fixed[(i + 1) & 31] + v.x + table[n & 3] + dynamic[(i + local) & 31];
  atomicAdd(counter_address, 1);
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void k_recursive(int *out, int n) { *out = fibonacci(n); }

__device__ __noinline__ int frame(int n) {
  volatile int a[20];
  a[n] = 3;
  return a[n / 2];
}

extern "C" __global__ void k_stack(int *out, int n) {
  volatile int b[50];
  b[n] = 1;
  *out = frame(n) + b[n + 1];
}

typedef int (*function)(int);
__device__ function functions[2] = {fibonacci, frame};

extern "C" __global__ void k_pointer(int *out, int n) { *out = functions[n & 1](n); }

extern "C" __global__ void k_required(double *out) { *out = 2 * out[1]; }

#ifndef SMALL
struct big {
  char bytes[5000];
};

extern "C" __global__ void k_big(double *out, struct big b, int n) { *out = b.bytes[n]; }
#endif

extern "C" __global__ void k_nothing(void) {}

#ifdef PRINT
extern "C" __global__ void k_print(int n) { printf("%d\n", n); }
#endif
