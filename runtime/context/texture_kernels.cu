// Reads and stores by the texture units, with handles in each form that the compiler of kernels uses:
// in a constant bank, in uniform registers, in a register of each thread. For the self-check.
// runtime/generate_kernels.py compiles this into texture_kernels.h.

typedef unsigned u32;
typedef unsigned long long u64;

// What a thread reads or stores. Reads: the bits of the coordinates, which are floats for KIND_SAMPLE.
// Stores: integer coordinates.
struct request {
  u32 handle; // used by the register forms
  u32 kind;
  u32 x, y;
};
enum { KIND_SAMPLE, KIND_FETCH, KIND_FETCH_BUFFER };
enum { HANDLES = 128 };

struct arguments {
  u32 handle[HANDLES]; // of each block; used by the uniform form
  u64 constant;        // handle for the constant forms
  u64 requests;        // of each thread
  u64 colours;         // of each thread: read, or to be stored
};

__device__ static uint4 read(u64 handle, const request &r) {
  uint4 c;
  if (r.kind == KIND_SAMPLE)
    asm volatile("tex.level.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], 0f00000000;"
                 : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
                 : "l"(handle), "f"(__uint_as_float(r.x)), "f"(__uint_as_float(r.y)));
  else if (r.kind == KIND_FETCH)
    asm volatile("tex.level.2d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}], 0;"
                 : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
                 : "l"(handle), "r"(r.x), "r"(r.y));
  else
    asm volatile("tex.level.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}], 0;"
                 : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
                 : "l"(handle), "r"(r.x));
  return c;
}

__device__ static void store(u64 handle, const request &r, const uint4 &c) {
  asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(handle),
               "r"(r.x), "r"(r.y), "r"(c.x), "r"(c.y), "r"(c.z), "r"(c.w)
               : "memory");
}

__device__ static u32 number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

#define READ(FORM, handle)                                                                         \
  extern "C" __global__ void read_##FORM(const __grid_constant__ arguments a) {                    \
    const request r = ((const request *)a.requests)[number()];                                     \
    ((uint4 *)a.colours)[number()] = read(handle, r);                                              \
  }
#define STORE(FORM, handle)                                                                        \
  extern "C" __global__ void store_##FORM(const __grid_constant__ arguments a) {                   \
    const request r = ((const request *)a.requests)[number()];                                     \
    store(handle, r, ((const uint4 *)a.colours)[number()]);                                        \
  }

// Each has one instruction. If several have the same handle, the compiler loads it into a uniform
// register.
#define READ_CONSTANT(NAME, KIND)                                                                  \
  extern "C" __global__ void NAME##_constant(const __grid_constant__ arguments a) {                \
    request r = ((const request *)a.requests)[number()];                                           \
    r.kind = KIND;                                                                                 \
    ((uint4 *)a.colours)[number()] = read(a.constant, r);                                         \
  }

READ_CONSTANT(sample, KIND_SAMPLE)
READ_CONSTANT(fetch, KIND_FETCH)
READ_CONSTANT(buffer, KIND_FETCH_BUFFER)
READ(uniform, a.handle[blockIdx.x])
READ(register, r.handle)
STORE(constant, a.constant)
STORE(register, r.handle)
