// C = A B by tensor cores: tiles of 64 by 64 by 32 of f16 in shared memory, filled by
// asynchronous copies two tiles ahead, rows' 16-byte pieces exchanged so that ldmatrix has
// no bank conflicts; four warps, 32 by 32 results each.
typedef unsigned u32;
#define TILE 64
#define DEPTH 32
#define STAGES 3
__device__ u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void copy16(u32 to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}
// Byte offset of piece c of row r; rows of A have 4 pieces, of B 8.
__device__ u32 at_a(int r, int c) { return r * 64 + ((c ^ (r >> 1 & 3)) << 4); }
__device__ u32 at_b(int r, int c) { return r * 128 + ((c ^ (r & 7)) << 4); }
__device__ void load_tile(u32 sa, u32 sb, const char *a, const char *b, int n, int k) {
  for (int p = threadIdx.x; p < TILE * 4; p += blockDim.x)
    copy16(sa + at_a(p >> 2, p & 3), a + ((p >> 2) * n + k) * 2 + (p & 3) * 16);
  for (int p = threadIdx.x; p < DEPTH * 8; p += blockDim.x)
    copy16(sb + at_b(p >> 3, p & 7), b + (k + (p >> 3)) * n * 2 + (p & 7) * 16);
}
__device__ void load4(u32 (&r)[4], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
}
__device__ void load4_transposed(u32 (&r)[4], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
}
__device__ void multiply(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
               "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
extern "C" __global__ void gemm(const char *a, const char *b, float *c, int n) {
  __shared__ __align__(128) char tiles[STAGES][TILE * DEPTH * 2 * 2];
  a += blockIdx.y * TILE * n * 2;
  b += blockIdx.x * TILE * 2;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, row = warp >> 1, column = warp & 1;
  float d[2][4][4] = {};
  u32 base = shared_address(tiles), size = sizeof tiles[0];
  for (int s = 0; s < STAGES - 1; s++) {
    if (s * DEPTH < n)
      load_tile(base + s * size, base + s * size + size / 2, a, b, n, s * DEPTH);
    asm volatile("cp.async.commit_group;");
  }
  for (int k = 0, stage = 0; k < n; k += DEPTH, stage = (stage + 1) % STAGES) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    int next = (stage + STAGES - 1) % STAGES;
    if (k + (STAGES - 1) * DEPTH < n)
      load_tile(base + next * size, base + next * size + size / 2, a, b, n,
                k + (STAGES - 1) * DEPTH);
    asm volatile("cp.async.commit_group;");
    u32 sa = base + stage * size, sb = sa + size / 2;
#pragma unroll
    for (int step = 0; step < DEPTH / 16; step++) {
      u32 ra[2][4], rb[2][4];
      for (int i = 0; i < 2; i++)
        load4(ra[i], sa + at_a(row * 32 + i * 16 + (lane & 15), step * 2 + (lane >> 4)));
      for (int j = 0; j < 2; j++)
        load4_transposed(rb[j],
                         sb + at_b(step * 16 + (lane & 15), column * 4 + j * 2 + (lane >> 4)));
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
          multiply(d[i][j], ra[i], rb[j / 2][j % 2 * 2], rb[j / 2][j % 2 * 2 + 1]);
    }
  }
  c += (blockIdx.y * TILE + row * 32) * n + blockIdx.x * TILE + column * 32;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 4; j++)
      for (int h = 0; h < 2; h++)
        *(float2 *)&c[(i * 16 + h * 8 + lane / 4) * n + j * 8 + lane % 4 * 2] =
            make_float2(d[i][j][2 * h], d[i][j][2 * h + 1]);
}
// The same of bytes, B given by columns: sums of 32 products in one instruction.
extern "C" __global__ void gemm_bytes(const signed char *a, const signed char *bt, int *c, int n) {
  int lane = threadIdx.x & 31, warp = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  int row = warp / (n / 8) * 16, column = warp % (n / 8) * 8, g = lane >> 2, t = lane & 3;
  int d[4] = {};
  for (int k = 0; k < n; k += 32) {
    const signed char *pa = a + (row + g) * n + k + t * 4, *pb = bt + (column + g) * n + k + t * 4;
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(*(const int *)pa), "r"(*(const int *)(pa + 8 * n)), "r"(*(const int *)(pa + 16)),
          "r"(*(const int *)(pa + 8 * n + 16)), "r"(*(const int *)pb),
          "r"(*(const int *)(pb + 16)));
  }
  for (int h = 0; h < 2; h++)
    *(int2 *)&c[(row + g + 8 * h) * n + column + t * 2] = make_int2(d[2 * h], d[2 * h + 1]);
}
