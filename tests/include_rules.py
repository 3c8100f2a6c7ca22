#!/usr/bin/env python3
"""Checks which headers of other directories each directory includes.

Usage: include_rules.py TOP            prints each include that OFFERS does not allow, and an error
                                       if the picture in docs/architecture.md is not current
       include_rules.py TOP --update   writes the picture
The exit status is 1 if anything is wrong. A self-test runs first.
"""
import pathlib
import re
import sys

SOURCES = ["base", "gpu", "emulator", "runtime", "compiler", "icd", "tools"]
ALL = "*"
# {directory: {user: headers that it may include}}. The files of a directory, including folders
# that are not listed, may include all of its headers.
OFFERS = {
    "base": {ALL: ALL},
    "gpu/hw": {"gpu/nvgpu": "host.h", "emulator/texture": "block_linear.h texture.h", "emulator": ALL, "runtime": ALL, "tools/doctor": ALL},
    "gpu/isa": {"emulator/sm": "insn.h", "compiler": "insn.h"},
    "gpu/cubin": {"compiler": "cubin.h cubin_format.h cubin_strip.h kernel_code.h",
                  "runtime": "kernel_code.h", "icd": "kernel_code.h", "tools/doctor": "kernel_code.h"},
    "gpu/nvgpu": {"emulator": "emulator_node.h os.h release.h tables.h uapi.h",
                  "runtime": "emulator_node.h os.h release.h tables.h uapi.h",
                  "tools/doctor": "tables.h uapi.h"},
    "emulator/texture": {"emulator": "texture.h", "emulator/sm": "texture.h"},
    "emulator/sm": {"emulator": "sm.h"},
    "emulator": {"emulator/preload": "descriptors.h emulator.h"},
    "emulator/preload": {},
    "runtime": {"icd": "runtime.h image_formats.h debug/timeline.h",
                "tools/doctor": "context/context.h context/module.h context/texture_check.h debug/debug.h debug/trace.h "
                                "device/board_file.h device/device.h device/fds.h queue/queue.h"},
    "compiler": {"icd": "compiler.h extensions.h", "tools/doctor": "compiler.h find.h"},
    "icd": {},
    "tools/doctor": {},
}
# {prefix of another project's header: directories or files that may include it}
FOREIGN = {"CL/": ["icd", "tools/doctor", "compiler/prebuild.c"], "llvm-c/": ["compiler"], "nvrtc": [], "cuda": [],
           "elf.h": ["compiler", "gpu/cubin"]}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
PAGE = "docs/architecture.md"
BEGIN, END = "<!-- directories: tests/include_rules.py -->\n", "<!-- end of directories -->\n"


def directory_of(path):
    return max((d for d in OFFERS if path.startswith(d + "/")), key=len, default=None)


def allowed(user, header):
    """Returns whether files of user may include the header."""
    owner = directory_of(header)
    if owner is None or owner == user:
        return owner is not None
    offered = OFFERS[owner].get(user, OFFERS[owner].get(ALL, ""))
    return offered == ALL or header[len(owner) + 1:] in offered.split()


def may_call(user, owner):
    """Returns whether functions of user may call those of owner by name."""
    return owner == user or user in OFFERS[owner] or ALL in OFFERS[owner]


def offences(path, text):
    user = directory_of(path)
    if user is None:
        yield f"{path}: the directory is not in OFFERS of tests/include_rules.py"
        return
    for match in INCLUDE.finditer(text):
        name = match.group(2)
        foreign = any(name.startswith(p) and user not in users and path not in users
                      for p, users in FOREIGN.items())
        if foreign or match.group(1) == '"' and not allowed(user, name):
            line = text.count("\n", 0, match.start(2)) + 1
            yield f"{path}:{line}: {user} may not include {name}"


def arrows(files):
    """Returns {directory: other directories whose headers its files include}."""
    found = {d: set() for d in OFFERS}
    for path, text in files.items():
        user = directory_of(path)
        for quote, name in INCLUDE.findall(text):
            owner = directory_of(name)
            if quote == '"' and user and owner and owner != user:
                found[user].add(owner)
    return found


def levels(found):
    """Returns {directory: level}: 0 if it includes no other, else 1 more than the highest level
    that it includes. Raises ValueError if there is a circle."""
    level = {}
    while len(level) < len(found):
        ready = [d for d in found if d not in level and all(o in level for o in found[d])]
        if not ready:
            raise ValueError("a circle among " + ", ".join(sorted(set(found) - set(level))))
        for d in ready:
            level[d] = max((level[o] + 1 for o in found[d]), default=0)
    return level


def picture(found):
    level = levels(found)
    lines = []
    for d in sorted(found, key=lambda d: (-level[d], d)):
        lines.append(f"{level[d]}  {d:16} ──> {', '.join(sorted(found[d]))}".rstrip(" ─>"))
    return "```\n" + "\n".join(lines) + "\n```\n"


def self_test():
    bad = {
        "icd/a.c": '#include "gpu/nvgpu/os.h"',
        "runtime/a.c": '#include "emulator/emulator.h"',
        "runtime/b.c": "#include <CL/cl.h>",
        "emulator/kernel/a.c": '#include "runtime/runtime.h"',
        "emulator/sm/exec/a.c": '#include "gpu/nvgpu/uapi.h"',
        "compiler/client/a.c": '#include "icd/icd.h"',
        "compiler/b.c": '#include "gpu/isa/isa_table.h"',
        "compiler/c.c": '#include "insn.h"',
        "gpu/hw/a.c": '#include "gpu/cubin/cubin.h"',
        "base/a.c": '#include "gpu/hw/memory.h"',
        "compiler/d.c": "#include <CL/cl.h>",
        "gpu/a.c": "",
    }
    good = {
        "icd/a.c": '#include <CL/cl.h>\n#include "runtime/runtime.h"\n#include "icd/icd.h"',
        "runtime/a.c": '#include "gpu/cubin/kernel_code.h"\n#include <stdio.h>',
        "compiler/prebuild.c": "#include <CL/cl.h>",
        "compiler/lower/a.c": '#include <llvm-c/Core.h>\n#include "gpu/isa/insn.h"',
        "emulator/engine/a.c": '#include "emulator/modes/adversary.h"\n#include "emulator/sm/sm.h"',
    }
    missed = [p for p, t in bad.items() if not list(offences(p, t))]
    found = [f"self-test: not found in {p}" for p in missed]
    found += [o for p, t in good.items() for o in offences(p, t)]
    try:
        levels(arrows({"runtime/a.c": '#include "icd/icd.h"', "icd/a.c": '#include "runtime/runtime.h"'}))
        found.append("self-test: a circle is not found")
    except ValueError:
        pass
    return found


def main():
    top = pathlib.Path(sys.argv[1])
    found = self_test()
    files = {}
    for source in SOURCES:
        for path in sorted((top / source).rglob("*.[ch]")):
            files[path.relative_to(top).as_posix()] = path.read_text()
    for name, text in files.items():
        found += offences(name, text)
    try:
        page = (top / PAGE).read_text(encoding="utf-8")
        begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        current = page[:begin] + picture(arrows(files)) + page[end:]
        if sys.argv[2:] == ["--update"]:
            (top / PAGE).write_text(current, encoding="utf-8")
        elif current != page:
            found.append(f"{PAGE}: the picture of the directories is not current; "
                         "tests/include_rules.py . --update writes it")
    except ValueError as error:
        found.append(str(error))
    print("\n".join(found) or f"{len(files)} files keep the rules")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
