#!/usr/bin/python3
"""Measures the time of a build and compares it with the times of the two compilers alone.

    OCL_ICD_VENDORS=build/icd/vendors builds.py TEGRACLC [ROUNDS]

Each round builds a new kernel through the OpenCL API while the helper process is running. It
also runs clang with the helper's arguments and source, including optimisation, which the
helper does itself, and runs NVRTC in this process on the helper's CUDA C and on handwritten
CUDA C. Prints the medians of the elapsed times, and the CPU time of all processes, in ms per
round.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from nvrtc import Nvrtc  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEVICE = os.path.join(TOP, "compiler", "device")
KERNELS = ["vector_add", "nbody", "black_scholes"]
# The options that compiler/nvrtc.c passes if the application passes none.
NVRTC_OPTIONS = ["--gpu-architecture=sm_87", "--std=c++17",
                 "--device-as-default-execution-space", "--device-int128", "--disable-warnings",
                 "--fmad=false", "--ftz=false", "--prec-div=false", "--prec-sqrt=false",
                 "--generate-line-info", "--include-path=" + DEVICE]
PLAIN_OPTIONS = ["--gpu-architecture=sm_87"]


def kernel_source(name, suffix):
    with open(os.path.join(TOP, "tests", "bench", "kernels", name + suffix)) as file:
        return file.read()


def unlike(source, number):
    """Returns the source with a constant that makes it new to all caches."""
    return f"{source}constant int unlike_{os.getpid()}_{time.monotonic_ns()} = {number};\n"


class Clang:
    """Returns clang's arguments and its input, as the helper calls it."""

    def __init__(self, tegraclc, source):
        self.folder = tempfile.TemporaryDirectory()
        at = self.folder.name
        with open(f"{at}/k.cl", "w") as file:
            file.write(source)
        real = subprocess.run(["sh", "-c", "command -v clang-15 || command -v clang"],
                              capture_output=True, text=True, check=True).stdout.strip()
        with open(f"{at}/clang", "w") as file:
            file.write(f"#!/bin/sh\nfor a; do printf '%s\\n' \"$a\"; done >{at}/words\n"
                       f"cat >{at}/input\nexec {real} \"$@\" <{at}/input\n")
        os.chmod(f"{at}/clang", 0o755)
        run = subprocess.run([tegraclc, "--emit", "cuda", f"{at}/k.cl"], check=True,
                             capture_output=True, env={**os.environ, "TEGRACL_CLANG": f"{at}/clang"})
        self.cuda = run.stdout
        with open(f"{at}/words") as file:
            self.words = [real] + [word for word in file.read().splitlines()
                                   if word != "-disable-llvm-passes"]
        self.actions = [(os.POSIX_SPAWN_OPEN, 0, f"{at}/input", os.O_RDONLY, 0)] + [
            (os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (1, 3)]

    def run(self):
        pid = os.posix_spawn(self.words[0], self.words, os.environ, file_actions=self.actions)
        _, status, used = os.wait4(pid, 0)
        assert status == 0
        return used.ru_utime + used.ru_stime


def nvrtc_time(nvrtc, cuda, options):
    before = time.process_time()
    cubin, log = nvrtc.compile(cuda, options)
    assert cubin, log
    return time.process_time() - before


def helpers_cpu():
    """Returns the CPU time of the helper processes and their children, in hundredths of a
    second."""
    total = 0
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat") as file:
                words = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(words[1]) == os.getpid():
            total += sum(int(word) for word in words[11:15])
    return total / os.sysconf("SC_CLK_TCK")


def timed(call):
    begin = time.perf_counter()
    cpu = call()
    return time.perf_counter() - begin, cpu


def measure(context, build, nvrtc, tegraclc, name, rounds):
    """Returns medians of times and means of CPU times in ms: of builds, clang, NVRTC with the
    helper's CUDA C, NVRTC with handwritten CUDA C."""
    source, plain = kernel_source(name, ".cl"), kernel_source(name, ".cu").encode()
    clang = Clang(tegraclc, source)
    columns = [lambda: build(context, unlike(source, 1)), clang.run,
               lambda: nvrtc_time(nvrtc, clang.cuda, NVRTC_OPTIONS),
               lambda: nvrtc_time(nvrtc, plain, PLAIN_OPTIONS)]
    for column in columns:  # what is loaded once: the helper and its libraries, NVRTC
        column()
    samples = [[] for _ in columns]
    helpers = helpers_cpu()
    for _ in range(rounds):
        for column, times in zip(columns, samples):
            times.append(timed(column))
    helpers = helpers_cpu() - helpers
    wall = [statistics.median(t for t, _ in times) * 1e3 for times in samples]
    cpu = [sum(c for _, c in times) / rounds * 1e3 for times in samples]
    cpu[0] += helpers / rounds * 1e3
    return wall, cpu


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    import pyopencl as cl

    tegraclc, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    platform = next(p for p in cl.get_platforms() if p.name == "tegracl")
    context = cl.Context(platform.get_devices())

    def build(context, source):
        before = time.process_time()
        cl._cl._Program(context, source)._build(b"", context.devices)
        return time.process_time() - before

    nvrtc = Nvrtc(tegraclc)
    print("| kernel | | build | clang | NVRTC | build / both | NVRTC, CUDA by hand | build / both |")
    print("| --- |" + " --- |" * 7)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TEGRACL_CACHE_DIR"] = folder
        for name in KERNELS:
            times = measure(context, build, nvrtc, tegraclc, name, rounds)
            for what, (api, clang, same, plain) in zip(("time", "CPU"), times):
                print(f"| {name} | {what} | {api:.1f} | {clang:.1f} | {same:.1f} "
                      f"| {api / (clang + same):.2f} | {plain:.1f} | {api / (clang + plain):.2f} |",
                      flush=True)


if __name__ == "__main__":
    main()
