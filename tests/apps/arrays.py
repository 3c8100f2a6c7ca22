#!/usr/bin/python3
"""Compares PyOpenCL's array arithmetic, reduction and scan with numpy's."""
import os

os.environ["PYOPENCL_NO_CACHE"] = "1"  # in which another run may have left a lock

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import GenericScanKernel

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
print(context.devices[0].platform.name, context.devices[0].name)
rng = np.random.default_rng(1)

a = rng.random(50001, dtype=np.float32)
b = rng.random(50001, dtype=np.float32) + 1
da, db = cl_array.to_device(queue, a), cl_array.to_device(queue, b)
np.testing.assert_array_equal((da + db).get(), a + b)
np.testing.assert_array_equal((da * db - 3).get(), a * b - np.float32(3))
np.testing.assert_allclose((db / da).get(), b / a, rtol=2.5 * 2**-23)  # OpenCL: 2.5 ulp
np.testing.assert_array_equal((da < db).get().astype(bool), a < b)

i = rng.integers(-1000, 1000, 40000, dtype=np.int32)
di = cl_array.to_device(queue, i)
assert cl_array.sum(di).get() == i.sum()
assert cl_array.max(di).get() == i.max()
np.testing.assert_array_equal((di * 3 - 7).get(), i * 3 - 7)

dot = ReductionKernel(context, np.float64, neutral="0", reduce_expr="a+b",
                      map_expr="(double)x[i]*y[i]",
                      arguments="__global const float *x, __global const float *y")
np.testing.assert_allclose(dot(da, db).get(), np.dot(a.astype(np.float64), b), rtol=1e-12)

scan = GenericScanKernel(context, np.int32, arguments="__global int *ary",
                         input_expr="ary[i]", scan_expr="a+b", neutral="0",
                         output_statement="ary[i] = item;")
scan(di)
np.testing.assert_array_equal(di.get(), np.cumsum(i))
print("arithmetic, reduction and scan equal numpy's")
