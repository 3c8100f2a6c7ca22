/* halo [SIDE [STEPS]]: heat flow in a square plate, split into bands of rows, one for each MPI
 * rank. Each rank computes its band on its device, and exchanges edge rows with its neighbours
 * after each step. Rank 0 then computes the whole plate alone; the results must be identical bit
 * for bit. */
#include <mpi.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

static const char source[] =
    "kernel void step(global const float *from, global float *to, int side) {\n"
    "  int x = get_global_id(0), y = get_global_id(1) + 1, i = y * side + x;\n"
    "  float left = x ? from[i - 1] : 0, right = x < side - 1 ? from[i + 1] : 0;\n"
    "  to[i] = from[i] + 0.2f * (left + right + from[i - side] + from[i + side] - 4 * from[i]);\n"
    "}\n";

enum { UP = 1, DOWN = 2 }; /* tags: direction in which a row is sent */

/* Rows of the plate with an extra row above and below. There are two copies, used in turn. */
struct band {
  struct opencl *opencl;
  cl_kernel kernel;
  cl_mem rows[2];
  int side, first, count;
};

static void band_begin(struct band *b, struct opencl *opencl, int side, int first, int count) {
  *b = (struct band){.opencl = opencl, .side = side, .first = first, .count = count};
  const size_t cells = (size_t)side * (size_t)(count + 2);
  float *start = calloc(cells, sizeof *start);
  CHECK(start);
  for (int y = 0; y < count; y++)
    for (int x = 0; x < side; x++)
      start[(y + 1) * side + x] = (float)((x * 7 + (first + y) * 13) % 101);
  /* Initial values of the neighbours' rows; outside the plate it is cold. */
  for (int edge = -1; edge <= count; edge += count + 1)
    for (int x = 0; x < side && first + edge >= 0 && first + edge < side; x++)
      start[(edge + 1) * side + x] = (float)((x * 7 + (first + edge) * 13) % 101);
  cl_int error;
  for (int i = 0; i < 2; i++) {
    b->rows[i] =
        clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, cells * sizeof *start, start, &error);
    CHECK_CL(error, CL_SUCCESS);
  }
  free(start);
  b->kernel = opencl_kernel(opencl, source, "step");
}

static void band_step(struct band *b, int step) {
  const size_t size[] = {(size_t)b->side, (size_t)b->count};
  CHECK_CL(clSetKernelArg(b->kernel, 0, sizeof(cl_mem), &b->rows[step % 2]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(b->kernel, 1, sizeof(cl_mem), &b->rows[(step + 1) % 2]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(b->kernel, 2, sizeof b->side, &b->side), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(b->opencl->queue, b->kernel, 2, NULL, size, NULL, 0, NULL, NULL),
           CL_SUCCESS);
}

/* Exchanges edge rows with the neighbours' extra rows directly in device memory, which the CPU can
 * access as well. */
static void band_exchange(struct band *b, int step, int up, int down) {
  const size_t bytes = (size_t)b->side * (size_t)(b->count + 2) * sizeof(float);
  cl_mem rows = b->rows[(step + 1) % 2];
  cl_int error;
  float *row = clEnqueueMapBuffer(b->opencl->queue, rows, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                  bytes, 0, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  const int side = b->side, last = b->count;
  MPI_Sendrecv(row + side, side, MPI_FLOAT, up, UP, row + (last + 1) * side, side, MPI_FLOAT, down,
               UP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(row + last * side, side, MPI_FLOAT, down, DOWN, row, side, MPI_FLOAT, up, DOWN,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_CL(clEnqueueUnmapMemObject(b->opencl->queue, rows, row, 0, NULL, NULL), CL_SUCCESS);
}

static void band_read(struct band *b, int steps, float *rows) {
  const size_t row = (size_t)b->side * sizeof(float);
  CHECK_CL(clEnqueueReadBuffer(b->opencl->queue, b->rows[steps % 2], CL_TRUE, row,
                               row * (size_t)b->count, rows, 0, NULL, NULL),
           CL_SUCCESS);
}

static void band_end(struct band *b) {
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseMemObject(b->rows[i]), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(b->kernel), CL_SUCCESS);
}

/* Returns the number of cells that differ from those computed by one device alone. */
static long differences(struct opencl *opencl, int side, int steps, const float *plate) {
  struct band whole;
  float *alone = malloc((size_t)side * (size_t)side * sizeof *alone);
  long different = 0;
  CHECK(alone);
  band_begin(&whole, opencl, side, 0, side);
  for (int step = 0; step < steps; step++)
    band_step(&whole, step);
  band_read(&whole, steps, alone);
  for (long i = 0; i < (long)side * side; i++)
    different += memcmp(&alone[i], &plate[i], sizeof *plate) != 0;
  band_end(&whole);
  free(alone);
  return different;
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int side = argc > 1 ? atoi(argv[1]) : 256, steps = argc > 2 ? atoi(argv[2]) : 50;
  CHECK(ranks <= side && steps >= 0);

  int counts[ranks], offsets[ranks];
  for (int i = 0; i < ranks; i++) {
    const int first = side * i / ranks;
    counts[i] = (side * (i + 1) / ranks - first) * side;
    offsets[i] = first * side;
  }
  struct opencl opencl;
  struct band band;
  opencl_open(&opencl);
  band_begin(&band, &opencl, side, offsets[rank] / side, counts[rank] / side);
  const int up = rank ? rank - 1 : MPI_PROC_NULL,
            down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  for (int step = 0; step < steps; step++) {
    band_step(&band, step);
    band_exchange(&band, step, up, down);
  }
  float *rows = malloc((size_t)counts[rank] * sizeof *rows);
  float *plate = malloc((size_t)side * (size_t)side * sizeof *plate);
  CHECK(rows && plate);
  band_read(&band, steps, rows);
  MPI_Gatherv(rows, counts[rank], MPI_FLOAT, plate, counts, offsets, MPI_FLOAT, 0, MPI_COMM_WORLD);
  printf("rank %d of %d: rows %d to %d\n", rank, ranks, band.first, band.first + band.count - 1);
  const long different = rank ? 0 : differences(&opencl, side, steps, plate);
  if (!rank)
    printf("%ld of %d cells differ from one device's\n", different, side * side);
  free(rows);
  free(plate);
  band_end(&band);
  opencl_close(&opencl);
  MPI_Finalize();
  return different != 0;
}
