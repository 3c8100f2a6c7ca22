#!/usr/bin/python3
"""Runs random OpenCL C programs on this driver and on PoCL and compares the results.

differential.py [--first SEED] [--count N] [--keep FOLDER] [FILE.cl ...]

Each program (generate.py) runs on the software Orin, optimised and with -cl-opt-disable, and
on PoCL if that is installed. FILE.cl is a program in the same format. If only PoCL differs and
Oclgrind is installed, its result decides, because PoCL 3.1 miscompiles some work-item loops
around barriers. A program that one compiler rejects counts as a difference. --keep writes
programs with differences to the folder. The exit status is 1 if there are any.
"""
import argparse
import ast
import os
import pathlib
import random
import re
import sys
import tempfile

import generate
import kinds

PORTABLE, POCL = "-DPORTABLE", "Portable Computing Language"
POCL_ICD = pathlib.Path("/etc/OpenCL/vendors/pocl.icd")
OCLGRIND = pathlib.Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")


def find_vendors(folder):
    """Fills a folder with the ICD files of this driver and of the others that are installed."""
    ours = pathlib.Path(os.environ["OCL_ICD_VENDORS"], "tegracl.icd")
    vendors = {"tegracl": ours.read_text()}
    if POCL_ICD.exists():
        vendors["pocl"] = POCL_ICD.read_text()
    if OCLGRIND.exists():
        vendors["oclgrind"] = str(OCLGRIND)
    for name, library in vendors.items():
        pathlib.Path(folder, f"{name}.icd").write_text(library)


class Launch:
    """Returns the launch that the first line of a program describes."""

    def __init__(self, source):
        line = re.match(r"// std=(\S+) local=(.*) groups=(.*) portable=(.*) values=(.*)", source)
        self.version = line[1]
        self.local, self.groups, self.is_portable, values = (
            ast.literal_eval(line[n]) for n in range(2, 6))
        self.values = [bytes.fromhex(text) for text in values]
        self.work_items = 1
        for count in self.local + self.groups:
            self.work_items *= count


def results(cl, device, options, source):
    """Builds and runs the program, and returns the contents of its buffers."""
    launch = Launch(source)
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    version = "CL1.2" if PORTABLE in options else launch.version
    program = cl.Program(context, source).build(["-w", f"-cl-std={version}"] + options)
    numbers = random.Random(1)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=bytearray(data)) for data in (
        bytes(8 * launch.work_items), numbers.randbytes(kinds.IN_BYTES),
        bytes(kinds.SCRATCH_BYTES * launch.work_items),
        numbers.randbytes(4 * kinds.COUNTERS))]
    room = cl.LocalMemory(kinds.ROOM_BYTES * (launch.work_items // prod(launch.groups)))
    kernel = program.test
    kernel.set_args(*buffers, room, numbers.randbytes(4), *launch.values)
    size = tuple(a * b for a, b in zip(launch.local, launch.groups))
    cl.enqueue_nd_range_kernel(queue, kernel, size, launch.local)
    out = []
    for buffer in (buffers[0], buffers[3]):
        data = bytearray(buffer.size)
        cl.enqueue_copy(queue, data, buffer)
        out.append(bytes(data))
    return out


def prod(numbers):
    product = 1
    for number in numbers:
        product *= number
    return product


def run_on(cl, device, options, source):
    """Returns the buffers' bytes, or a text that says what failed."""
    try:
        return results(cl, device, options, source)
    except cl.Error as error:
        return str(error)


def difference(outcomes):
    """Describes how the outcomes differ; empty if they do not."""
    names = list(outcomes)
    first = outcomes[names[0]]
    failed = [f"{name}: {out[-2000:]}" for name, out in outcomes.items() if isinstance(out, str)]
    if failed:
        return "\n".join(failed)
    for name in names[1:]:
        for buffer, (a, b) in enumerate(zip(first, outcomes[name])):
            size = 8 if buffer == 0 else 4
            places = [n // size for n in range(0, len(a), size) if a[n:n + size] != b[n:n + size]]
            if places:
                return (f"{names[0]} and {name} differ: {('work-items', 'counters')[buffer]} "
                        f"{places[:10]}, {len(places)} of {len(a) // size}")
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        find_vendors(folder)
        os.environ.update(OCL_ICD_VENDORS=folder, PYOPENCL_NO_CACHE="1", POCL_KERNEL_CACHE="0")
        import pyopencl as cl  # loads the vendors
        devices = {platform.name: platform.get_devices()[0] for platform in cl.get_platforms()}
        ours = devices["tegracl"]
        ways = {"optimised": (ours, []), "-cl-opt-disable": (ours, ["-cl-opt-disable"])}
        if POCL in devices:
            ways["PoCL"] = (devices[POCL], [PORTABLE])
        else:
            print("PoCL is not installed: optimised against -cl-opt-disable alone")
        programs = [(str(path), path.read_text()) for path in arguments.files]
        if not programs:
            programs = ((f"seed {seed}", generate.Program(seed).source) for seed in
                        range(arguments.first, arguments.first + arguments.count))
        bad = count = 0
        for name, source in programs:
            outcomes = {way: run_on(cl, *ways[way], source) for way in ways
                        if way != "PoCL" or Launch(source).is_portable}
            found = difference(outcomes)
            count += 1
            if found and "PoCL" in outcomes and "Oclgrind" in devices:
                ours_only = {way: out for way, out in outcomes.items() if way != "PoCL"}
                ours_only["Oclgrind"] = run_on(cl, devices["Oclgrind"], [PORTABLE], source)
                if not difference(ours_only):
                    print(f"{name}: PoCL alone differs, Oclgrind does not")
                    found = ""
            if found:
                bad += 1
                print(f"{name}: {found}", flush=True)
                if arguments.keep:
                    (arguments.keep / f"{name.replace(' ', '')}.cl").write_text(source)
        print(f"{count} programs in {len(ways)} ways, {bad} with differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
