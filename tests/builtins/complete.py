#!/usr/bin/env python3
"""Checks that the test of built-in functions calls every overload that clang's opencl-c.h declares.

Functions whose result depends on more than their arguments must be called by another test.

usage: complete.py BUILTINS OVERLOADS: the test program, and the script that reads the header.
Exits with 77 (meson: SKIP) if the header is missing."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys

BUILTINS, OVERLOADS = sys.argv[1:3]
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Names of functions, and the test file or folder that calls them.
ELSEWHERE = [
    (r"dot|dot_\w+", "compiler/device/device_extensions.c"),
    (r"async_\w+|prefetch|wait_group_events", "compiler/device/device_kernels.cl"),
    (r"atomic_flag_\w+|(\w+_)?mem_fence|atomic_work_item_fence", "compiler/device/device_kernels.cl"),
    (r"atom_\w+|atomic_\w+|get_fence", "compiler"),
    (r"sub_group_\w+|get_\w*sub_group\w*", "compiler"),
    (r"intel_sub_group_\w+", "end_to_end/spirv"),
    (r"(read|write)_imageh", "compiler/device/device_extensions.c"),
    (r"(read|write)_image\w+|get_image_\w+", "end_to_end"),
    (r"work_group_\w+", "end_to_end"),
    (r"barrier|get_\w+", "."),
]
OTHER_NAMES = {"unsigned": "uint", "size_t": "ulong"}


def plain(parameter):
    """Returns a parameter's type without qualifiers, address space and name."""
    words = re.findall(r"\w+|\*", parameter)
    names = [w for w in words if w not in ("*", "const", "volatile") and not w.startswith("__")]
    return OTHER_NAMES.get(names[0], names[0]) + (" *" if "*" in words else "")


def names(text, name):
    """Whether a test's text contains the function's name, or the first words of the name followed by
    ## or a format, which complete it."""
    ends = [m.start() + 1 for m in re.finditer("_", name)][1:]
    return re.search(r"\b(%s\b|(%s)(##|%%s))" % (name, "|".join(name[:e] for e in ends) or name),
                     text) is not None


def main():
    spec = importlib.util.spec_from_file_location("overloads", OVERLOADS)
    overloads = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(overloads)
    clang = os.environ.get("TEGRACL_CLANG") or shutil.which("clang-15") or shutil.which("clang")
    declared = {(name, "%s(%s)" % (name, ", ".join(map(plain, parameters))))
                for _, name, parameters in overloads.statements(clang)}
    called = set(subprocess.run([BUILTINS, "--list"], capture_output=True, text=True,
                                check=True).stdout.splitlines())
    missing, other = [], set()
    for name, overload in sorted(declared):
        if overload in called:
            continue
        where = next((w for pattern, w in ELSEWHERE if re.fullmatch(pattern, name)), None)
        if where is None:
            missing.append(overload)
        else:
            other.add((name, where))
    texts = {}
    for name, where in sorted(other):
        if where not in texts:
            texts[where] = subprocess.run(["grep", "-rh", "", os.path.join(TESTS, where)],
                                          capture_output=True, text=True).stdout
        if not names(texts[where], name):
            missing.append("%s: not in tests/%s" % (name, where))
    print("\n".join(missing))
    print("%d overloads declared, %d of them called, %d functions in other tests, %d missing" % (
        len(declared), sum(o in called for _, o in declared), len(other), len(missing)))
    return 1 if missing or len(declared) < 3000 else 0


if __name__ == "__main__":
    sys.exit(main())
