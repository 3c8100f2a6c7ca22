#!/usr/bin/python3
"""Counts warp instructions per read of an image: kernels/image_*.cl as executed by tegracl, without
and with the texture units, and the corresponding CUDA C, which uses the texture units.

    OCL_ICD_VENDORS=build/icd/vendors images.py TEGRACLC [KERNEL ...]

The OpenCL kernels run on the software Orin in profile mode, and their results are
checked. The CUDA kernels have one path, without loops, and are counted as compiled.
Exit status 1 if a result is wrong, or if a kernel needs more instructions than are
listed below.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from nvrtc import Nvrtc  # noqa: E402

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels")
WARP = 32
SIZE, GROUP = (64, 32), (32, 4)
PATHS = ("software", "hardware")  # TEGRACL_IMAGES
# Reads per work-item, and the maximum number of instructions per warp on each path.
# Sobel's with the texture units is 1.15 times that of CUDA C.
READS = {"image_box": (9, (295, 103)), "image_resize": (1, (218, 50)),
         "image_fetch": (16, (290, 103)), "image_sobel": (8, (178, 73)),
         "image_gather": (8, (1475, 275))}


def linear(image, at, edge):
    """Samples image at unnormalized coordinates (the first one is for the last axis). edge is
    "edge", or "constant" for 0 outside."""
    padded = np.pad(image.astype(float), [(1, 1)] * len(at) + [(0, 0)] * (image.ndim - len(at)),
                    mode=edge)
    low = [np.floor(c - 0.5) for c in at]
    total = 0
    for corner in np.ndindex(*[2] * len(at)):
        weight, index = 1.0, []
        for c, l, bit, size in zip(at, low, corner, image.shape[len(at) - 1::-1]):
            weight = weight * (c - 0.5 - l if bit else 1 - (c - 0.5 - l))
            index.insert(0, np.clip(l.astype(int) + bit + 1, 0, size + 1))
        texels = padded[tuple(index)]
        total = total + texels * weight.reshape(weight.shape + (1,) * (texels.ndim - weight.ndim))
    return total


def work_items():
    y, x = np.mgrid[:SIZE[1], :SIZE[0]]
    return x, y


# ---- the kernels: input images, kind of output, other arguments, result, tolerance ---------

# Texture units store a code within 0.6 of it, as OpenCL allows. The weights of their filters are
# off by 1/512, so a filtered code is off by one half (docs/hardware/textures.md).
STORED = 0.6 if os.environ.get("TEGRACL_IMAGES") == "hardware" else 0.51
FILTERED = STORED + (0.5 if os.environ.get("TEGRACL_IMAGES") == "hardware" else 0)


def image_box(rng):
    pixels = rng.integers(0, 256, (SIZE[1], SIZE[0], 4), dtype=np.uint8)
    padded = np.pad(pixels.astype(float), ((1, 1), (1, 1), (0, 0)), mode="edge")
    mean = sum(padded[j:j + SIZE[1], i:i + SIZE[0]] for j in range(3) for i in range(3)) / 9
    return pixels, "UNORM_INT8", [], mean, STORED


def image_resize(rng):
    pixels = rng.integers(0, 256, (45, 100, 4), dtype=np.uint8)
    step = np.array([100 / SIZE[0], 45 / SIZE[1]], np.float32)
    x, y = work_items()
    result = linear(pixels, [(x + 0.5) * step[0], (y + 0.5) * step[1]], "edge")
    return pixels, "UNORM_INT8", [step], result, FILTERED


def image_fetch(rng):
    pixels = rng.integers(0, 256, (4 * SIZE[1], 4 * SIZE[0], 4), dtype=np.uint8)
    sums = pixels.reshape(SIZE[1], 4, SIZE[0], 4, 4).sum((1, 3))
    return pixels, "UNSIGNED_INT8", [np.int32(SIZE[0])], sums.astype(np.uint32), 0


def image_sobel(rng):
    pixels = rng.random((SIZE[1], SIZE[0]), dtype=np.float32)
    p = np.pad(pixels.astype(float), 1, mode="edge")
    rows, columns = p[:-2] + 2 * p[1:-1] + p[2:], p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
    return (pixels, "FLOAT", [], np.hypot(rows[:, 2:] - rows[:, :-2], columns[2:] - columns[:-2]),
            1e-5)


def image_gather(rng):
    volume = rng.random((16, SIZE[1], SIZE[0]), dtype=np.float32)
    step = np.array([1.375, 0.625, 2.25, 0], np.float32)
    x, y = work_items()
    samples = sum(linear(volume, [x + 0.5 + i * step[0], y + 0.5 + i * step[1],
                                  np.full(x.shape, 0.5 + i * step[2])], "constant")
                  for i in range(8))
    return volume, "FLOAT", [step], samples.astype(np.float32), 1e-4


def run_one(name):
    """Runs the OpenCL kernel; exits with 1 if the result is wrong."""
    import pyopencl as cl  # not in the parent, which has no device

    platforms = [p for p in cl.get_platforms() if p.name == "tegracl"]
    context = cl.Context(platforms[0].get_devices())
    queue = cl.CommandQueue(context)
    pixels, kind, others, expected, tolerance = globals()[name](np.random.default_rng(1))
    flags = cl.mem_flags
    dimensions = 3 if name == "image_gather" else 2
    order = cl.channel_order.RGBA if pixels.ndim > dimensions else cl.channel_order.R
    form = cl.ImageFormat(order, getattr(cl.channel_type, kind))
    source = cl.Image(context, flags.READ_ONLY | flags.COPY_HOST_PTR, form,
                      shape=pixels.shape[dimensions - 1::-1], hostbuf=pixels)
    got = np.empty_like(expected, dtype=pixels.dtype if not others or kind == "UNORM_INT8"
                        else expected.dtype)
    to_image = name not in ("image_fetch", "image_gather")
    target = (cl.Image(context, flags.WRITE_ONLY, form, shape=SIZE) if to_image else
              cl.Buffer(context, flags.WRITE_ONLY, got.nbytes))
    with open(os.path.join(KERNELS, name + ".cl"), encoding="utf-8") as file:
        kernel = getattr(cl.Program(context, file.read()).build(), name)
    for i, argument in enumerate([source, target, *others]):
        kernel.set_arg(i, argument)
    cl.enqueue_nd_range_kernel(queue, kernel, SIZE, GROUP)
    if to_image:
        cl.enqueue_copy(queue, got, target, origin=(0, 0), region=SIZE)
    else:
        cl.enqueue_copy(queue, got, target)
    worst = np.max(np.abs(got.astype(float) - expected))
    if not worst <= tolerance:
        sys.exit(f"{name}: wrong by {worst}, at most {tolerance} is allowed")


def opencl_count(name, reader):
    """Returns the instructions of each warp on one of the paths, or None if the kernel failed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        env = dict(os.environ, TEGRACL_EMULATOR="profile:" + path, TEGRACL_IMAGES=reader,
                   PYOPENCL_NO_CACHE="1")
        run = subprocess.run([sys.executable, __file__, "--run", name], env=env,
                             stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            print(run.stderr, file=sys.stderr)
            return None
        with open(path, encoding="utf-8") as file:
            (kernel,) = [k for k in json.load(file)["kernels"] if k["kernel"] == name]
    return sum(kernel["warp_instructions"].values()) / (SIZE[0] * SIZE[1] / WARP)


def cuda_count(tegraclc, name):
    """Counts instructions up to EXIT. The prologue of every kernel has a branch, which is not
    taken."""
    with open(os.path.join(KERNELS, name + ".cu"), "rb") as file:
        cubin, log = Nvrtc(tegraclc).compile(
            file.read(), ["--gpu-architecture=sm_87", "--prec-div=false", "--prec-sqrt=false",
                          "--include-path=" + KERNELS])
    if not cubin:
        sys.exit(f"{name}.cu: {log}")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        text = subprocess.run([tegraclc, "--disassemble", file.name], capture_output=True, text=True,
                              check=True).stdout
    code = re.findall(r"^ +/\*[0-9a-f]+\*/ +(.*) ;$", text, re.M)
    path = code[:code.index("EXIT") + 1]
    branches = [i for i in path if re.match(r"(@\S+ )?(BRA|BRX|CALL|JMP|BSSY|@)", i)]
    if branches != ["@P0 BRA 0x140"]:
        sys.exit(f"{name}.cu has more than one path: {', '.join(branches)}")
    reads = sum(bool(re.match("(TEX|TLD)[. ]", i)) for i in path)
    if reads != READS[name][0]:
        sys.exit(f"{name}.cu reads {reads} times, not {READS[name][0]}")
    return len(path)


def main():
    if sys.argv[1:2] == ["--run"]:
        run_one(sys.argv[2])
        return 0
    if len(sys.argv) < 2 or set(sys.argv[2:]) - set(READS):
        sys.exit(__doc__ + "\nKernels: " + " ".join(READS))
    print("| kernel | reads | software: warp instructions, per read | texture units | CUDA C "
          "| texture units / CUDA C |")
    print("| --- | --- | --- | --- | --- | --- |")
    bad = False
    for name in sys.argv[2:] or READS:
        reads, most = READS[name]
        ours = [opencl_count(name, path) for path in PATHS]
        cuda = cuda_count(sys.argv[1], name)
        for path, count, limit in zip(PATHS, ours, most):
            if count is None or count > limit:
                print(f"{name}, {path}: {count} warp instructions, at most {limit} are expected",
                      file=sys.stderr)
                bad = True
        if None not in ours:
            cells = [f"{count:.0f}, {count / reads:.1f}" for count in [*ours, cuda]]
            print(f"| {name} | {reads} | {' | '.join(cells)} | {ours[1] / cuda:.2f} |", flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
