#!/usr/bin/env python3
"""test_names.py TOP BUILD: checks that the tests that pages mention exist.

A mention is a name in backticks in a table column "test" or "tests", or before the path of the test's
source, as in `signals and driver threads` (`tests/end_to_end/processes/signals.c`). The first words
of several names stand for all of them (`compiler limit`)."""
import json
import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"`([^`]+)`")
BEFORE_PATH = re.compile(r"`([^`]+)`\s+\(`tests/")


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def named(text):
    """Returns (line, name) of each test that a page mentions."""
    for match in BEFORE_PATH.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1]
    columns = None  # of the table at hand
    for number, line in enumerate(text.split("\n"), 1):
        row = cells(line) if line.startswith("|") else None
        if row and columns:
            for i in columns:
                yield from ((number, name) for name in NAME.findall(row[i] if i < len(row) else ""))
        elif row is None:
            columns = None
        elif columns is None:
            columns = [i for i, cell in enumerate(row) if cell in ("test", "tests")]


def main():
    top, build = pathlib.Path(sys.argv[1]), sys.argv[2]
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True,
                                      capture_output=True, text=True).stdout)
    known = [test["name"] for test in tests]
    count, wrong = 0, []
    for page in sorted([*top.glob("*.md"), *(top / "docs").rglob("*.md")]):
        for number, name in named(page.read_text(encoding="utf-8")):
            count += 1
            if not any((test + " ").startswith(name + " ") for test in known):
                wrong.append(f'{page.relative_to(top)}:{number}: there is no test "{name}"')
    print("\n".join(wrong) or f"{count} names of tests")
    return bool(wrong) or not count


if __name__ == "__main__":
    sys.exit(main())
