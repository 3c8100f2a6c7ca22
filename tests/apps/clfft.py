#!/usr/bin/python3
"""clFFT (Debian's libclfft2): transforms of powers of 2, 3, 5 and 7, of one to three
dimensions, complex and real, single and double precision, against numpy."""
import ctypes

import numpy as np
import pyopencl as cl

# clFFT.h
SINGLE, DOUBLE, COMPLEX, HERMITIAN, REAL, OUT_OF_PLACE = 1, 2, 1, 3, 5, 2
FORWARD, BACKWARD = -1, 1

fft = ctypes.CDLL("libclFFT.so.2")
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
queue_handle = ctypes.c_void_p(queue.int_ptr)
rng = np.random.default_rng(1)


def call(name, *arguments):
    status = getattr(fft, name)(*arguments)
    assert status == 0, f"{name} returned {status}"


def run(source, shape, result, precision, layouts, direction):
    """Transforms source. The result has the type and shape of the array result."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (source, result)]
    handles = [ctypes.c_void_p(buffer.int_ptr) for buffer in buffers]
    plan = ctypes.c_size_t()
    lengths = (ctypes.c_size_t * len(shape))(*reversed(shape))
    call("clfftCreateDefaultPlan", ctypes.byref(plan), ctypes.c_void_p(context.int_ptr),
         len(shape), lengths)
    call("clfftSetPlanPrecision", plan, precision)
    call("clfftSetLayout", plan, *layouts)
    call("clfftSetResultLocation", plan, OUT_OF_PLACE)
    for way, array in ((0, source), (1, result)):
        strides = [stride // array.itemsize for stride in reversed(array.strides)]
        call("clfftSetPlanOutStride" if way else "clfftSetPlanInStride", plan, len(shape),
             (ctypes.c_size_t * len(shape))(*strides))
    call("clfftBakePlan", plan, 1, ctypes.byref(queue_handle), None, None)
    call("clfftEnqueueTransform", plan, direction, 1, ctypes.byref(queue_handle), 0, None, None,
         ctypes.byref(handles[0]), ctypes.byref(handles[1]), None)
    cl.enqueue_copy(queue, result, buffers[1])
    call("clfftDestroyPlan", ctypes.byref(plan))
    return result


def check(name, got, expected, bound):
    error = np.abs(got - expected).max() / np.abs(expected).max()
    print(f"{name}: error {error:.1e}", flush=True)
    assert error < bound, name


call("clfftSetup", None)
print(context.devices[0].platform.name, context.devices[0].name)
for shape, precision in (((4096,), SINGLE), ((3 * 5 * 7 * 8,), SINGLE), ((243,), DOUBLE),
                         ((64, 48), SINGLE), ((8, 10, 12), DOUBLE)):
    kind, real, bound = ((np.complex64, np.float32, 1e-6) if precision == SINGLE else
                         (np.complex128, np.float64, 1e-14))
    source = (rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)).astype(kind)
    expected = np.fft.fftn(source)
    for direction, way, wanted in ((FORWARD, "forward", expected),
                                   (BACKWARD, "backward", np.fft.ifftn(source))):
        got = run(source, shape, np.zeros(shape, kind), precision, (COMPLEX, COMPLEX), direction)
        check(f"complex {shape} {way}", got, wanted, bound)
    half = shape[:-1] + (shape[-1] // 2 + 1,)
    got = run(source.real.copy(), shape, np.zeros(half, kind), precision, (REAL, HERMITIAN),
              FORWARD)
    check(f"real {shape}", got, np.fft.rfftn(source.real), bound)
call("clfftTeardown")
