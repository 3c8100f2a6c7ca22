#!/usr/bin/python3
"""calls.py CALLS TEGRACL.icd [POCL.icd]: prints a table with the instructions (callgrind) and the
CPU time of the calling thread for single OpenCL calls, the speed of transfers, and the times of
builds and first use, and the ratio of the second driver's times to the first's. CALLS is the
program calls of this folder."""
import os
import re
import subprocess
import sys

COUNT = 400


def platform_of(icd):
    return "tegracl" if "tegracl" in os.path.basename(icd) else "Portable"


def run(icd, *command):
    env = dict(os.environ, OCL_ICD_VENDORS=icd)
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True)


def instructions(calls, icd, case):
    text = run(icd, "valgrind", "--tool=callgrind", "--toggle-collect=repeat",
               "--callgrind-out-file=/dev/null", calls, "-p", platform_of(icd), "-n", str(COUNT),
               case).stderr
    return int(re.search(r"Collected : (\d+)", text).group(1)) / COUNT


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    calls, icds = sys.argv[1], sys.argv[2:]
    times = [dict(line.rsplit(": ", 1) for line in
                  run(icd, calls, "-p", platform_of(icd)).stdout.splitlines()) for icd in icds]
    heads = [f"{platform_of(icd)}: instructions, ns" for icd in icds] + ["ratio"] * (len(icds) > 1)
    print("| call | " + " | ".join(heads) + " |")
    print("| --- |" + " --- |" * len(heads))
    whole = ("first use", "build, cold", "build, cached")
    for case in times[0]:
        if case == "nothing":
            continue
        columns = []
        for icd, ns in zip(icds, times):
            if case not in ns:
                columns.append("-")
            elif case in whole:
                columns.append(f"{float(ns[case]) / 1e6:.1f} ms")
            elif case.endswith("speed"):
                columns.append(ns[case])
            else:
                own = instructions(calls, icd, case) - instructions(calls, icd, "nothing")
                columns.append(f"{own:.0f}, {ns[case]}")
        if len(icds) > 1:
            both = all(case in ns for ns in times) and not case.endswith("speed")
            columns.append(f"{float(times[1][case]) / float(times[0][case]):.1f}" if both else "")
        print(f"| {case} | " + " | ".join(columns) + " |", flush=True)


if __name__ == "__main__":
    main()
