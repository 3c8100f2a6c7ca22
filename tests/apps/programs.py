#!/usr/bin/env python3
"""Tests OpenCL programs from PyPI and Debian: each function runs one program on the loader's first
device, and returns a description of what it compared.

    tests/apps/programs.py NAME

tests/apps/all installs them and runs all.
"""
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

rng = np.random.default_rng(1)


def close(name, got, want, tolerance):
    got, want = np.asarray(got), np.asarray(want)
    error = np.abs(got.astype(np.complex128) - want).max() / max(np.abs(want).max(), 1e-30)
    if not error <= tolerance:
        raise SystemExit(f"{name}: error {error:.3g}, not {tolerance:g}")
    return name


def context():
    import pyopencl as cl
    return cl.create_some_context(interactive=False)


def run(*command, expect, kernels=None):
    """Returns a command's output. Fails if the command fails, or if expect is not in its
    output. Many programs silently fall back to the CPU, so kernels is a pattern for the name
    of a kernel that must run on the device, or "" if none may."""
    env = os.environ if kernels is None else {**os.environ, "TEGRACL_DEBUG": "launch"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env=env)
    if done.returncode or expect not in done.stdout:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-3000:]}")
    launched = set(re.findall(r"tegracl: launch (\w+):", done.stdout))
    found = any(re.fullmatch(kernels or ".+", name) for name in launched)
    if kernels is not None and found != bool(kernels):
        raise SystemExit(f"{' '.join(command)}: on the device ran only: {sorted(launched)}")
    return done.stdout


def run_raw(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def silx():
    from scipy.ndimage import median_filter
    from silx.image import medianfilter
    from silx.opencl import convolution, linalg, medfilt, statistics
    from scipy.signal import fftconvolve
    ctx = context()
    image = rng.random((96, 80), dtype=np.float32)
    done = []
    got = medfilt.MedianFilter2D(image.shape, kernel_size=(5, 5), ctx=ctx).medfilt2d(image)
    done.append(close("median", got, median_filter(image, 5, mode="nearest"), 0))
    kernel = rng.random((7, 7), dtype=np.float32)
    got = convolution.Convolution(image.shape, kernel, ctx=ctx, mode="constant")(image)
    done.append(close("convolution", np.asarray(got.get() if hasattr(got, "get") else got),
                      fftconvolve(image, kernel, mode="same"), 1e-5))
    gradient = linalg.LinAlg(image.shape, ctx=ctx).gradient(image, return_to_host=True)
    want = [np.diff(image, axis=a, append=image.take([-1], axis=a)) for a in (0, 1)]
    done.append(close("gradient", sorted(np.abs(np.asarray(gradient)).sum(axis=(1, 2))),
                      sorted(np.abs(w).sum() for w in want), 1e-4))
    stats = statistics.Statistics(image.size, np.float32, ctx=ctx)(image)
    done.append(close("statistics", [stats.min, stats.max, stats.mean, stats.std],
                      [image.min(), image.max(), image.mean(dtype=float), image.std(dtype=float)],
                      1e-4))
    return done


def pyfai():
    from pyFAI.integrator.azimuthal import AzimuthalIntegrator
    image = rng.poisson(100, (256, 256)).astype(np.float32)
    ai = AzimuthalIntegrator(dist=0.1, poni1=0.0128, poni2=0.0128, pixel1=1e-4, pixel2=1e-4,
                             wavelength=1e-10)
    done = []
    for algorithm in "csr", "lut", "histogram":
        splitting = "no" if algorithm == "histogram" else "bbox"
        got, want = (ai.integrate1d(image, 100, unit="q_nm^-1", method=(splitting, algorithm, engine))
                     for engine in ("opencl", "cython"))
        if "opencl" not in str(got.compute_engine).lower() and "ocl" not in str(got.compute_engine):
            raise SystemExit(f"{algorithm}: computed by {got.compute_engine}")
        done.append(close("1-D " + algorithm, got.intensity, want.intensity, 1e-5))
    got, want = (ai.integrate2d(image, 50, 60, unit="q_nm^-1", method=("bbox", "csr", engine))
                 for engine in ("opencl", "cython"))
    done.append(close("2-D csr", got.intensity, want.intensity, 1e-5))
    return done


def pyfai_tests():
    """Runs the package's tests except Blelloch's scan, whose kernel has a race."""
    text = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs",
               "pyFAI.opencl.test", "-k", "not Blelloch", expect=" passed")
    return [text.splitlines()[-1].strip("= ")]


def sasmodels():
    """Runs the package's tests of models, which contain the authors' reference values."""
    models = ["sphere", "cylinder", "power_law", "lamellar"]
    text = run(sys.executable, "-m", "sasmodels.model_test", "-v", "-e", "opencl", *models,
               expect="OK")
    if "opencl" not in text:
        raise SystemExit(text)
    return [f"its tests of {', '.join(models)}"]


def pyclesperanto():
    import pyclesperanto as cle
    from scipy import ndimage
    cle.select_backend("opencl")
    device = cle.select_device("Orin")
    assert "Orin" in str(device.name), device
    image = rng.random((20, 60, 50), dtype=np.float32)
    done = []

    def pull(result):
        return np.asarray(cle.pull(result))
    done.append(close("gaussian_blur",
                      pull(cle.gaussian_blur(image, sigma_x=2, sigma_y=2, sigma_z=2)),
                      ndimage.gaussian_filter(image, 2, mode="nearest", truncate=4), 1e-2))
    done.append(close("maximum_filter",
                      pull(cle.maximum_filter(image, radius_x=2, radius_y=2, radius_z=2,
                                              connectivity="box")),
                      ndimage.maximum_filter(image, 5, mode="nearest"), 0))
    done.append(close("median", pull(cle.median(image, radius_x=1, radius_y=1, radius_z=1,
                                                connectivity="box"))[1:-1, 1:-1, 1:-1],
                      ndimage.median_filter(image, 3)[1:-1, 1:-1, 1:-1], 0))
    done.append(close("sum_of_all_pixels", cle.sum_of_all_pixels(image), image.sum(dtype=float), 1e-5))
    blobs = (ndimage.gaussian_filter(image, 2) > 0.5).astype(np.uint8)
    labels = pull(cle.connected_component_labeling(blobs, connectivity="box"))
    want, count = ndimage.label(blobs, np.ones((3, 3, 3)))
    if labels.max() != count or len(set(zip(labels.ravel(), want.ravel()))) != count + 1:
        raise SystemExit(f"labels: {labels.max()}, not {count}")
    return done + [f"{count} labels"]


def gputools():
    import gputools
    from scipy import ndimage
    image = rng.random((64, 64), dtype=np.float32)
    kernel = rng.random((5, 5), dtype=np.float32)
    done = [close("convolve", gputools.convolve(image, kernel),
                  ndimage.convolve(image, kernel, mode="constant"), 1e-5)]
    done.append(close("gaussian", gputools.denoise.gaussian(image, 2)
                      if hasattr(gputools.denoise, "gaussian") else
                      gputools.blur(image, 2)[8:-8, 8:-8],
                      ndimage.gaussian_filter(image, 2, mode="constant")[8:-8, 8:-8], 2e-2))
    done.append(close("fft", gputools.fft(image.astype(np.complex64)), np.fft.fft2(image), 1e-5))
    done.append(close("rotate", gputools.rotate(image.reshape(1, 64, 64), angle=np.pi / 2,
                                                axis=(1, 0, 0))[0][4:-4, 4:-4].mean(),
                      image.mean(), 0.05))
    return done


def reikna():
    import reikna.cluda as cluda
    from reikna.algorithms import Reduce, Scan, Transpose, predicate_sum
    from reikna.fft import FFT
    from reikna.linalg import MatrixMul
    thread = cluda.ocl_api().Thread.create()
    done = []

    def compute(plan, *shapes_and_inputs):
        compiled = plan.compile(thread)
        inputs = [thread.to_device(a) for a in shapes_and_inputs]
        output = thread.empty_like(compiled.parameter.output)
        compiled(output, *inputs)
        return output.get()
    z = (rng.random((8, 256)) + 1j * rng.random((8, 256))).astype(np.complex64)
    done.append(close("FFT", compute(FFT(z, axes=(1,)), z), np.fft.fft(z, axis=1), 1e-6))
    a, b = (rng.random((64, 64), dtype=np.float32) for _ in range(2))
    done.append(close("MatrixMul", compute(MatrixMul(a, b), a, b), a @ b, 1e-6))
    done.append(close("Transpose", compute(Transpose(a), a), a.T, 0))
    i = rng.integers(0, 100, 5000).astype(np.int32)
    done.append(close("Reduce", compute(Reduce(i, predicate_sum(np.int32)), i), i.sum(), 0))
    done.append(close("Scan", compute(Scan(i, predicate_sum(np.int32), exclusive=False), i),
                      i.cumsum(), 0))
    return done


def pyvkfft():
    import pyopencl as cl
    import pyopencl.array as cla
    from pyvkfft.opencl import VkFFTApp
    from scipy import fft
    queue = cl.CommandQueue(context())
    done = []
    for shape in (64, 60), (128, 77), (1024,), (37, 11), (16, 16, 16):
        for kind, tolerance in (np.complex64, 2e-6), (np.complex128, 1e-14):
            a = (rng.random(shape) + 1j * rng.random(shape)).astype(kind)
            device = cla.to_device(queue, a)
            app = VkFFTApp(a.shape, a.dtype, queue, ndim=len(shape))
            close(f"{shape}", app.fft(device).get(), fft.fftn(a), tolerance)
            close(f"{shape} back", app.ifft(device).get(), a, tolerance)
        done.append("×".join(map(str, shape)))
    a = rng.random((32, 64), dtype=np.float32)
    app = VkFFTApp(a.shape, a.dtype, queue, ndim=2, r2c=True, inplace=False)
    out = cla.empty(queue, (32, 33), np.complex64)
    done.append(close("real", app.fft(cla.to_device(queue, a), out).get(), fft.rfftn(a), 2e-6))
    a = rng.random((32, 64), dtype=np.float32)
    app = VkFFTApp(a.shape, a.dtype, queue, ndim=2, dct=2)
    device = cla.to_device(queue, a)
    done.append(close("DCT", app.fft(device).get(), fft.dctn(a), 2e-6))
    return done


def pyopencl():
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrays.py")
    run(sys.executable, script, expect="")
    return ["tests/apps/arrays.py"]


def loopy():
    import loopy as lp
    import pyopencl as cl
    queue = cl.CommandQueue(context())
    done = []
    knl = lp.make_kernel("{[i,j,k]: 0<=i,j,k<n}", "c[i,j] = sum(k, a[i,k]*b[k,j])",
                         assumptions="n mod 16 = 0 and n >= 16")
    knl = lp.split_iname(knl, "i", 16, outer_tag="g.0", inner_tag="l.1")
    knl = lp.split_iname(knl, "j", 16, outer_tag="g.1", inner_tag="l.0")
    knl = lp.split_iname(knl, "k", 16)
    for name, inames in ("a", ["k_inner", "i_inner"]), ("b", ["j_inner", "k_inner"]):
        knl = lp.add_prefetch(knl, name, inames, default_tag="l.auto",
                              fetch_outer_inames=frozenset(["i_outer", "j_outer", "k_outer"]))
    a, b = (rng.random((64, 64), dtype=np.float32) for _ in range(2))
    done.append(close("tiled product", lp.set_options(knl, return_dict=True)(
        queue, a=a, b=b)[1]["c"], a @ b, 1e-6))
    knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", "out[i] = sum(j, x[i,j]**2)")
    x = rng.random((50, 50))
    knl = lp.split_iname(knl, "i", 32, outer_tag="g.0", inner_tag="l.0")
    done.append(close("sums", lp.set_options(knl, return_dict=True)(queue, x=x)[1]["out"],
                      (x ** 2).sum(axis=1), 1e-14))
    return done


def tinygrad():
    os.environ["DEV"] = "CL"
    from tinygrad import Device, Tensor, dtypes
    assert Device.DEFAULT == "CL", Device.DEFAULT
    a, b = (rng.standard_normal((32, 32), dtype=np.float32) for _ in range(2))
    done = [close("matmul", (Tensor(a) @ Tensor(b)).numpy(), a @ b, 1e-5)]
    done.append(close("sum", Tensor(a).sum(axis=0).numpy(), a.sum(axis=0), 1e-5))
    shifted = np.exp(a - a.max(axis=1, keepdims=True))
    done.append(close("softmax", Tensor(a).softmax().numpy(),
                      shifted / shifted.sum(axis=1, keepdims=True), 1e-5))
    done.append(close("half", (Tensor(a).cast(dtypes.half) + 1).numpy(), a + 1, 1e-3))
    done.append(close("cumsum", Tensor(a).cumsum(1).numpy(), a.cumsum(axis=1), 1e-5))
    x = rng.standard_normal((1, 3, 12, 12), dtype=np.float32)
    w = rng.standard_normal((4, 3, 3, 3), dtype=np.float32)
    want = np.einsum("ncijkl,ockl->noij",
                     np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3)), w)
    done.append(close("conv2d", Tensor(x).conv2d(Tensor(w)).numpy(), want, 1e-5))
    t = Tensor(a)
    (t * t).sum().backward()
    done.append(close("gradient", t.grad.numpy(), 2 * a, 1e-6))
    return done


def dpctl():
    os.environ.setdefault("ONEAPI_DEVICE_SELECTOR", "opencl:*")
    import dpctl
    import dpctl.memory
    import dpctl.program
    queue = dpctl.SyclQueue()
    assert "Orin" in queue.sycl_device.name, queue.sycl_device.name
    a = rng.random(1000, dtype=np.float32)
    memory = [dpctl.memory.MemoryUSMShared(a.nbytes, queue=queue) for _ in range(2)]
    memory[0].copy_from_host(a.view(np.uint8))
    memory[1].copy_from_device(memory[0])
    done = [close("USM copies", memory[1].copy_to_host().view(np.float32), a, 0)]
    source = "kernel void twice(global float *a) { a[get_global_id(0)] *= 2; }"
    kernel = dpctl.program.create_program_from_source(queue, source).get_sycl_kernel("twice")
    queue.submit(kernel, [memory[1]], [a.size])
    queue.wait()
    done.append(close("kernel from source", memory[1].copy_to_host().view(np.float32), 2 * a, 0))
    return done


# ---- Debian's -------------------------------------------------------------------------------

def scene(width, height, shift=0):
    """Returns a picture with edges, gradients and noise."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    noise = np.random.default_rng(2).normal(0, 8, (height, width))
    gray = 96 + 60 * np.sin((x + shift) / 9) + 50 * np.cos(y / 13) + 40 * ((x + shift - 60) ** 2
                                                                          + (y - 50) ** 2 < 900)
    return np.stack([np.clip(gray * k + noise, 0, 255) for k in (1, .8, .6)], -1).astype(np.uint8)


def write_ppm(path, image):
    with open(path, "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (image.shape[1], image.shape[0]) + image.tobytes())


def read_ppm(path):
    """From 0 to 1."""
    with open(path, "rb") as file:
        data = file.read()
    most = int(re.match(rb"P6\s+(?:#.*\s+)?\d+\s+\d+\s+(\d+)\s", data)[1])
    start = re.match(rb"P6\s+(?:#.*\s+)?\d+\s+\d+\s+\d+\s", data).end()
    return np.frombuffer(data[start:], ">u2" if most > 255 else np.uint8) / most


def x264():
    """The lookahead runs on the device. It computes the costs of blocks, and thus frame types
    and sizes."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/in.yuv", "wb") as file:
            for frame in range(20):
                luma = scene(352, 288, 3 * frame + 100 * (frame > 9))[..., 0]
                file.write(luma.tobytes() + bytes([128]) * (352 * 288 // 2))
        sizes = []
        for option in [], ["--opencl"]:
            text = run("x264", "--input-res", "352x288", "--threads", "2", "--lookahead-threads", "1",
                       "--crf", "23", "--opencl-clbin", f"{folder}/clbin", *option,
                       "-o", f"{folder}/out.264", f"{folder}/in.yuv", expect="encoded 20 frames",
                       kernels=option and "mode_selection" or "")
            if option and "OpenCL acceleration enabled" not in text:
                raise SystemExit(text)
            sizes.append(os.path.getsize(f"{folder}/out.264"))
        if abs(sizes[0] - sizes[1]) > sizes[0] / 50:
            raise SystemExit(f"{sizes} bytes")
    return [f"20 frames, {sizes[1]} bytes ({sizes[0]} by the CPU)"]


def sidecar(path, operation, version, values):
    """Writes a darktable XMP file for a picture, with one module and its parameters."""
    parameters = np.array(values, np.float32).tobytes().hex()
    with open(path, "w") as file:
        file.write(f"""<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:darktable="http://darktable.sf.net/"
 darktable:xmp_version="5" darktable:auto_presets_applied="1" darktable:history_end="1"
 darktable:iop_order_version="2"><darktable:history><rdf:Seq>
<rdf:li darktable:num="0" darktable:operation="{operation}" darktable:enabled="1"
 darktable:modversion="{version}" darktable:params="{parameters}" darktable:multi_name=""
 darktable:multi_priority="0"/>
</rdf:Seq></darktable:history></rdf:Description></rdf:RDF></x:xmpmeta>""")


def darktable():
    """Compares exports of a picture with and without OpenCL. bloom differs at the edges, soften
    where it blurs (docs/applications.md)."""
    modules = [("bloom", 1, (0, 60, 25), 16), ("soften", 1, (0, 100, 0.33, 50), 0)]
    done = []
    with tempfile.TemporaryDirectory() as folder:
        write_ppm(f"{folder}/in.ppm", scene(300, 200))
        run("ffmpeg", "-v", "error", "-i", f"{folder}/in.ppm", f"{folder}/in.png", expect="")
        # darktable benchmarks a new device, and does not use it if it is slower than the CPU.
        settings = {"opencl": "TRUE", "opencl_checksum": "OFF", "opencl_mandatory_timeout": "20000",
                    "opencl_device_priority": "*/!0,*/*/*/!0,*",
                    "plugins/imageio/format/png/bpp": "16"}
        conf = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        for operation, version_of, values, edge in modules:
            sidecar(f"{folder}/{operation}.xmp", operation, version_of, values)
            pictures = []
            for name, options in ("cpu", ["--disable-opencl"]), ("gpu", []):
                out = f"{folder}/{operation}-{name}.png"
                run("darktable-cli", f"{folder}/in.png", f"{folder}/{operation}.xmp", out, "--core",
                    "--configdir", f"{folder}/{name}", *options, "-d", "opencl", "-d", "perf", *conf,
                    expect=f"processed `{operation}' on {name.upper()}",
                    kernels=f"{operation}.*" if name == "gpu" else "")
                raw = run_raw("ffmpeg", "-v", "error", "-i", out, "-f", "rawvideo", "-pix_fmt",
                              "rgb48le", "-")
                pictures.append(np.frombuffer(raw, np.uint16).reshape(200, 300, 3).astype(int))
            inside = np.s_[edge:200 - edge, edge:300 - edge]
            difference = np.abs(pictures[0][inside] - pictures[1][inside]).max() / 65535 * 255
            if difference > 0.1:
                raise SystemExit(f"{operation}: pixels differ by {difference:.3f} of 255")
            done.append(f"{operation} {difference:.3f}")
    return [f"largest differences of 255: {', '.join(done)}"]


def gegl():
    """Compares operations that have OpenCL kernels, with and without OpenCL. Excluded are
    snn-mean and oilify, whose kernels compute something else, and c2g, which takes random
    samples."""
    operations = ["box-blur radius=3", "brightness-contrast "
                  "contrast=1.3", "edge-laplace", "bilateral-filter blur-radius=3",
                  "pixelize", "color-temperature",
                  "high-pass", "motion-blur-linear length=8", "levels in-low=0.1", "vignette",
                  "noise-hsv seed=1", "value-invert", "texturize-canvas", "posterize levels=5"]
    done = []
    with tempfile.TemporaryDirectory() as folder:
        write_ppm(f"{folder}/in.ppm", scene(160, 120))
        for operation in operations:
            pictures = []
            for use in "no", "yes":
                out = f"{folder}/{use}.ppm"
                run("env", f"GEGL_USE_OPENCL={use}", "gegl", f"{folder}/in.ppm", "-o", out, "--",
                    *operation.split(), expect="",
                    kernels=r"(?!.*_to_).+" if use == "yes" else "")  # not only a format's conversion
                pictures.append(read_ppm(out))
                os.remove(out)
            name = operation.split()[0]
            most = np.abs(pictures[0] - pictures[1]).max()
            if most > 1.01 / 255:
                raise SystemExit(f"{name}: pixels differ by {most:.4f} of the range")
            done.append(name)
    return done


def openmm():
    """Compares forces and energies with the Reference platform."""
    import openmm as mm
    from openmm import unit
    generator = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*[np.arange(6)] * 3), -1).reshape(-1, 3) * 0.35
    positions = grid + generator.normal(0, 0.02, grid.shape)
    count, box = len(positions), 6 * 0.35
    systems = {}
    for method in "NoCutoff", "CutoffPeriodic", "PME":
        system = mm.System()
        system.setDefaultPeriodicBoxVectors(*np.eye(3) * box)
        force = mm.NonbondedForce()
        force.setNonbondedMethod(getattr(mm.NonbondedForce, method))
        force.setCutoffDistance(0.9)
        bonds = mm.HarmonicBondForce()
        for i in range(count):
            system.addParticle(12)
            force.addParticle(0.4 * (-1) ** i, 0.3, 0.5)
        for i in range(0, count - 1, 2):
            bonds.addBond(i, i + 1, 0.36, 3e4)
        system.addForce(force)
        system.addForce(bonds)
        systems[method] = system
    done = []
    for method, system in systems.items():
        results = []
        for platform in "Reference", "OpenCL":
            place = mm.Platform.getPlatformByName(platform)
            context = mm.Context(system, mm.VerletIntegrator(0.001), place)
            context.setPositions(positions)
            state = context.getState(getForces=True, getEnergy=True)
            results.append((state.getForces(asNumpy=True)._value,
                            state.getPotentialEnergy()._value))
            if platform == "OpenCL":
                context.getIntegrator().step(20)
                later = context.getState(getPositions=True).getPositions(asNumpy=True)._value
                assert np.isfinite(later).all()
        close(f"{method} energy", results[1][1], results[0][1], 1e-4)
        done.append(close(f"{method} forces", results[1][0], results[0][0], 1e-3))
    return done


NAMES = {"pyfai": "pyFAI", "pyfai_tests": "pyFAI"}
DEBIAN = {"x264": "x264", "darktable": "darktable", "gegl": "gegl", "openmm": "libopenmm-plugins"}


def version(name):
    if name not in DEBIAN:
        return importlib.metadata.version(NAMES.get(name, name))
    text = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", DEBIAN[name]], text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    return text.split(":")[-1].split("-")[0].split("+")[0]


def main():
    name = sys.argv[1]
    done = globals()[name]()
    print(f"{version(name)}|{', '.join(done)}")


if __name__ == "__main__":
    main()
