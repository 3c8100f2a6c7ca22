#!/usr/bin/env python3
"""walkthrough.py SOURCES BUILD PROGRAM RECORDER: compares the walk-through of
docs/architecture.md with the calls of a real run.

Builds the driver once more, in BUILD/walkthrough, so that each function reports its calls to
RECORDER (record_calls.c), and runs PROGRAM (walkthrough.c) with it. Then

- each list of the page is found in the calls: a function that is indented is called by the one
  above it with less indentation, directly or not, in the order of the page;
- a list that is "complete" names every function that is called from another file;
- no function calls one of a directory that its own may not include (include_rules.py), other
  than through the tables of POINTERS.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import include_rules  # noqa: E402

PAGE = "docs/architecture.md"
LIST = re.compile(r"<!-- walkthrough: (\w+)(, complete)? -->\n```\n(.*?)```\n<!-- end", re.S)
# Not recorded: these are called millions of times and call nothing else.
LEFT_OUT = "emulator/sm/exec/,gpu/hw/,gpu/isa/"
# Calls through pointers: the members of struct nvgpu_os and of struct sm_memory.
POINTERS = {"os_open", "emulator_open", "emulator_close", "emulator_ioctl", "emulator_mmap",
            "emulator_munmap", "emulator_poll", "emulator_doorbell", "emu_mmu_range"}


class Call:
    """A call, and the calls made by it. file is relative to the sources."""

    def __init__(self, function, file, caller):
        self.function, self.file, self.caller, self.calls = function, file, caller, []

    def all(self):
        yield self
        for call in self.calls:
            yield from call.all()


def build(sources, folder):
    # -gdwarf-4 because addr2line of binutils 2.40 reports wrong files with DWARF 5.
    flags = ["-gdwarf-4", "-finstrument-functions",
             f"-finstrument-functions-exclude-file-list={LEFT_OUT}"]
    options = ["-Dbuildtype=debug", "-Dtests=false", f"-Dc_args={flags}"]
    if not (folder / "build.ninja").exists():
        run(["meson", "setup", folder, sources, *options])
    run(["ninja", "-C", folder, "icd/libtegracl.so.1.0.0"])
    return folder / "icd/libtegracl.so.1.0.0"


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def record(library, sources, folder, program, recorder):
    """Returns the calls of each thread as trees."""
    vendors, calls = folder / "vendors", folder / "calls"
    vendors.mkdir(exist_ok=True)
    (vendors / "tegracl.icd").write_text(f"{library}\n", encoding="utf-8")
    run([program], env={**os.environ, "OCL_ICD_VENDORS": str(vendors), "LD_PRELOAD": str(recorder),
                        "CALLS_RECORDED": str(calls)})
    lines = [line.split() for line in calls.read_text(encoding="ascii").splitlines()]
    names = symbols(library, sources, folder, sorted({address for _, _, address in lines}))
    roots, current = [], {}
    for thread, kind, address in lines:
        caller = current.get(thread)
        if kind == "<":
            current[thread] = caller.caller if caller else None
            continue
        call = Call(*names[address], caller)
        (caller.calls if caller else roots).append(call)
        current[thread] = call
    return roots


def symbols(library, sources, folder, addresses):
    """Returns name and file of each function."""
    def relative(line):
        path = Path(os.path.normpath(line.rsplit(":", 1)[0]))
        for top in (folder, sources):
            if path.is_relative_to(top):
                return path.relative_to(top).as_posix()
        return ""

    lines = run(["addr2line", "-f", "-e", library, *addresses]).splitlines()
    return dict(zip(addresses, zip(lines[::2], map(relative, lines[1::2]))))


def entries(text):
    """Returns (indentation, name) of each line of a list."""
    return [(len(line) - len(line.lstrip()), line.split()[0]) for line in text.splitlines()]


def find(call, page, at):
    """Returns how many entries of the page, starting at at, match the call's tree; page[at] is
    the call."""
    depth, found = page[at][0], at + 1
    position = iter(sub for child in call.calls for sub in child.all())
    while found < len(page) and page[found][0] > depth:
        wanted, best = page[found], found
        for sub in position:
            if sub.function == wanted[1]:
                best = max(best, find(sub, page, found))
                if best >= len(page) or page[best][0] <= wanted[0]:
                    break
        if best == found:
            return found
        found = best
    return found


def compare(roots, name, page):
    """Describes what is wrong with a list."""
    calls = [call for root in roots for call in root.all() if call.function == name]
    if not calls:
        return f"{name} was not called"
    found = max(find(call, page, 0) for call in calls)
    return "" if found == len(page) else f"{page[found][1]} was not called there"


def missing(roots, name, page):
    """Returns the functions that a complete list lacks."""
    named = {function for _, function in page}
    call = next(call for root in roots for call in root.all() if call.function == name)
    return sorted({f"{sub.function} ({sub.file})" for child in call.calls for sub in child.all()
                   if sub.file.endswith(".c") and not sub.file.startswith("base/")
                   and sub.function not in named and sub.file != sub.caller.file})


def upward(roots):
    """Returns calls of functions in directories that the caller's directory must not include."""
    found = set()
    for root in roots:
        for call in root.all():
            owner = include_rules.directory_of(call.file)
            user = include_rules.directory_of(call.caller.file) if call.caller else owner
            if owner and user and not include_rules.may_call(user, owner) \
                    and call.function not in POINTERS:
                found.add(f"{call.caller.file}: {call.caller.function} calls {call.function} "
                          f"({call.file}), and {user} may not include {owner}")
    return sorted(found)


def main():
    sources, folder, program, recorder = (Path(word).resolve() for word in sys.argv[1:])
    folder /= "walkthrough"
    roots = record(build(sources, folder), sources, folder, program, recorder)
    faults = []
    lists = LIST.findall((sources / PAGE).read_text(encoding="utf-8"))
    if not lists:
        sys.exit(f"{PAGE} has no walk-through")
    for name, complete, text in lists:
        page = entries(text)
        wrong = compare(roots, name, page)
        if wrong:
            faults.append(f"{PAGE}, {name}: {wrong}")
        elif complete:
            faults += [f"{PAGE}, {name}: lacks {function}"
                       for function in missing(roots, name, page)]
    faults += upward(roots)
    print("\n".join(faults) or f"{len(lists)} lists agree with the calls")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
