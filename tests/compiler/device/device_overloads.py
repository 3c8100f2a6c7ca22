#!/usr/bin/env python3
"""Checks that every overload of every OpenCL C built-in function that clang declares compiles.

Reads clang's opencl-c.h, and writes a CUDA C kernel for each function name that calls all declared
overloads and checks their result types. Finds the files to include in groups.txt, like the compiler,
and compiles the kernels for SM 8.7 with NVRTC.

usage: device_overloads.py TEGRACLC DEVICE-FOLDER [--all] [name...]
Without --all, leaves out vectors of 2, 4 and 8: they come from the same templates as those of 3 and
16, and the test of built-in functions calls them.
Uses the clang and NVRTC that tegraclc finds. Exits with 77 (meson: SKIP) if clang's header is
missing."""

import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from nvrtc import Nvrtc  # noqa: E402

SKIP = 77
LEFT_OUT = re.compile(r", [248]>")
BATCH = 100  # overloads in one compilation
EXTENSIONS = [
    "cl_khr_fp16", "cl_khr_fp64", "__opencl_c_fp64", "cl_khr_byte_addressable_store",
    "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics",
    "cl_khr_global_int32_base_atomics", "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics", "cl_khr_local_int32_extended_atomics",
    "cl_khr_depth_images", "cl_khr_3d_image_writes", "__opencl_c_3d_image_writes",
    "__opencl_c_images", "__opencl_c_read_write_images",
]
FEATURES = [
    "__opencl_c_images", "__opencl_c_read_write_images", "__opencl_c_3d_image_writes",
    "__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device", "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_generic_address_space", "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed", "cl_khr_extended_bit_ops",
    "cl_khr_subgroup_extended_types", "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_ballot", "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroup_clustered_reduce", "cl_khr_subgroup_rotate",
    "cl_intel_subgroups", "cl_intel_subgroups_short",
] + ["__opencl_c_ext_fp%d_%s_atomic_%s" % (bits, place, operation) for bits in (16, 32, 64)
     for place in ("global", "local") for operation in ("load_store", "add", "min_max")]
NOT_HERE = re.compile(r"printf$")  # it is the printer's
ACCESSES = {"read_only": "ro", "write_only": "wo", "read_write": "rw"}
SCALARS = {
    "char": "signed char", "uchar": "ocl::uchar", "short": "short", "ushort": "ocl::ushort",
    "int": "int", "uint": "ocl::uint", "long": "long long", "ulong": "ocl::ulong",
    "float": "float", "double": "double", "half": "ocl::half", "void": "void", "bool": "bool",
    "sampler_t": "ocl::ocl_sampler",
    "size_t": "ocl::ulong", "event_t": "char *", "cl_mem_fence_flags": "ocl::uint",
    "memory_order": "int", "memory_scope": "int", "atomic_flag": "int", "intptr_t": "long long",
    "uintptr_t": "ocl::ulong", "ptrdiff_t": "long long", "atomic_int": "int",
    "atomic_uint": "ocl::uint", "atomic_long": "long long", "atomic_ulong": "ocl::ulong",
    "atomic_half": "ocl::half", "atomic_float": "float", "atomic_double": "double", "atomic_intptr_t": "long long",
    "atomic_uintptr_t": "ocl::ulong", "atomic_size_t": "ocl::ulong",
    "atomic_ptrdiff_t": "long long",
}
QUALIFIERS = ("const", "volatile")
WORK_ITEM = {
    "get_enqueued_num_sub_groups",
    "get_work_dim", "get_global_size", "get_global_id", "get_local_size", "get_local_id",
    "get_num_groups", "get_group_id", "get_global_offset", "get_enqueued_local_size",
    "get_global_linear_id", "get_local_linear_id",
}


def cuda_type(text):
    """Returns the CUDA C type for an OpenCL C type, which a parameter's name may follow, without
    address spaces. Returns None for types that this test does not cover."""
    words = re.findall(r"\w+|\*", text)
    stars = words.count("*")
    names = [w for w in words if w != "*" and not w.startswith("__") and w not in QUALIFIERS]
    if len(names) > 1 and names[0] in ACCESSES and re.fullmatch(r"image\w+_t", names[1]):
        return "ocl::ocl_%s_%s" % (names[1][:-2], ACCESSES[names[0]])
    base = "uint" if names[0] == "unsigned" else names[0]
    vector = re.fullmatch(r"([a-z]+)(2|3|4|8|16)", base)
    if vector and vector.group(1) in SCALARS:
        base = "ocl::vec<%s, %s>" % (SCALARS[vector.group(1)], vector.group(2))
    elif base in SCALARS:
        base = SCALARS[base]
    else:
        return None
    qualifiers = [q for q in QUALIFIERS if q in words] if stars else []
    return " ".join(qualifiers + [base]) + (" " + "*" * stars if stars else "")


def statements(clang):
    """Yields (result, name, [parameter...]) of every function that the header declares, with its
    spelling of the types."""
    folder = subprocess.run([clang, "-print-resource-dir"], capture_output=True, text=True)
    header = os.path.join(folder.stdout.strip(), "include", "opencl-c.h")
    if not os.path.exists(header):
        print("SKIP: clang has no", header)
        sys.exit(SKIP)
    text = subprocess.run(
        [clang, "-E", "-P", "-x", "cl", "-cl-std=CL3.0", "-target", "nvptx64-nvidia-nvcl",
         "-Xclang", "-finclude-default-header", "-include", header,
         "-Xclang", "-cl-ext=-all," + ",".join("+" + e for e in EXTENSIONS)]
        + ["-D%s=1" % f for f in FEATURES] + [os.devnull],
        capture_output=True, text=True, check=True).stdout
    text = re.sub(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    for statement in text.split(";"):
        match = re.fullmatch(r"\s*([\w\s]+?[\s*]+)(\w+)\s*\(([^()]*)\)\s*", statement)
        if match and "typedef" not in statement and not NOT_HERE.match(match.group(2)):
            yield (match.group(1), match.group(2),
                   [p for p in match.group(3).split(",") if p.strip() not in ("", "void")])


def declarations(clang):
    """Returns {name: set of (result, (parameters...))} with CUDA types."""
    found = collections.defaultdict(set)
    unknown = set()
    for result, name, parameters in statements(clang):
        types = [cuda_type(p) for p in parameters]
        cuda_result = cuda_type(result)
        if cuda_result is None or None in types:
            unknown.add("%s %s(%s)" % (result, name, ", ".join(parameters)))
        else:
            found[name].add((cuda_result, tuple(types)))
    return found, unknown


def groups(folder):
    lines = [l.split() for l in open(os.path.join(folder, "groups.txt")) if l.strip() and l[0] != "#"]
    return dict(lines)


def file_of(table, name):
    if name in table:
        return table[name]
    prefixes = [p for p in table if p.endswith("*") and name.startswith(p[:-1])]
    return table[max(prefixes, key=len)] if prefixes else "tegracl.cuh"


def kernel(name, overloads):
    lines = ['extern "C" __global__ void call_%s(char *p, const ocl::hidden h) {' % name]
    for result, parameters in sorted(overloads):
        arguments = ["h"] if name in WORK_ITEM else []
        for parameter in parameters:
            if parameter.endswith("*"):
                arguments.append("(%s)(p += 256)" % parameter)
            else:
                arguments.append("*(%s *)(p += 256)" % parameter)
        # Sequenced, so that each argument has a separate place.
        lines.append("  {")
        for i, argument in enumerate(arguments):
            lines.append("    auto %sa%d = %s;" % ("&" if argument == "h" else "", i, argument))
        call = "ocl::%s(%s)" % (name, ", ".join("a%d" % i for i in range(len(arguments))))
        if result == "void":
            lines.append("    %s;" % call)
        else:
            lines.append("    auto r = %s;" % call)
            lines.append("    static_assert(ocl::same<decltype(r), %s>, \"result type\");" % result)
            lines.append("    *(%s *)(p += 256) = r;" % result)
        lines.append("  }")
    return "\n".join(lines + ["}", ""])


PRELUDE = """#define OCL_HALF_MATH
#include "tegracl.cuh"
"""


def main():
    tegraclc, folder = sys.argv[1:3]
    every = "--all" in sys.argv
    wanted = [a for a in sys.argv[3:] if a != "--all"]
    clang = subprocess.run([tegraclc, "--print-path", "clang"], check=True, capture_output=True,
                           text=True).stdout.rstrip("\n")
    nvrtc = Nvrtc(tegraclc)
    headers = {}
    for path in glob.glob(os.path.join(folder, "*.cuh")):
        with open(path, "rb") as file:
            headers[os.path.basename(path).encode()] = file.read()
    found, unknown = declarations(clang)
    for statement in sorted(unknown):
        print("declaration not understood:", statement)
    if not every:
        found = {name: overloads for name, all_overloads in found.items()
                 if (overloads := {o for o in all_overloads if not LEFT_OUT.search(str(o))})}
    table = groups(folder)
    failures = len(unknown)
    for name in table:
        if not os.path.exists(os.path.join(folder, table[name])):
            print("groups.txt names a missing file:", table[name])
            failures += 1

    # Groups that compile quickly, but are large enough to amortise the start of NVRTC.
    names = [n for n in sorted(found) if not wanted or n in wanted]
    batches = [[]]
    for name in names:
        if sum(len(found[n]) for n in batches[-1]) + len(found[name]) > BATCH:
            batches.append([])
        batches[-1].append(name)

    def check(batch):
        files = sorted({file_of(table, name) for name in batch})
        source = PRELUDE + "".join('#include "%s"\n' % f for f in files)
        source += "".join(kernel(n, found[n]) for n in batch)
        return batch, nvrtc.compile(source.encode(), ["-arch=sm_87", "-std=c++17"], headers)

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for batch, (cubin, log) in pool.map(check, batches):
            if not cubin or log.strip():
                print("FAIL %s\n%s" % (", ".join(batch), log[:4000]))
                failures += 1
    total = sum(len(found[n]) for n in names)
    print("%d functions, %d overloads, %d failures" % (len(names), total, failures))
    return 1 if failures or (not wanted and total < 3000) else 0


if __name__ == "__main__":
    sys.exit(main())
