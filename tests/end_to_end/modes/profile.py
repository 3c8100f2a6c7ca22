#!/usr/bin/python3
"""Compares the profile of kernels with their known counts.

Usage: profile.py SAMPLES
"""
import json
import os
import subprocess
import sys
import tempfile



def profile_of(board, *samples):
    """Returns the JSON and the text of the profile of samples on a board."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        env = dict(os.environ, TEGRACL_EMULATOR=board + "profile:" + path)
        run = subprocess.run([sys.argv[1], *samples], env=env, stderr=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, check=True)
        with open(path, encoding="utf-8") as file:
            return json.load(file), run


profile, run = profile_of("", "vadd", "matmul")
print(run.stderr)
kernels = {k["kernel"]: k for k in profile["kernels"]}
assert profile["measured"] is False and "not measurements" in run.stderr

vadd = kernels["vadd"]
items, warp, sector = 1 << 20, 32, 32
assert vadd["groups"] * vadd["work_items_per_group"] == items and vadd["grids"] == 1
assert vadd["global_requests"] == 3 * items // warp, "two loads and a store"
assert vadd["global_sectors"] == 3 * items * 4 // sector, "consecutive words fill sectors"
assert vadd["global_sectors_written"] == items * 4 // sector
assert vadd["texture_requests"] == vadd["bound_seconds"]["textures"] == 0
assert vadd["active_lanes"] == warp and vadd["warps_per_sm"] == 48
assert vadd["warp_instructions"]["float"] == items // warp, "one addition each"
issue = sum(vadd["warp_instructions"].values()) / (4 * profile["sms"] * profile["clock_hz"])
assert abs(vadd["bound_seconds"]["issue"] / issue - 1) < 1e-6

matmul = kernels["matmul"]
assert matmul["shared_passes"] >= matmul["shared_requests"] > 0

# The bounds are computed for the selected board: docs/hardware/command-stream.md 9.2.
nano, _ = profile_of("board:nano8,", "vadd")
assert (nano["sms"], nano["clock_hz"], nano["dram_bytes_per_second"]) == (8, 625e6, 68e9)
(slow,) = nano["kernels"]
for bound, factor in (("issue", (16 * 1300e6) / (8 * 625e6)), ("dram_without_caches", 204.8 / 68)):
    assert abs(slow["bound_seconds"][bound] / vadd["bound_seconds"][bound] / factor - 1) < 1e-6
