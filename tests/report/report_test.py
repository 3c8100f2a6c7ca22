#!/usr/bin/python3
"""report_test.py TEGRACL_REPORT: tests tables and charts of timelines that this test writes."""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import xml.dom.minidom

QUEUE = 1 << 24


def event(name, category, ts, dur, tid=7, **args):
    return {"name": name, "cat": category, "ph": "X", "ts": ts, "dur": dur, "pid": 5, "tid": tid,
            "args": args}


def kernel(name, ts, dur, **args):
    return event(name, "kernel", ts, dur, QUEUE, **args)


def report(lines, *arguments, code=0, lead="[\n"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "timeline.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(lead + "".join((l if isinstance(l, str) else json.dumps(l)) + ",\n"
                                      for l in lines) + "    \n")
        svg = os.path.join(folder, "out.svg")
        run = subprocess.run([sys.argv[1], path, *[a.replace("SVG", svg) for a in arguments]],
                             capture_output=True, text=True, check=False)
        assert code is None or run.returncode == code, (run.returncode, run.stderr)
        chart = open(svg, encoding="utf-8").read() if os.path.exists(svg) else None
    return run, chart


def row(run, name):
    line = next(l for l in run.stdout.splitlines() if l.startswith(name + " "))
    return re.split(r"\s{2,}", line.strip())


# 98 calls of 1 us and two of 50 us: the median is 1, the 99th percentile is 50.
times = [1] * 98 + [50] * 2
slow = [kernel("slow", 1000 * i, t, waited_ns=500, warp_instructions=1000, global_bytes=64)
        for i, t in enumerate(times)]
quick = [kernel("quick<&>", 5000, 3), kernel("quick<&>", 5010, 5, warp_instructions=7)]
api = [event("clFinish", "api", 100, 40, point=1), event("wait for the GPU", "wait", 101, 38),
       event("copy", "copy", 200, 2500, bytes=123456)]
names = [{"ph": "M", "name": "process_name", "pid": 5, "tid": 5, "args": {"name": "program"}},
         {"ph": "M", "name": "thread_name", "pid": 5, "tid": QUEUE, "args": {"name": "GPU, queue 0"}}]

run, _ = report(names + slow + quick + api)
assert row(run, "slow") == ["slow", "100", "198.000 us", "1.000 us", "50.000 us", "50.000 us",
                            "100.0 k", "6400"], run.stdout
assert row(run, "quick<&>")[1:5] == ["2", "8.000 us", "4.000 us", "5.000 us"]
assert row(run, "quick<&>")[6:] == ["-", "-"], "a counter that some lack is not summed up"
assert run.stdout.index("slow") < run.stdout.index("quick"), "the longest first"
assert row(run, "copy: copy") == ["copy: copy", "1", "2.500 ms", "2.500 ms", "2.500 ms", "123.5 k"]
assert row(run, "wait: wait for the GPU")[1:3] == ["1", "38.000 us"]

# An event inside another one is drawn below it. Events narrower than a pixel are merged.
_, chart = report(names + quick + api, "--svg", "SVG", "--to", "0.05")
_, crowded = report([kernel("k", i / 2, 0.1) for i in range(1000)] + [kernel("k", 1e6, 1)],
                    "--svg", "SVG")
assert 2 <= len(re.findall("<title>k", crowded)) < 10
document = xml.dom.minidom.parseString(chart)
titles = [t.firstChild.data for t in document.getElementsByTagName("title")]
assert titles == ["clFinish, 40.000 us\npoint: 1", "wait for the GPU, 38.000 us"], titles
heights = {t: r.getAttribute("y") for r in document.getElementsByTagName("rect")
           for t in [r.firstChild and r.firstChild.firstChild.data.split(",")[0]] if t}
assert int(heights["wait for the GPU"]) > int(heights["clFinish"]), "an event within another is below it"
_, chart = report(names + quick, "--svg", "SVG")
document = xml.dom.minidom.parseString(chart)
texts = [t.firstChild.data for t in document.getElementsByTagName("text")]
assert "quick<&>" in texts and "GPU, queue 0" in texts, texts

# Selects a part of the timeline.
run, _ = report(names + slow, "--from", "97.5")
assert row(run, "slow")[1] == "2"
run, _ = report(names + slow, "--to", "9.5")
assert row(run, "slow")[1] == "10"
run, _ = report(names + slow, "--from", "500", code=1)
assert "no events there" in run.stderr

# Files of a killed program, without "]" at the end, without events, and with other text.
run, _ = report([slow[0], '{"name": "torn", "ph": "X", "ts"', "\0\0\0", slow[1]])
assert row(run, "slow")[1] == "2" and "1 lines are damaged" in run.stderr
run, _ = report([api[0]])
assert "No kernel ran." in run.stdout
run, _ = report([], code=1)
assert "has no events" in run.stderr
run, _ = report(["text"], code=1, lead="some ")
assert "is no timeline" in run.stderr

# Input that tegracl does not write must not cause a traceback, print control characters, or
# exhaust memory.
bad = ["[" * 100000, "[]", "3", "null", '"text"', "{}", '{"ph": "X"}', '{"ph": {}}'] + [
    json.dumps(dict(slow[0], **change)) for change in (
        {"ts": float("nan")}, {"dur": float("inf")}, {"dur": -1}, {"ts": "0"}, {"ts": 1e300},
        {"pid": []}, {"tid": {}}, {"name": 3}, {"cat": None}, {"args": 3}, {"args": {"a": []}},
        {"ts": None}, {"args": {"waited_ns": {}}}, {"ph": "M", "args": 3},
        {"ph": "M", "args": {"name": 3}})]
run, chart = report([slow[0], *bad, slow[1]], "--svg", "SVG")
assert row(run, "slow")[1] == "2" and "%d lines are damaged" % len(bad) in run.stderr, run.stderr
for line in bad:
    run, _ = report([line], code=None, lead="")
    assert "Traceback" not in run.stderr and run.returncode in (0, 1), run.stderr
strange = dict(slow[0], name="a\x1b[31m\x9b31m\u202e\ud800\x07\n", args={"waited_ns": "text",
               "global_bytes": "\x1b[2J"})
run, chart = report([strange], "--svg", "SVG")
assert "a?[31m?31m????" in run.stdout and all(c.isprintable() or c == "\n" for c in run.stdout)
xml.dom.minidom.parseString(chart)
for path in ("/nowhere/a\x1b[31m", "/dev/full"):
    run, _ = report(slow, "--svg", path, code=1)
    assert "cannot be written: " in run.stderr and "\x1b" not in run.stderr, run.stderr
run = subprocess.run([sys.argv[1], "/nowhere/\x1b[31m"], capture_output=True, text=True)
assert run.returncode == 1 and run.stderr == (
    "tegracl-report: /nowhere/?[31m: No such file or directory\n"), run.stderr
run = subprocess.run([sys.argv[1], "/dev/zero"], capture_output=True, text=True,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
assert run.returncode == 1 and "is no timeline" in run.stderr, run.stderr

fault = dict(event("GPU fault", "fault", 5, 0, message="kernel k wrote to 0x0"), ph="i")
run, _ = report([api[0], fault])
assert "GPU fault: kernel k wrote to 0x0" in run.stdout
