#!/usr/bin/env python3
"""Fails if files of a directory use each other's functions or variables in a circle.

Usage: call_circles.py TOP [DIRECTORY...]    prints each circle with the names that cause it

A file uses another one in its directory if it refers to one of its functions or variables, so
the address of a function in a table counts as a call. Headers are ignored: what they declare
belongs to the file that defines it. The exit status is 1 if there is a circle. A self-test
runs first.
"""
import pathlib
import re
import sys

DIRECTORIES = ["base", "icd", "runtime"]
NOISE = re.compile(r'__attribute__\(\((?:[^()]|\([^()]*\))*\)\)|/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# clang-format puts only code outside of functions at the beginning of a line.
OUTSIDE = r"^(static |(?!static ))(?!typedef\b|extern\b|struct \w+ \{|union \w+ \{|enum\b[\w ]*\{)"
FUNCTION = re.compile(OUTSIDE + r"[A-Za-z_][^;{}=#]*?\b(\w+)\([^;{}]*\)\s*\{", re.M)
VARIABLE = re.compile(OUTSIDE + r"[A-Za-z_][\w \t*]*[ *](\w+)(?:\[[^\n\]]*\])*(?: = |;)", re.M)
NAME = re.compile(r"\b[A-Za-z_]\w*\b")


def uses(files):
    """Returns {file: {other file: names that it uses from it}}."""
    text = {name: NOISE.sub(" ", source) for name, source in files.items()}
    owner, found = {}, {name: {} for name in files}
    own = {name: FUNCTION.findall(source) + VARIABLE.findall(source) for name, source in text.items()}
    for name, symbols in own.items():
        owner.update({symbol: name for static, symbol in symbols if not static})
    for name, source in text.items():
        for symbol in set(NAME.findall(source)) - {symbol for _, symbol in own[name]}:
            if symbol in owner:
                found[name].setdefault(owner[symbol], set()).add(symbol)
    return found


def circles(found):
    """Returns the sets of files that use each other in a circle."""
    reached = {}
    for start in found:
        todo, reached[start] = list(found[start]), set()
        while todo:
            name = todo.pop()
            if name not in reached[start]:
                reached[start].add(name)
                todo += found[name]
    return sorted({tuple(sorted(o for o in reached[f] if f in reached[o]))
                   for f in found if f in reached[f]})


def describe(found, circle):
    for name in circle:
        for other in sorted(set(found[name]) & set(circle)):
            yield f"  {name} uses {', '.join(sorted(found[name][other]))} of {other}"


def self_test():
    a = "int a_count;\nint a_begin(int x,\n            int y) {\n  return b_begin();\n}\n"
    b = "static int a_begin(void) {\n  return 0;\n}\nvoid *b_begin(void) {\n  return %s;\n}\n"
    cases = [(b % "0 /* a_count */", []), (b % "a_count", [("a.c", "b.c")]), (b % "\"a_count\"", []),
             ("struct t b_table = {\n  .begin = a_begin,\n};\nvoid b_begin(void) {\n}\n", [("a.c", "b.c")])]
    return [f"self-test: {source!r}" for source, expected in cases
            if circles(uses({"a.c": a, "b.c": source, "c.c": ""})) != expected]


def main():
    top = pathlib.Path(sys.argv[1])
    wrong, count = self_test(), 0
    for directory in sys.argv[2:] or DIRECTORIES:
        files = {path.relative_to(top).as_posix(): path.read_text(encoding="utf-8")
                 for path in sorted((top / directory).rglob("*.c"))}
        if not files:
            wrong.append(f"{directory}: no files")
        count += len(files)
        found = uses(files)
        for circle in circles(found):
            wrong += [f"{directory}: {len(circle)} files use each other in a circle:"]
            wrong += describe(found, circle)
    print("\n".join(wrong) or f"no circle among {count} files")
    return 1 if wrong else 0


sys.exit(main())
