/* C = A B of row-major n x n matrices on the tensor cores, half precision into float: 128 x 128
 * elements of C for each block, 64 x 32 of them in the registers of each warp, as products of
 * 16 x 16 x 16. n is a multiple of 128. */
#define TILE    128
#define DEPTH   32
#define ROWS    4 /* products of each warp, down and across */
#define COLUMNS 2
/* Eight more elements in a row of a tile: ldmatrix reads rows without conflicts of banks. */
#define PITCH_A (DEPTH + 8)
#define PITCH_B (TILE + 8)

/* Loads a 16 x 16 tile, 8 x 8 elements for each quarter of the lanes. */
static __device__ void load_a(unsigned *r, const unsigned short *tile, int lane) {
  unsigned at = __cvta_generic_to_shared(tile + lane % 16 * PITCH_A + lane / 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}

static __device__ void load_b(unsigned *r, const unsigned short *tile, int lane) {
  unsigned at = __cvta_generic_to_shared(tile + lane % 16 * PITCH_B + lane / 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}

static __device__ void multiply_add(float *sum, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(256)
    hgemm_tensor(const unsigned short *__restrict__ a, const unsigned short *__restrict__ b,
                 float *__restrict__ c, int n) {
  __shared__ __align__(16) unsigned short tile_a[TILE * PITCH_A];
  __shared__ __align__(16) unsigned short tile_b[DEPTH * PITCH_B];
  int item = threadIdx.x, lane = item % 32, warp = item / 32;
  int row = warp / 4 * (16 * ROWS), column = warp % 4 * (16 * COLUMNS);
  /* 16 bytes of two rows of each tile */
  int row_a = item / (DEPTH / 8), column_a = item % (DEPTH / 8) * 8;
  int row_b = item / (TILE / 8), column_b = item % (TILE / 8) * 8;
  const unsigned short *from_a = a + (blockIdx.y * TILE + row_a) * n + column_a;
  const unsigned short *from_b = b + row_b * n + blockIdx.x * TILE + column_b;
  uint4 *to_a = (uint4 *)(tile_a + row_a * PITCH_A + column_a);
  uint4 *to_b = (uint4 *)(tile_b + row_b * PITCH_B + column_b);
  float sum[ROWS][COLUMNS][8] = {};
  for (int k = 0; k < n; k += DEPTH) {
    to_a[0] = *(const uint4 *)from_a;
    to_a[TILE / 2 * PITCH_A / 8] = *(const uint4 *)(from_a + TILE / 2 * n);
    to_b[0] = *(const uint4 *)from_b;
    to_b[DEPTH / 2 * PITCH_B / 8] = *(const uint4 *)(from_b + DEPTH / 2 * n);
    from_a += DEPTH;
    from_b += DEPTH * n;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < DEPTH; i += 16) {
      unsigned part_a[ROWS][4], part_b[COLUMNS][4];
#pragma unroll
      for (int y = 0; y < ROWS; y++)
        load_a(part_a[y], tile_a + (row + 16 * y) * PITCH_A + i, lane);
#pragma unroll
      for (int x = 0; x < COLUMNS; x++)
        load_b(part_b[x], tile_b + i * PITCH_B + column + 16 * x, lane);
#pragma unroll
      for (int y = 0; y < ROWS; y++)
#pragma unroll
        for (int x = 0; x < COLUMNS; x++) {
          multiply_add(sum[y][x], part_a[y], part_b[x]);
          multiply_add(sum[y][x] + 4, part_a[y], part_b[x] + 2);
        }
    }
    __syncthreads();
  }
  float *to = c + (blockIdx.y * TILE + row + lane / 4) * n + blockIdx.x * TILE + column +
              lane % 4 * 2;
#pragma unroll
  for (int y = 0; y < ROWS; y++)
#pragma unroll
    for (int x = 0; x < COLUMNS; x++)
#pragma unroll
      for (int i = 0; i < 8; i += 2)
        *(float2 *)&to[(16 * y + i / 2 % 2 * 8) * n + 16 * x + i / 4 * 8] =
            make_float2(sum[y][x][i], sum[y][x][i + 1]);
}
