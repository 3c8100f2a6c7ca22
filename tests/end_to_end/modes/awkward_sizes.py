#!/usr/bin/python3
"""Checks the work-groups that the driver chooses for global sizes without good divisors.

Usage: awkward_sizes.py PROGRAM

The program launches each of its kernels over such sizes. Those whose names begin with "apart" must
run in work-groups that fill warps, the others in work-groups that divide the sizes.
"""
import json
import os
import subprocess
import sys
import tempfile

WARP = 32

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "profile.json")
    env = dict(os.environ, TEGRACL_EMULATOR="profile:" + path)
    subprocess.run(sys.argv[1:], env=env, check=True)
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)

seen = {"apart": set(), "sees": set()}
for kernel in profile["kernels"]:
    kind, name = kernel["kernel"].split("_", 1)
    warps = -(-kernel["work_items_per_group"] // WARP) * kernel["groups"]
    items = kernel["work_items_per_group"] * kernel["groups"]
    print(f"{kind} {name}: {kernel['groups']} groups of {kernel['work_items_per_group']} work-items")
    if kernel["groups"] > 100:
        seen[kind].add(name)
        full = items / (warps * WARP) > 0.9
        assert full == (kind == "apart"), "lanes are used only if the kernel cannot notice"
assert seen == {"apart": {"ids", "helper", "atomic", "math"},
                "sees": {"local_id", "group_id", "local_size", "groups", "linear", "offset",
                         "sub_group", "helper", "barrier", "local", "assembly", "argument"}}, seen
