#!/usr/bin/python3
"""Measures the build of a large program, which is compiled in units.

    OCL_ICD_VENDORS=build/icd/vendors units.py [--baseline OLD_TEGRACLC] TEGRACLC FILE [OPTIONS]

Builds the program as a whole (tegraclc), then through the OpenCL API: in units by one helper
and by as many as there are cores, with a kernel added, with all lines moved, and from the cache.
Prints the time and the CPU time of all processes (the shorter of two rounds), also relative to
the build as a whole. That is a build by the same tegraclc: if the compiler becomes faster, the
ratios do not become smaller. So --baseline adds the ratios to the build as a whole by another
tegraclc, for example of an older commit. Then estimates the build time with more cores: the units, with the times
that one helper took for each, are assigned to several workers in turn (list scheduling), after
the preceding stages. "First kernel" is the time until clCreateKernel has returned the program's
first kernel, while the other units are still being compiled.
"""
import collections
import ctypes
import heapq
import os
import re
import subprocess
import sys
import tempfile
import time

ROUNDS = 2
ONE_HELPER = {"TEGRACL_COMPILER_MEMORY": "1000"}  # MiB: less than two shares
PR_SET_CHILD_SUBREAPER = 36
WORKERS = (1, 2, 4, 6, 8, 12)
CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_KERNEL_NAMES = 0x1165, 0x1168
ADDED = "\nkernel void added_kernel(global float *p) { p[get_global_id(0)] *= 3.0f; }\n"

Cost = collections.namedtuple("Cost", "time cpu words")


def build_by_api(path, options):
    """Runs in a process that does nothing else."""
    cl = ctypes.CDLL("libOpenCL.so.1")
    handle = ctypes.c_void_p
    cl.clCreateContext.restype = cl.clCreateProgramWithSource.restype = handle
    platform, device, error = handle(), handle(), ctypes.c_int()
    with open(path, "rb") as file:
        text = ctypes.c_char_p(file.read())
    cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
    cl.clGetDeviceIDs(platform, ctypes.c_uint64(0xFFFFFFFF), 1, ctypes.byref(device), None)
    context = handle(cl.clCreateContext(None, 1, ctypes.byref(device), None, None,
                                        ctypes.byref(error)))
    program = handle(cl.clCreateProgramWithSource(context, 1, ctypes.byref(text), None,
                                                  ctypes.byref(error)))
    begin = time.perf_counter()
    result = cl.clBuildProgram(program, 1, ctypes.byref(device), options.encode(), None, None)
    if result:
        sys.exit(result)
    names, size = ctypes.create_string_buffer(1 << 16), ctypes.c_size_t()
    cl.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, ctypes.c_size_t(len(names)), names, None)
    cl.clCreateKernel.restype = handle
    if not cl.clCreateKernel(program, names.value.split(b";")[0], ctypes.byref(error)):
        sys.exit(error.value)
    print(f"first kernel: {time.perf_counter() - begin:.3f} s", file=sys.stderr)
    # Waits for all units.
    sys.exit(cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, ctypes.c_size_t(8),
                                 ctypes.byref(size), None))


def run(command, environment):
    """Includes the CPU time of the command and of its children, which end soon after it."""
    begin = time.perf_counter()
    with subprocess.Popen(command, env={**os.environ, **environment}, text=True,
                          stderr=subprocess.PIPE) as process:
        words = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    end = time.perf_counter()
    cpu = used.ru_utime + used.ru_stime
    try:
        while True:
            _, _, used = os.wait3(0)
            cpu += used.ru_utime + used.ru_stime
    except ChildProcessError:
        pass
    if process.returncode:
        sys.exit(f"{command}: exit status {process.returncode}\n{words}")
    return Cost(end - begin, cpu, words)


class Api:
    """Builds a source through the API, with a cache folder."""

    def __init__(self, path, options, cache):
        self.path, self.options, self.cache = path, options, cache

    def build(self, **environment):
        cost = run([sys.executable, os.path.abspath(__file__), "--build", self.path, self.options],
                   {"TEGRACL_CACHE_DIR": self.cache, "TEGRACL_DEBUG": "build", **environment})
        taken = re.search(r"build: ([\d.]+) ms", cost.words)
        return cost._replace(time=float(taken[1]) / 1e3)


def first_kernel(cost):
    """Returns the time to the first kernel, and the CPU time of the whole build."""
    found = re.search(r"first kernel: ([\d.]+) s", cost.words)
    return cost._replace(time=float(found[1]))


def units_of(cost):
    """Returns the seconds of each unit, and of the stages before them."""
    found = re.search(r"ms of each:([ \d.]+)", cost.words)
    if not found:
        sys.exit("the program is not compiled in units")
    units = [float(ms) / 1e3 for ms in found[1].split()]
    return units, cost.time - sum(units)


def schedule(units, workers):
    """Returns the seconds until all are done, if each in order is assigned to the first free
    worker."""
    free = [0.0] * workers
    for unit in units:
        heapq.heapreplace(free, free[0] + unit)
    return max(free)


def print_table(titles, rows):
    print("\n| " + " | ".join(titles) + " |\n|" + " --- |" * len(titles))
    for first, *values in rows:
        print(f"| {first} | " + " | ".join(f"{value:.2f}" for value in values) + " |")


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def measure(wholes, source, options, folder):
    """wholes has the tegraclc of each build as a whole."""
    cache = tempfile.mkdtemp(dir=folder)
    same = write(folder, "program.cl", source)
    costs = {name: run([tegraclc, *options.split(), same, "-o", os.path.join(folder, "out")],
                       {"TEGRACL_CACHE": "0"}) for name, tegraclc in wholes.items()}
    first = Api(same, options, cache)
    costs["units, one helper"] = first.build(**ONE_HELPER)
    costs["the same again"] = first.build()
    costs["a kernel added"] = Api(write(folder, "added.cl", source + ADDED), options, cache).build()
    costs["all lines moved"] = Api(write(folder, "moved.cl", "\n" + source), options, cache).build()
    other = Api(same, options, tempfile.mkdtemp(dir=folder))
    cores = f"{len(os.sched_getaffinity(0))} cores"
    costs[f"units, {cores}"] = other.build()
    for name in ("units, one helper", f"units, {cores}"):
        costs[name.replace("units", "first kernel")] = first_kernel(costs[name])
    return costs


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--build":
        build_by_api(sys.argv[2], sys.argv[3])
    words, wholes = sys.argv[1:], {}
    if words[:1] == ["--baseline"]:
        wholes["baseline"] = words[1] if len(words) > 1 else ""
        words = words[2:]
    if len(words) < 2:
        sys.exit(__doc__)
    wholes["whole"], path = words[0], os.path.abspath(words[1])
    options = " ".join([*words[2:], "-I", os.path.dirname(path)])
    # Waits for helpers that outlive the application.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with open(path) as file:
        source = file.read()
    rounds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(measure(wholes, source, options, folder))
    best = {name: Cost(min(costs[name].time for costs in rounds),
                       min(costs[name].cpu for costs in rounds), "") for name in rounds[0]}
    for name, tegraclc in wholes.items():
        print(f"{name}: the program in one piece, by {tegraclc}")
    print_table(["build", "time, s", "CPU, s",
                 *(f"{what} / {name}" for name in wholes for what in ("time", "CPU"))],
                ([name, cost.time, cost.cpu,
                  *(mine / whole for other in wholes
                    for mine, whole in zip(cost[:2], best[other][:2]))]
                 for name, cost in best.items()))
    each = [units_of(costs["units, one helper"]) for costs in rounds]
    units = [min(times) for times in zip(*(units for units, _ in each))]
    before = min(before for _, before in each)
    print(f"\n{len(units)} units, the longest {max(units):.2f} s; {before:.2f} s before them")
    totals = ((workers, before + schedule(units, workers)) for workers in WORKERS)
    print_table(["workers", "time, s", *(f"time / {name}" for name in wholes)],
                ([str(workers), total, *(total / best[name].time for name in wholes)]
                 for workers, total in totals))


if __name__ == "__main__":
    main()
