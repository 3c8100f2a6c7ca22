#!/usr/bin/python3
"""Measures the quality of the machine code by counting the executed instructions of
the kernels in kernels/: compiled by tegracl from OpenCL C, by NVRTC from the
corresponding CUDA C, and with --nvptx by clang's NVPTX back end with libclc, and
ptxas, from OpenCL C.

    OCL_ICD_VENDORS=build/icd/vendors code_quality.py [--nvptx] TEGRACLC [KERNEL ...]

All run on the software Orin in profile mode, and each result is checked. The exit
status is 1 if one is wrong, or if tegracl's code needs more warp instructions than
the bounds below allow.
"""
import argparse
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from nvrtc import Nvrtc  # noqa: E402

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels")
BOUND_MEAN, BOUND_EACH = 1.05, 1.15

# ---- the kernels: arguments, launches, expected results -------------------------------


class Case:
    """arguments: arrays (inputs first; the last len(expected) are outputs) and scalars."""

    def __init__(self, arguments, expected, size, group, tolerance=0.0):
        self.arguments, self.expected, self.tolerance = arguments, expected, tolerance
        self.size, self.group = size, group


def floats(rng, *shape):
    return rng.random(shape, dtype=np.float32)


def vector_add(rng):
    n = 1 << 18
    a, b = floats(rng, n), floats(rng, n)
    return Case([a, b, np.zeros(n, np.float32), np.int32(n)], {2: a + b}, (n,), (256,))


def sgemm(rng):
    n = 128
    a, b = floats(rng, n, n), floats(rng, n, n)
    return [a, b, np.zeros((n, n), np.float32), np.int32(n)], {2: a.astype(float) @ b}, n


def sgemm_tiled(rng):
    arguments, expected, n = sgemm(rng)
    return Case(arguments, expected, (n, n), (16, 16), 1e-5)


def sgemm_blocked(rng):
    arguments, expected, n = sgemm(rng)
    return Case(arguments, expected, (n // 4, n // 4), (16, 16), 1e-5)


def nbody(rng):
    n = 1024
    bodies = floats(rng, n, 4)
    d = bodies[None, :, :3].astype(float) - bodies[:, None, :3]
    scale = bodies[None, :, 3] * ((d * d).sum(2) + 1e-6) ** -1.5
    out = np.zeros((n, 4))
    out[:, :3] = (d * scale[:, :, None]).sum(1)
    return Case([bodies, np.zeros((n, 4), np.float32), np.int32(n)], {1: out}, (n,), (128,), 1e-3)


def reduction(rng):
    n, groups = 1 << 18, 64
    a = floats(rng, n)
    parts = a.astype(float).reshape(-1, groups, 256).sum((0, 2))
    return Case([a, np.zeros(groups, np.float32), np.int32(n)], {1: parts}, (groups * 256,), (256,),
                1e-5)


def scan(rng):
    n = 1 << 16
    a = rng.integers(0, 1 << 32, n, dtype=np.uint32)
    sums = np.cumsum(a.reshape(-1, 512), axis=1, dtype=np.uint32).reshape(-1)
    return Case([a, np.zeros(n, np.uint32)], {1: sums}, (n // 2,), (256,))


def fft(rng):
    a = (floats(rng, 32, 1024) + 1j * floats(rng, 32, 1024)).astype(np.complex64)
    return Case([a, np.zeros_like(a)], {1: np.fft.fft(a)}, (32 * 256,), (256,), 1e-6)


def stencil(rng):
    nx, ny, nz = 64, 64, 32
    a = floats(rng, nz, ny, nx)
    out = np.zeros_like(a)
    sides = (a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1] +
             a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1])
    out[1:-1, 1:-1, 1:-1] = 0.4 * a[1:-1, 1:-1, 1:-1] + 0.1 * sides
    return Case([a, np.zeros_like(a), *map(np.int32, (nx, ny, nz)), *map(np.float32, (0.4, 0.1))],
                {1: out}, (nx, ny, nz), (32, 8, 1), 1e-6)


def sha256(rng):
    n = 1 << 13
    messages = rng.integers(0, 256, (n, 55), dtype=np.uint8)
    blocks = np.zeros((n, 64), np.uint8)
    blocks[:, :55] = messages
    blocks[:, 55] = 0x80
    blocks[:, 62:] = (55 * 8 >> 8, 55 * 8 & 255)
    words = np.ascontiguousarray(blocks.view(">u4").astype(np.uint32).T)
    digests = [np.frombuffer(hashlib.sha256(m.tobytes()).digest(), ">u4") for m in messages]
    return Case([words, np.zeros((8, n), np.uint32), np.int32(n)], {1: np.array(digests).T}, (n,),
                (128,))


def histogram(rng):
    n = 1 << 19
    a = rng.integers(0, 256, n, dtype=np.uint8)
    counts = np.bincount(a, minlength=256)
    return Case([a.view(np.uint32), np.zeros(256, np.uint32), np.int32(n // 4)], {1: counts},
                (64 * 256,), (256,))


def mandelbrot(rng):
    size, limit = 256, 200
    x = -2 + np.arange(size, dtype=np.float32)[None, :] * np.float32(0.0117)
    y = -1.5 + np.arange(size, dtype=np.float32)[:, None] * np.float32(0.0117)
    z, c = np.zeros((size, size), complex), x + 1j * y
    counts = np.zeros((size, size), np.int32)
    for _ in range(limit):
        inside = np.abs(z) <= 2
        counts += inside
        z[inside] = z[inside] ** 2 + c[inside]
    # Points near the boundary depend on rounding, so a few may differ.
    case = Case([np.zeros((size, size), np.int32), np.int32(size),
                 *map(np.float32, (-2, -1.5, 0.0117)), np.int32(limit)], {0: counts}, (size, size),
                (32, 8), None)
    return case


def convolution(rng):
    size = 256
    a, weights = floats(rng, size, size), floats(rng, 25)
    padded = np.pad(a.astype(float), 2, mode="edge")
    out = sum(weights[j * 5 + i] * padded[j:j + size, i:i + size]
              for j in range(5) for i in range(5))
    return Case([a, np.zeros_like(a), weights, np.int32(size), np.int32(size)], {1: out},
                (size, size), (32, 8), 1e-6)


def black_scholes(rng):
    n = 1 << 16
    s, x, t = (np.float32(low) + np.float32(high - low) * floats(rng, n)
               for low, high in ((5, 30), (1, 100), (0.25, 10)))
    rate, volatility = 0.02, 0.3
    d1 = ((np.log(s.astype(float) / x) + (rate + 0.5 * volatility ** 2) * t) /
          (volatility * np.sqrt(t)))
    erfc = np.vectorize(math.erfc)
    n1 = 0.5 * erfc(-d1 / math.sqrt(2))
    n2 = 0.5 * erfc(-(d1 - volatility * np.sqrt(t)) / math.sqrt(2))
    discounted = x * np.exp(-rate * t)
    call, put = s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1)
    zeros = np.zeros(n, np.float32)
    return Case([s, x, t, zeros, zeros, *map(np.float32, (rate, volatility)), np.int32(n)],
                {3: call, 4: put}, (n,), (256,), 1e-5)


CASES = {f.__name__: f for f in (vector_add, sgemm_tiled, sgemm_blocked, nbody, reduction, scan,
                                 fft, stencil, sha256, histogram, mandelbrot, convolution,
                                 black_scholes)}


def differs(got, expected, tolerance):
    """tolerance: relative to the largest value; None: 1 % of the values may differ."""
    if tolerance is None:
        return np.count_nonzero(got != expected) > expected.size // 100
    return bool(np.any(np.abs(got - expected) > tolerance * np.max(np.abs(expected))))


# ---- the three ways of compiling a kernel ------------------------------------------------


def source(name, suffix):
    with open(os.path.join(KERNELS, name + suffix), encoding="utf-8") as file:
        return file.read()


def nvrtc_cubin(tegraclc, name):
    """Uses the rounding of division that OpenCL allows by default."""
    cubin, log = Nvrtc(tegraclc).compile(
        source(name, ".cu").encode(),
        ["--gpu-architecture=sm_87", "--prec-div=false", "--prec-sqrt=false",
         "--include-path=" + KERNELS])
    if not cubin:
        sys.exit(f"{name}.cu: {log}")
    return cubin


def nvptx_cubin(name):
    """Compiles like PoCL's CUDA driver: clang, libclc, LLVM's NVPTX back end, ptxas."""
    with tempfile.TemporaryDirectory() as folder:
        def path(suffix):
            return os.path.join(folder, name + suffix)

        def run(*command):
            subprocess.run(command, check=True)

        run("clang-15", "-target", "nvptx64-nvidia-nvcl", "-mcpu=sm_86", "-x", "cl", "-cl-std=CL1.2",
            "-O3", "-I", KERNELS, "-Xclang", "-finclude-default-header",
            "-emit-llvm", "-c", "-o", path(".bc"), os.path.join(KERNELS, name + ".cl"))
        run("llvm-link-15", "-o", path(".linked.bc"), path(".bc"),
            "/usr/lib/clc/nvptx64--nvidiacl.bc")
        run("opt-15", "-passes=internalize,globaldce,default<O3>",
            f"-internalize-public-api-list={name}", "-o", path(".opt.bc"), path(".linked.bc"))
        run("llc-15", "-mcpu=sm_86", "-mattr=+ptx75", "-O3", "--nvptx-prec-divf32=1",
            "--nvptx-prec-sqrtf32=0", "-o", path(".ptx"), path(".opt.bc"))
        ptxas = "ptxas" if os.path.exists("/usr/bin/ptxas") else "/usr/local/cuda/bin/ptxas"
        run(ptxas, "-arch=sm_87", "-O3", "-o", path(".cubin"), path(".ptx"))
        with open(path(".cubin"), "rb") as file:
            return file.read()


# ---- one run, in its own process ----------------------------------------------------


def run_one(tegraclc, name, way):
    """Runs the kernel; exits with 1 if the result is wrong."""
    import pyopencl as cl  # not in the parent, which has no device

    platforms = [p for p in cl.get_platforms() if p.name == "tegracl"]
    context = cl.Context(platforms[0].get_devices())
    queue = cl.CommandQueue(context)
    case = CASES[name](np.random.default_rng(1))
    if way == "tegracl":
        program = cl.Program(context, source(name, ".cl"))
        program.build(["-I", KERNELS])
    else:
        cubin = nvrtc_cubin(tegraclc, name) if way == "cuda" else nvptx_cubin(name)
        program = cl.Program(context, context.devices, [cubin])
        program.build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {i: cl.Buffer(context, flags, hostbuf=a)
               for i, a in enumerate(case.arguments) if isinstance(a, np.ndarray)}
    kernel = getattr(program, name)
    for i, argument in enumerate(case.arguments):
        kernel.set_arg(i, buffers.get(i, argument))
    cl.enqueue_nd_range_kernel(queue, kernel, case.size, case.group)
    for i, expected in case.expected.items():
        got = np.empty_like(case.arguments[i])
        cl.enqueue_copy(queue, got, buffers[i])
        if differs(got, expected, case.tolerance):
            sys.exit(f"{name}, {way}: argument {i} has a wrong result")


# ---- the comparison -----------------------------------------------------------------------


def measure(tegraclc, name, way):
    """Returns the counts of a kernel compiled in one way, or None if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        env = dict(os.environ, TEGRACL_EMULATOR="profile:" + path, PYOPENCL_NO_CACHE="1")
        run = subprocess.run([sys.executable, __file__, "--run", way, tegraclc, name], env=env,
                             stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            print(run.stderr, file=sys.stderr)
            return None
        with open(path, encoding="utf-8") as file:
            (kernel,) = [k for k in json.load(file)["kernels"] if k["kernel"] == name]
    classes = kernel["warp_instructions"]
    return {"instructions": sum(classes.values()), "sectors": kernel["global_sectors"],
            "registers": kernel["registers"], "local": classes.get("private memory", 0),
            "classes": classes}


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvptx", action="store_true", help="also clang's NVPTX back end")
    parser.add_argument("--classes", action="store_true", help="instructions by class")
    parser.add_argument("--run", metavar="ROAD", help=argparse.SUPPRESS)
    parser.add_argument("tegraclc", metavar="TEGRACLC", help="it says where NVRTC is")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    options = parser.parse_args()
    unknown = set(options.kernels) - set(CASES)
    if unknown:
        parser.error(f"no kernel {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    if options.run:
        run_one(options.tegraclc, options.kernels[0], options.run)
        return 0

    ways = ["tegracl", "cuda"] + (["nvptx"] if options.nvptx else [])
    print("| kernel | " + " | ".join(f"{way}: warp instructions, sectors, registers, spills"
                                     for way in ways) + " | tegracl / others |")
    print("| --- |" + " --- |" * (len(ways) + 1))
    ratios = {way: [] for way in ways[1:]}
    bad = False
    for name in options.kernels or CASES:
        figures = {way: measure(options.tegraclc, name, way) for way in ways}
        if None in figures.values():
            bad = True
            continue
        for way, list_ in ratios.items():
            list_.append(figures["tegracl"]["instructions"] / figures[way]["instructions"])
        bad |= ratios["cuda"][-1] > BOUND_EACH
        columns = [f"{f['instructions']}, {f['sectors']}, {f['registers']}, {f['local']}"
                   for f in figures.values()]
        last = ", ".join(f"{list_[-1]:.3f}" for list_ in ratios.values())
        print(f"| {name} | " + " | ".join(columns) + f" | {last} |", flush=True)
        if options.classes:
            for key in figures["tegracl"]["classes"]:
                counts = [f["classes"].get(key, 0) for f in figures.values()]
                if any(counts):
                    print(f"    {key}: " + ", ".join(map(str, counts)))
    if all(ratios.values()):
        means = {way: mean(list_) for way, list_ in ratios.items()}
        print("| geometric mean |" + " |" * len(ways) +
              " " + ", ".join(f"{m:.3f}" for m in means.values()) + " |")
        bad |= means["cuda"] > BOUND_MEAN or means.get("nvptx", 0) > 1
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
