"""stretch.py [ITEMS]: writes each of ITEMS numbers twice. It contains a bug."""
import sys

import numpy as np
import pyopencl as cl

SOURCE = """
kernel void stretch(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[2 * i] = in[i];
  out[2 * i + 1] = in[i];
}
"""

items = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
device = next(p for p in cl.get_platforms() if p.name == "tegracl").get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
program = cl.Program(context, SOURCE).build()

numbers = np.arange(items, dtype=np.int32)
numbers_buffer = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR,
                           hostbuf=numbers)
out_buffer = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, numbers.nbytes)
program.stretch(queue, (items,), None, numbers_buffer, out_buffer)
out = np.empty_like(numbers)
cl.enqueue_copy(queue, out, out_buffer)
print(out[:10])
