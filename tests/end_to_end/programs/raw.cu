/* Source of raw-13.0.cubin, made by nvcc -cubin -arch=sm_87: kernels as CUDA programmers
 * have them, for clCreateProgramWithBinary. */
extern "C" __global__ void scale(const float *in, float *out, float factor, unsigned long long n) {
  unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * factor;
}

/* A C++ name; doubles and pointers have the same size. */
__global__ void axpy(double a, const double *x, double *y) { y[threadIdx.x] += a * x[threadIdx.x]; }

struct pair {
  long long count;
  int *at;
};

extern "C" __global__ void count(struct pair pair) { atomicAdd(pair.at, (int)pair.count); }

extern "C" __global__ void is_null(const void *pointer, int *out) { *out = pointer == nullptr; }
