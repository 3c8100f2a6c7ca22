"""sums.py: adds up the rows and the columns of a matrix. One of the two kernels is slow."""
import numpy as np
import pyopencl as cl

SOURCE = """
kernel void columns(global const float *matrix, global float *sums, int side) {
  int x = get_global_id(0);
  float sum = 0;
  for (int y = 0; y < side; y++)
    sum += matrix[y * side + x];
  sums[x] = sum;
}
kernel void rows(global const float *matrix, global float *sums, int side) {
  int y = get_global_id(0);
  float sum = 0;
  for (int x = 0; x < side; x++)
    sum += matrix[y * side + x];
  sums[y] = sum;
}
"""
SIDE = 1024

device = next(p for p in cl.get_platforms() if p.name == "tegracl").get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
program = cl.Program(context, SOURCE).build()

matrix = np.random.default_rng(1).random((SIDE, SIDE), dtype=np.float32)
matrix_buffer = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR,
                          hostbuf=matrix)
for kernel, axis in (program.columns, 0), (program.rows, 1):
    sums = np.empty(SIDE, np.float32)
    sums_buffer = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, sums.nbytes)
    for _ in range(10):
        kernel(queue, (SIDE,), None, matrix_buffer, sums_buffer, np.int32(SIDE))
    cl.enqueue_copy(queue, sums, sums_buffer)
    print(kernel.function_name, "right" if np.allclose(sums, matrix.sum(axis)) else "wrong")
