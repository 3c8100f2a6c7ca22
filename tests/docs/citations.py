#!/usr/bin/env python3
"""citations.py TOP: checks that every page and table that a comment or a page cites by its path exists,
and so do the cited sections and traps of pages in docs/hardware/.

A citation is a path and, after a space or a comma, numbers of sections ("4.3", "2.1, 3.1",
"1 to 4") or of rows of its table of traps ("trap 43", "traps T11, T12"). Among the pages of
docs/hardware/ the name of the file is enough.
"""
import pathlib
import re
import sys

FOLDERS = ("base", "compiler", "emulator", "gpu", "icd", "runtime", "tools", "tests", "docs",
           "conformance")
KINDS = {".c", ".h", ".py", ".csv", ".isa", ".cuh", ".cl", ".md", ".build", ".1", ".7"}
COMMENT_LINE = re.compile(r"\n[ \t]*(?:\*|//|#)?[ \t]*")
PAGE = re.compile(r"(?<![\w/.-])((?:\.\./)*(?:%s)/[\w./-]+\.(?:md|csv|isa))\b" % "|".join(FOLDERS))
NUMBER = r"T?\d+(?:\.\d+)*(?![\w-])"
CITED = re.compile(r"(?:docs/)?(?:hardware/)?(?<![\w-])([a-z][a-z0-9-]*\.md),? "
                   r"(?:\(?(sections?|traps?) )?"
                   r"(%s(?:(?:, | and | to |, and )%s)*)" % (NUMBER, NUMBER))
HEADING = re.compile(r"^#+ (\d+(?:\.\d+)*)\.? ", re.M)
ROW = re.compile(r"^\| (T?\d+(?:, T?\d+)*) \|", re.M)


def places(page):
    """The numbers of a page's sections, and of the rows of its tables of traps."""
    text = page.read_text(encoding="utf-8")
    traps = re.search(r"^## \d+\. Traps.*?(?=^## |\Z)", text, re.M | re.S)
    rows = ROW.findall(traps.group()) if traps else []
    return set(HEADING.findall(text)), {name for row in rows for name in row.split(", ")}


def main():
    top = pathlib.Path(sys.argv[1])
    known = {page.name: places(page) for page in (top / "docs/hardware").glob("*.md")}
    cited, wrong = 0, []
    for path in sorted(p for folder in FOLDERS for p in (top / folder).rglob("*")
                       if p.suffix in KINDS and p.name != "renamed-paths.csv"):
        text = COMMENT_LINE.sub(" ", path.read_text(encoding="utf-8"))
        for page in PAGE.findall(text):
            if not any((start / page).exists() for start in (top, path.parent)):
                wrong.append("%s: there is no %s" % (path.relative_to(top), page))
        for sheet, kind, numbers in CITED.findall(text):
            if sheet not in known:
                continue
            sections, traps = known[sheet]
            for number in re.findall(NUMBER, numbers):
                cited += 1
                is_trap = number.startswith("T") or kind.startswith("trap")
                if number not in (traps if is_trap else sections):
                    wrong.append("%s: docs/hardware/%s has no %s %s" % (
                        path.relative_to(top), sheet, "trap" if is_trap else "section", number))
    print("\n".join(wrong) or "%d citations of %d pages" % (cited, len(known)))
    return bool(wrong) or not cited


if __name__ == "__main__":
    sys.exit(main())
