#!/usr/bin/python3
"""Compares the profile's counts of tensor instructions, and their bounds, with known ones.

Usage: tensor.py TENSOR
"""
import json
import os
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "profile.json")
    run = subprocess.run([sys.argv[1]], env=dict(os.environ, TEGRACL_EMULATOR="profile:" + path),
                         stderr=subprocess.PIPE, text=True, check=True)
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
print(run.stderr)
cycles = profile["sms"] * profile["clock_hz"]  # of all SMs per second
# Instructions, passes, FP64 products, and cycles of the tensor cores and of the FP64 lanes:
# docs/hardware/command-stream.md 9.4. One sub-group computes 16 x 16 x 16 halves or 16 x 16 x 32
# bytes with two instructions, or 8 x 8 x 4 doubles.
expected = {"halves": (2, 8, 0, 4, 0), "bytes": (2, 8, 0, 4, 0), "doubles": (1, 0, 1, 0, 128)}
kernels = {k["kernel"]: k for k in profile["kernels"]}
assert kernels.keys() == expected.keys(), kernels.keys()
for name, (instructions, passes, doubles, tensor_cycles, double_cycles) in expected.items():
    kernel = kernels[name]
    assert kernel["warp_instructions"]["tensor"] == instructions, kernel
    assert kernel["tensor_passes"] == passes and kernel["double_products"] == doubles, kernel
    bounds = kernel["bound_seconds"]
    for bound, count in (("tensor", tensor_cycles), ("double", double_cycles)):
        assert abs(bounds[bound] * cycles - count) < 1e-6, kernel
    (text,) = [t for t in run.stderr.split("profile: kernel ")[1:] if t.startswith(name)]
    assert ("for tensor cores" in text) == (passes > 0), text
