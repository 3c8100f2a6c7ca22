#!/usr/bin/python3
"""Compares leela-zero (Debian's leela-zero) on the device with its own CPU code.

The network is small and has random weights. In half precision leela-zero multiplies on the tensor
cores, by inline PTX with wmma, if the device compiles its test kernel.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import pyopencl as cl

CHANNELS, BLOCKS, TILES = 32, 2, 36
TOLERANCE = 0.2  # of leela-zero's self-check
MOVES = 12
SELF_CHECK_FAILED = "tensor core failed despite driver claiming support"

# Parameters of the product kernel, which are tuned otherwise: minutes, and leela-zero 0.17's tuner
# writes past the end of its arrays if a network with fewer than 128 channels may use wmma.
PLAIN = dict(KWG=32, KWI=8, MDIMA=16, MDIMC=16, MWG=32, NDIMB=8, NDIMC=8, NWG=32, SA=1, SB=1,
             STRM=0, STRN=0, TCE=0, VWM=2, VWN=2)
WMMA = dict(PLAIN, KWG=16, KWI=2, SA=0, SB=0, TCE=1)
SHAPES = {
    "m16n16k16": dict(WMMA, MDIMA=16, MDIMC=16, NDIMB=16, NDIMC=16),
    "m32n8k16": dict(WMMA, MDIMA=32, MDIMC=32, NDIMB=8, NDIMC=8, KWG=32, SA=1, SB=1),
    "m8n32k16": dict(WMMA, MDIMA=8, MDIMC=8, NDIMB=32, NDIMC=32),
}
# A macro that makes all groups compute the first product.
WRONG = dict(SHAPES["m16n16k16"], **{"get_group_id(x)": 0})


def network():
    """The text of a network, whose evaluations differ by more than the tolerance between moves."""
    generator = np.random.default_rng(4)

    def line(*values):
        return " ".join(f"{v:.6g}" for v in np.concatenate([np.ravel(v) for v in values]))

    def convolution(outputs, inputs, size):
        weights = generator.normal(0, (2 / (inputs * size * size)) ** .5,
                                   outputs * inputs * size ** 2)
        return [line(weights), line(np.zeros(outputs)), line(np.zeros(outputs)),
                line(np.ones(outputs))]
    lines = ["1"] + convolution(CHANNELS, 18, 3)
    for _ in range(2 * BLOCKS):
        lines += convolution(CHANNELS, CHANNELS, 3)
    lines += convolution(2, CHANNELS, 1)
    lines += [line(generator.normal(0, 1, 722 * 362)), line(np.zeros(362))]
    lines += convolution(1, CHANNELS, 1)
    lines += [line(generator.normal(0, .05, 361 * 256)), line(np.zeros(256)),
              line(generator.normal(0, .2, 256)), line(np.zeros(1))]
    return "\n".join(lines) + "\n"


def tuned(kernel, parameters):
    """A line of leela-zero's file of tuned parameters."""
    device = cl.create_some_context(interactive=False).devices[0]
    name = f"OpenCL: {device.vendor} {device.name} @ {device.max_clock_frequency}MHz"
    options = "".join(f" -D{key}={value}" for key, value in parameters.items())
    return f"1;{kernel};{CHANNELS};25;{CHANNELS};{TILES};{options};{name}\n"


def run(folder, options, commands, parameters=None):
    """Runs leela-zero. Returns its moves, its evaluations (for each heatmap the probabilities
    of all moves and of winning), what it prints, and the tensor instructions of each kernel."""
    data = f"{folder}/.local/share/leela-zero"
    profile = f"{folder}/profile.json"
    os.makedirs(data, exist_ok=True)
    if parameters:
        kernel = "XgemmBatched" if "single" in options else "XgemmBatchedHalf"
        with open(f"{data}/leelaz_opencl_tuning", "w") as file:
            file.write(tuned(kernel, parameters))
    done = subprocess.run(
        ["leelaz", "--gtp", "--weights", f"{folder}/weights.txt", "--threads", "1", "--noponder",
         "--seed", "3", "--visits", "8", *options],
        input="\n".join(commands) + "\nquit\n", text=True, cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, "HOME": folder, "PATH": "/usr/bin:/usr/games",
                                     "TEGRACL_EMULATOR": "profile:" + profile})
    log = done.stdout + done.stderr
    if done.returncode:
        sys.exit(f"leelaz {' '.join(options)}: exit {done.returncode}\n{log[-3000:]}")
    maps = re.findall(r"((?:(?: *\d+){19} *\n){19})pass: (\d+)\nwinrate: (\S+)", done.stderr)
    evaluations = [np.array([*map(int, rows.split()), int(passes), 1000 * float(winrate)]) / 1000
                   for rows, passes, winrate in maps]
    tensor = {}
    if "--cpu-only" not in options:
        with open(profile) as file:
            tensor = {k["kernel"]: k["warp_instructions"].get("tensor", 0)
                      for k in json.load(file)["kernels"]}
    return re.findall(r"^= ([A-T]\d+|pass|resign)$", done.stdout, re.M), evaluations, log, tensor


def distance(one, other):
    """The error that leela-zero's self-check computes."""
    return np.sqrt(((one - other) ** 2).sum())


def play(folder, name, parameters, options, on_tensor_cores):
    """Plays a game with itself, and compares the evaluation of each position with the CPU's."""
    colours = ["b", "w"] * (MOVES // 2)
    commands = [c for colour in colours for c in (f"genmove {colour}", "heatmap")]
    moves, got, log, tensor = run(folder, options, commands, parameters)
    assert len(moves) == len(got) == MOVES, f"{name}: {len(moves)} moves\n{log[-3000:]}"
    assert SELF_CHECK_FAILED not in log, f"{name}: the self-check failed\n{log[-3000:]}"
    assert "Loaded existing SGEMM tuning" in log and "Tensor Core support: Yes" in log, log
    assert (tensor["XgemmBatched"] > 0) == on_tensor_cores, f"{name}: {tensor}"
    commands = [c for colour, move in zip(colours, moves)
                for c in (f"play {colour} {move}", "heatmap")]
    _, want, _, _ = run(folder, ["--cpu-only"], commands)
    error = max(map(distance, got, want))
    least = min(distance(a, b) for a, b in zip(want, want[1:]))
    assert error <= TOLERANCE < least, f"{name}: error {error}; moves change by {least} or more"
    return error


with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/weights.txt", "w") as file:
        file.write(network())
    # Only the choice of the precision by leela-zero runs its self-check in any case.
    errors = {"single": play(folder, "single", PLAIN, ["--precision", "single"], False),
              "half": play(folder, "half", PLAIN, ["--precision", "auto"], False)}
    for shape, parameters in SHAPES.items():
        errors[shape] = play(folder, shape, parameters, ["--precision", "auto"], True)
    (_, (want,), _, _), (_, (wrong,), _, _), (_, _, log, _) = (
        run(folder, options, ["heatmap"], WRONG)
        for options in (["--cpu-only"], ["--precision", "half"], ["--precision", "auto"]))
    assert distance(wrong, want) > TOLERANCE, "wrong products change nothing"
    assert SELF_CHECK_FAILED in log, f"the self-check did not notice wrong products\n{log[-3000:]}"
print("evaluations of games differ from the CPU's by at most " +
      ", ".join(f"{error:.1g} ({name})" for name, error in errors.items()))
