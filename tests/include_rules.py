#!/usr/bin/env python3
"""Checks that every room includes only what docs/architecture.md allows it.

Usage: include_rules.py TOP. Prints each offending line; exit status 1 if any.
A test of the test: include_rules.py --self-test.
"""
import pathlib
import re
import sys

# Room (longest path prefix wins): what a quoted include may begin with. Angle
# includes are system headers; those with a prefix in FOREIGN belong to rooms.
ALLOWED = {
    "base": ["base/"],
    "icd": ["icd/", "base/", "runtime/runtime.h", "runtime/timeline.h", "compiler/compiler.h", "compiler/extensions.h",
            "compiler/kernel_code.h"],
    "compiler": ["compiler/", "base/"],
    "runtime": ["runtime/", "base/", "compiler/kernel_code.h"],
    "runtime/hw": ["runtime/hw/"],
    "runtime/nvgpu": ["runtime/nvgpu/", "runtime/hw/"],
    "runtime/emulator": ["runtime/emulator/", "base/", "runtime/hw/", "runtime/nvgpu/"],
    "runtime/emulator/sm": ["runtime/emulator/sm/"],
    "tools/doctor": ["tools/doctor/", "base/", "runtime/", "compiler/compiler.h", "compiler/find.h",
                     "compiler/kernel_code.h"],
}
# Single files that may include more, and why: docs/architecture.md.
EXCEPTIONS = {"compiler/disassemble.c": ["runtime/emulator/sm/insn.h"]}
# The driver drives the emulator through struct nvgpu_os alone.
FORBIDDEN = {"runtime": ["runtime/emulator/"], "tools/doctor": ["runtime/emulator/"]}
FOREIGN = {"CL/": ["icd", "tools/doctor"], "llvm-c/": ["compiler"], "nvrtc": [], "cuda": [],
           "elf.h": ["compiler"]}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def room_of(path):
    return max((r for r in ALLOWED if path.startswith(r + "/")), key=len, default=None)


def offences(path, text):
    room = room_of(path)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, name = match.group(1) == '"', match.group(2)
        local = "/" not in name and quoted  # a generated or neighbouring header
        if name in EXCEPTIONS.get(path, []):
            continue
        allowed = not quoted or local or any(name.startswith(p) for p in ALLOWED[room])
        forbidden = any(name.startswith(p) for p in FORBIDDEN.get(room, []))
        foreign = any(name.startswith(p) and room not in rooms for p, rooms in FOREIGN.items())
        if not allowed or forbidden or foreign:
            yield f"{path}:{number}: room {room} may not include {name}"


def self_test():
    bad = {
        "icd/a.c": '#include "runtime/nvgpu/os.h"',
        "runtime/a.c": '#include "runtime/emulator/emulator.h"',
        "runtime/b.c": "#include <CL/cl.h>",
        "runtime/emulator/a.c": '#include "runtime/runtime.h"',
        "runtime/emulator/sm/a.c": '#include "runtime/nvgpu/uapi.h"',
        "compiler/a.c": '#include "icd/icd.h"',
        "compiler/b.c": '#include "runtime/emulator/sm/insn.h"',
    }
    good = {
        "icd/a.c": '#include <CL/cl.h>\n#include "runtime/runtime.h"\n#include "icd/icd.h"',
        "runtime/a.c": '#include "compiler/kernel_code.h"\n#include <stdio.h>',
        "compiler/a.c": "#include <llvm-c/Core.h>",
        "compiler/disassemble.c": '#include "runtime/emulator/sm/insn.h"',
    }
    missed = [p for p, t in bad.items() if not list(offences(p, t))]
    wrong = [o for p, t in good.items() for o in offences(p, t)]
    return [f"self-test: not found in {p}" for p in missed] + wrong


def main():
    top = pathlib.Path(sys.argv[1])
    found = self_test()
    files = 0
    for path in sorted(top.rglob("*.[ch]")):
        name = path.relative_to(top).as_posix()
        if room_of(name):
            files += 1
            found += offences(name, path.read_text())
    print("\n".join(found) or f"{files} files keep the rules")
    return 1 if found or not files else 0


sys.exit(main())
