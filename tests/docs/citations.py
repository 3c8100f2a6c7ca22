#!/usr/bin/env python3
"""citations.py TOP: every section of a fact sheet, and every trap, that the sources cite is in
the tables of docs/hardware.md, which say where the same can be read."""
import pathlib
import re
import sys

ROOMS = ("base", "compiler", "icd", "runtime", "tools", "tests", "docs")
KINDS = {".c", ".h", ".py", ".csv", ".isa", ".cuh", ".md"}
COMMENT_LINE = re.compile(r"\n\s*(\*|//|#)?\s*")
CITED = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)+\.md),?(?: sections?)? (\d+)")
TRAP = re.compile(r"\btraps? (T?\d+)")


def sections(text):
    """The numbers of "1 to 5, 9"."""
    numbers = set()
    for part in text.split(", "):
        first, _, last = part.partition(" to ")
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def main():
    top = pathlib.Path(sys.argv[1])
    page = (top / "docs/hardware.md").read_text(encoding="utf-8")
    sheets, traps = {}, set()
    for sheet, numbers in re.findall(r"^\| (\S+\.md) ([\d, to]+) \|", page, re.M):
        sheets.setdefault(sheet, set()).update(sections(numbers))
    for names in re.findall(r"^\| (T?\d+(?:, T?\d+)*) \|", page, re.M):
        traps |= set(names.split(", "))
    cited, wrong = 0, []
    for path in sorted(p for room in ROOMS for p in (top / room).rglob("*") if p.suffix in KINDS):
        text = COMMENT_LINE.sub(" ", path.read_text(encoding="utf-8"))
        found = [(int(n) in sheets.get(sheet, ()), sheet + " " + n)
                 for sheet, n in CITED.findall(text) if not (top / "docs" / sheet).exists()]
        found += [(t in traps, "trap " + t) for t in TRAP.findall(text)]
        cited += len(found)
        wrong += ["%s: docs/hardware.md has no %s" % (path.relative_to(top), name)
                  for known, name in found if not known]
    print("\n".join(wrong) or "%d citations of %d sheets and %d traps" % (cited, len(sheets),
                                                                         len(traps)))
    return bool(wrong) or not cited


if __name__ == "__main__":
    sys.exit(main())
