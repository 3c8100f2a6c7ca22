#!/usr/bin/env python3
"""Fails if the interpreter's core calls a function that may have instructions of SSE.

Usage: core_calls.py NM CORE.a CALLED.a

Handlers leave the upper halves of the host's vector registers as they are, and on Intel's
processors an instruction of SSE then costs some 200 cycles. So they call functions of files that
are compiled without vectors (CALLED.a), and those of the table below.
"""
import subprocess
import sys

OTHERS = {
    "memcpy": "libraries choose one that clears them or has no SSE",
    "memset": "as memcpy",
    "sm_raise": "once, at a fault",
    "__stack_chk_fail": "once, if the compiler adds it",
    "sm_texture": "after sm_clear_upper_halves",
    "sm_surface": "after sm_clear_upper_halves",
    "sm_watch_step": "after sm_clear_upper_halves",
    "tanhf": "after sm_clear_upper_halves",
}


def symbols(nm, archive, *options):
    lines = subprocess.run([nm, *options, archive], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in lines.splitlines() if len(line.split()) > 1}


def main(nm, core, called):
    needed = symbols(nm, core, "--undefined-only") - symbols(nm, core, "--defined-only")
    without_vectors = symbols(nm, called, "--defined-only")
    if "sm_find" not in needed & without_vectors:
        sys.exit(f"{core} does not call sm_find of {called}: these are not the archives that the test is for")
    wrong = sorted(needed - without_vectors - set(OTHERS))
    for name in wrong:
        print(f"{name}: add its file to sm_called_sources (emulator/sm/meson.build), or call "
              "sm_clear_upper_halves before it and add it to OTHERS of this test", file=sys.stderr)
    sys.exit(bool(wrong))


main(*sys.argv[1:])
