/* Shared by the CUDA C kernels for images. */
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;

static __device__ unsigned char unorm8(float v) {
  return (unsigned char)__float2uint_rn(__saturatef(v) * 255.0f);
}

static __device__ uchar4 rgba8(float r, float g, float b, float a) {
  return make_uchar4(unorm8(r), unorm8(g), unorm8(b), unorm8(a));
}
