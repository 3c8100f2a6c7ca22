"""product.py: multiplies matrices of half precision on the tensor cores, with the kernel of
product.cl."""
import pathlib

import numpy as np
import pyopencl as cl

SIDE, TILE, ITEMS = 128, 64, 128

device = next(p for p in cl.get_platforms() if p.name == "tegracl").get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
source = pathlib.Path(__file__).with_name("product.cl").read_text()
program = cl.Program(context, source).build()

rng = np.random.default_rng(1)
a, b = (rng.random((SIDE, SIDE)).astype(np.float16) for _ in range(2))
c = np.empty((SIDE, SIDE), np.float32)
a_buffer, b_buffer = (cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR,
                                hostbuf=matrix) for matrix in (a, b))
c_buffer = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, c.nbytes)
program.product(queue, ((SIDE // TILE) ** 2 * ITEMS,), (ITEMS,), a_buffer, b_buffer, c_buffer,
                np.uint32(SIDE))
cl.enqueue_copy(queue, c, c_buffer)
print("right" if np.allclose(c, a.astype(float) @ b.astype(float)) else "wrong")
