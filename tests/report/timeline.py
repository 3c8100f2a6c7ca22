#!/usr/bin/python3
"""timeline.py SAMPLES FAILURES ENDLESS TEGRACL_REPORT: tests timelines (TEGRACL_DEBUG=timeline:FILE) of
programs whose calls, kernels and counts are known."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

SAMPLES, FAILURES, ENDLESS, REPORT = sys.argv[1:5]
folder = tempfile.TemporaryDirectory()


def start(path, *command, **variables):
    env = dict(os.environ, TEGRACL_DEBUG="timeline:" + path, **variables)
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)


def events_of(path):
    """Returns the events of a file. It ends after a comma, without "]", which Chrome accepts."""
    with open(path, encoding="utf-8") as file:
        return json.loads(file.read().rstrip().rstrip(",") + "]")


def events_beside_a_torn_one(path):
    """Returns the events of a file, which may contain an incomplete line of a killed process."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip().rstrip(",") for line in file.read().removeprefix("[").splitlines()]
    events, torn = [], []
    for line in filter(None, lines):
        try:
            events.append(json.loads(line))
        except ValueError:
            torn.append(line)
    assert len(torn) <= 1, torn
    return events


def of(events, category, name=None):
    return [e for e in events if e.get("cat") == category and name in (None, e["name"])]


def inside(inner, outer):
    return (outer["ts"] <= inner["ts"] and
            inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.002)


def one(events):
    assert len(events) == 1, events
    return events[0]


# Follows a kernel from its build to its result.
path = os.path.join(folder.name, "samples.json")
program = start(path, SAMPLES, "vadd", "matmul", TEGRACL_EMULATOR="profile",
                TEGRACL_CACHE="0")
output = program.communicate()[0]
assert program.returncode == 0, output
events = events_of(path)
for name in ("vadd", "matmul"):
    kernel = one(of(events, "kernel", name))
    details = kernel["args"]
    counted = int(re.search(name + r" .* (\d+) warp instructions", output).group(1))
    assert details["warp_instructions"] == counted, (details, counted)
    submission = one([e for e in of(events, "submission") if e["args"]["kernel"] == name])
    assert submission["args"]["point"] == details["point"]
    assert kernel["ts"] >= submission["ts"] and kernel["dur"] > 0
    enqueue = one([e for e in of(events, "api", "clEnqueueNDRangeKernel")
                   if e["ts"] <= submission["ts"] <= e["ts"] + e["dur"]])
    assert enqueue["tid"] == submission["tid"] != kernel["tid"]
vadd = one(of(events, "kernel", "vadd"))["args"]
assert vadd["work_groups"] == "4096 x 1 x 1" and vadd["work_items"] == "256 x 1 x 1"
assert vadd["global_bytes"] == 3 * 4 * (1 << 20), "two words read, one written"
assert any(inside(wait, e) for wait in of(events, "wait") for e in of(events, "api", "clFinish"))
for build in of(events, "build"):
    assert any(inside(build, e) for e in of(events, "api", "clBuildProgram"))
stages = [e["name"] for e in of(events, "build") if e["name"] != "compiled"]
assert stages == ["front end", "optimiser", "LLVM IR to CUDA C", "NVRTC"] * 2, stages
copy = of(events, "copy")[0]
assert copy["args"]["bytes"] == 4 << 20
assert any(inside(copy, e) for e in of(events, "api", "clEnqueueReadBuffer"))
assert not [e for e in of(events, "api") if "error" in e.get("args", {})]
names = {e["args"]["name"] for e in events if e["ph"] == "M"}
assert {"samples", "GPU, queue 0"} <= names, names

# The report must contain the same numbers.
report = subprocess.run([REPORT, path], capture_output=True, text=True, check=True).stdout
line = next(l for l in report.splitlines() if l.startswith("vadd"))
assert re.split(r"\s{2,}", line)[1] == "1" and "%.1f k" % (vadd["warp_instructions"] / 1e3) in line

# Failing calls, and GPU faults.
path = os.path.join(folder.name, "failures.json")
program = start(path, FAILURES)
output = program.communicate()[0]
assert program.returncode == 0, output
events = events_of(path)
errors = {e["args"]["error"] for e in of(events, "api") if "error" in e.get("args", {})}
assert "CL_OUT_OF_RESOURCES" in errors or "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST" in errors
faults = of(events, "fault")
assert any("MMU fault" in e["args"]["message"] and "kernel mmu" in e["args"]["message"]
           for e in faults), faults

# Two processes write to a file, and one of them is killed. Only the line that it was writing may be
# damaged.
path = os.path.join(folder.name, "both.json")
victim = start(path, ENDLESS)
while not (os.path.exists(path) and "clBuildProgram" in open(path, encoding="utf-8").read()):
    assert victim.poll() is None
    time.sleep(0.01)
other = start(path, SAMPLES, "vadd")
while '"pid":%d,' % other.pid not in open(path, encoding="utf-8").read():
    assert victim.poll() is None
    time.sleep(0.01)
victim.send_signal(signal.SIGKILL)
victim.communicate()
assert other.communicate() and other.returncode == 0
events = events_beside_a_torn_one(path)
of_victim = [e for e in events if e["pid"] == victim.pid]
assert of(of_victim, "api", "clBuildProgram")
assert one([e for e in of(events, "kernel", "vadd") if e["pid"] == other.pid])

# If the file cannot be written, there is one message and the program runs normally.
program = start("/proc/nothing", SAMPLES, "vadd")
output = program.communicate()[0]
assert program.returncode == 0 and output.count("no timeline in /proc/nothing") == 1, output
folder.cleanup()
