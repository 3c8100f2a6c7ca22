// Names of C++, CUDA C, the C library and the device library are plain ones here: of
// kernels, functions, arguments, members, variables and labels.
#define KERNELS(X)                                                                                 \
  X(mix) X(asm_) X(threadIdx) X(class) X(new) X(template) X(operator) X(delete) X(this)            \
  X(namespace) X(try) X(catch) X(throw) X(and) X(or) X(not) X(xor) X(memcpy) X(malloc)             \
  X(blockDim) X(warpSize) X(__shfl_sync) X(ocl) X(hidden_) X(v0) X(a0) X(B0) X(t) X(u32) X(vec)    \
  X(pack2) X(dynamic_shared) X(k_k) X(abs) X(max) X(dot) X(std) X(assert) X(exit) X(__global__)    \
  X(__shared__) X(opaque_) X(fma_) X(nullptr) X(constexpr) X(import) X(final) X(dim3) X(lower)
#define FUNCTIONS(X)                                                                               \
  X(public) X(friend) X(mutable) X(explicit) X(export) X(alignas) X(decltype) X(static_assert)     \
  X(thread_local) X(wchar_t) X(typename) X(using) X(virtual) X(bitand) X(compl) X(sin) X(clamp)    \
  X(gridDim) X(blockIdx) X(free) X(hidden) X(s64) X(param) X(as_global) X(f0_k) X(r0) X(min)       \
  X(round) X(cudaMalloc) X(concept) X(requires) X(co_await) X(module) X(override) X(char8_t)       \
  X(__device__) X(__constant__) X(float_to_half) X(as_shared)

#define FUNCTION(name)                                                                             \
  __attribute__((noinline, overloadable)) int name(char3 *name) { return name->x + 1; }
#define KERNEL(name)                                                                               \
  struct s_##name { int name; };                                                                   \
  kernel void name(global int *a, struct s_##name s, int n) {                                      \
    int name = s.name + n;                                                                         \
    if (n > 1)                                                                                     \
      goto name;                                                                                   \
    name++;                                                                                        \
  name:                                                                                            \
    a[get_global_id(0)] = name;                                                                    \
  }
#define CALL(name) sum += name(&argument);

FUNCTIONS(FUNCTION)
KERNELS(KERNEL)

kernel void calls(global int *a) {
  char3 argument = (char)a[0];
  int sum = 0;
  FUNCTIONS(CALL)
  a[0] = sum;
}
