#!/usr/bin/python3
"""Counts the warp instructions of products of n x n matrices: on the tensor cores from OpenCL C
(cl_tegracl_matrix) and from CUDA C with the same tiles, half precision into float; and in single
precision from OpenCL C.

    OCL_ICD_VENDORS=build/icd/vendors matrices.py [--size N] TEGRACLC

All run on the software Orin in profile mode, and the results are checked. The exit status is 1 if
one is wrong, or if the bounds below do not hold. N is a multiple of 128.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import code_quality

# Instructions of the OpenCL C product, relative to those of CUDA C and of single precision.
BOUND_CUDA, BOUND_SINGLE = 1.05, 0.2
# Kernel, the way to compile it, work-items in x and y for each element of a row, and work-group.
RUNS = {"tensor cores": ("hgemm_tensor", "tegracl", (2, 1 / 128), (256, 1)),
        "tensor cores, CUDA C": ("hgemm_tensor", "cuda", (2, 1 / 128), (256, 1)),
        "single precision": ("sgemm_blocked", "tegracl", (1 / 4, 1 / 4), (16, 16))}
# Each product of 16 x 16 x 16 adds at most 23 2^-24 of the sum of the magnitudes (matrix.cl).
ERROR_OF_PRODUCT = 23 * 2.0 ** -24


def run_one(tegraclc, what, n):
    """Runs a product; exits with 1 if the result is wrong."""
    import pyopencl as cl  # not in the parent, which has no device

    name, way, items, group = RUNS[what]
    (platform,) = [p for p in cl.get_platforms() if p.name == "tegracl"]
    context = cl.Context(platform.get_devices())
    queue = cl.CommandQueue(context)
    rng = np.random.default_rng(1)
    kind = np.float16 if name == "hgemm_tensor" else np.float32
    a, b = ((rng.random((n, n)) - 0.5).astype(kind) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    if way == "cuda":
        program = cl.Program(context, context.devices, [code_quality.nvrtc_cubin(tegraclc, name)])
    else:
        program = cl.Program(context, code_quality.source(name, ".cl"))
    program.build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, b, c)]
    kernel = getattr(program, name)
    kernel.set_args(*buffers, np.int32(n))
    cl.enqueue_nd_range_kernel(queue, kernel, [int(n * i) for i in items], group)
    cl.enqueue_copy(queue, c, buffers[2])
    a, b = a.astype(float), b.astype(float)
    bound = np.abs(a) @ np.abs(b) * (n / 16 * ERROR_OF_PRODUCT)
    if np.any(np.abs(c - a @ b) > bound) or not np.any(c):
        sys.exit(f"{what}: wrong result")


def count(tegraclc, what, n):
    """Returns the number of warp instructions, or None if the kernel failed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        env = dict(os.environ, TEGRACL_EMULATOR="profile:" + path, PYOPENCL_NO_CACHE="1")
        run = subprocess.run(
            [sys.executable, __file__, "--run", what, "--size", str(n), tegraclc], env=env,
            stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            print(run.stderr, file=sys.stderr)
            return None
        with open(path, encoding="utf-8") as file:
            (kernel,) = [k for k in json.load(file)["kernels"] if k["kernel"] == RUNS[what][0]]
    return sum(kernel["warp_instructions"].values())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=256, metavar="N")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("tegraclc", metavar="TEGRACLC", help="it says where NVRTC is")
    options = parser.parse_args()
    if options.size <= 0 or options.size % 128:
        parser.error(f"--size {options.size} is not a multiple of 128")
    if options.run:
        run_one(options.tegraclc, options.run, options.size)
        return 0
    counts = {what: count(options.tegraclc, what, options.size) for what in RUNS}
    if None in counts.values():
        return 1
    ours, cuda, single = counts.values()
    print(f"| n = {options.size} | warp instructions |\n| --- | --- |")
    for what, number in counts.items():
        print(f"| {what} | {number} |")
    print(f"OpenCL C / CUDA C: {ours / cuda:.3f} (at most {BOUND_CUDA}), "
          f"tensor cores / single precision: {ours / single:.3f} (at most {BOUND_SINGLE})")
    return int(ours > BOUND_CUDA * cuda or ours > BOUND_SINGLE * single)


if __name__ == "__main__":
    sys.exit(main())
