"""steps.py: computes for each number the length of its Collatz sequence. It contains a bug."""
import numpy as np
import pyopencl as cl

SOURCE = """
kernel void steps(global int *out) {
  uint n = get_global_id(0), count = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    count++;
  }
  out[get_global_id(0)] = count;
}
"""
ITEMS = 64

device = next(p for p in cl.get_platforms() if p.name == "tegracl").get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
program = cl.Program(context, SOURCE).build()

out_buffer = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, ITEMS * 4)
program.steps(queue, (ITEMS,), None, out_buffer)
out = np.empty(ITEMS, np.int32)
cl.enqueue_copy(queue, out, out_buffer)
print(out)
