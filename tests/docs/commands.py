#!/usr/bin/python3
"""commands.py TOP BUILD [--update] [PAGE...]: runs the commands of the pages.

A block ```console of a page holds commands after "$ ", and what they print. All of a page
run in one shell, in an empty folder that looks like the top of the repository with the
driver built in `build`. What they print must be what the page shows, except for numbers, and
a line "..." stands for any lines; the exit status must be 0. --update writes what they
print into the pages. Commands that cannot run here are in ```sh blocks, after a comment
<!-- not run: why -->. Indented blocks hold no commands."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NOT_RUN = re.compile(r"<!-- not run: \S.*-->\s*$")
COMMAND = re.compile(r"    (\$ |[A-Z_]+=\S+ |(build|tests|tools|conformance|docs)/\S+)")
SHOWN = ("base", "build", "compiler", "conformance", "docs", "emulator", "gpu", "icd", "runtime", "tests",
         "tools")


def blocks(text):
    """Returns (kind, number of the first line, lines, the text before) for each fenced block."""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        if lines[i].startswith("```"):
            end = next((k for k in range(i + 1, len(lines)) if lines[k] == "```"), None)
            if end is None:
                raise ValueError("line %d: the block has no end" % (i + 1))
            yield lines[i][3:].strip(), i + 1, lines[i + 1:end], "\n".join(lines[:i])
            i = end
        i += 1


def commands_of(lines):
    """Returns [command, [expected lines]] for each command of a console block."""
    commands = []
    for line in lines:
        if line.startswith("$ "):
            commands.append([line[2:], []])
        elif not commands:
            raise ValueError("output without a command: " + line)
        else:
            commands[-1][1].append(line)
    return commands


def normal(line):
    """Removes what differs between runs or releases of NVRTC: numbers, units of times, and the
    instruction in a report of check mode."""
    line = re.sub(r"(program source: ).*(: work-item)", r"\1INSTRUCTION\2", line)
    line = re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?", "0", line)
    return re.sub(r"\s+", " ", re.sub(r"\b0 (us|ms|s|k|M|G)\b", "0", line)).strip()


def agrees(expected, printed):
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(agrees(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and normal(expected[0]) == normal(printed[0]) and agrees(expected[1:],
                                                                                 printed[1:])


class Shell:
    """Runs all commands of a page in one bash."""

    def __init__(self, folder):
        # The system's Python has PyOpenCL. There is no cache, as in a user's first run.
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TEGRACL_DEBUG", "OCL_"))}
        env.update(PATH="/usr/bin:" + os.environ["PATH"], PYOPENCL_NO_CACHE="1")
        self.bash = subprocess.Popen(["bash"], cwd=folder, env=env, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, command):
        self.bash.stdin.write("{ %s\n} </dev/null\necho \"<<end $?>>\"\n" % command)
        self.bash.stdin.flush()
        lines = []
        for line in self.bash.stdout:
            end = re.search(r"<<end (\d+)>>$", line.rstrip("\n"))
            if end:
                rest = line[:end.start()]
                return lines + ([rest] if rest else []), int(end.group(1))
            lines.append(line.rstrip("\n"))
        return lines, -1

    def close(self):
        self.bash.stdin.close()
        self.bash.wait()


def check_page(path, folder, update):
    """Sentences about what is wrong; how many commands ran and how many did not."""
    wrong, run, left = [], 0, 0
    text = path.read_text(encoding="utf-8")
    new = text.split("\n")
    shift = 0
    shell = Shell(folder)
    for kind, first, lines, before in blocks(text):
        if kind == "sh":
            left += 1
            if not NOT_RUN.search(before):
                wrong.append("%s:%d: no <!-- not run: why --> before it" % (path, first))
        if kind != "console":
            continue
        printed_block = []
        for command, expected in commands_of(lines):
            printed, status = shell.run(command)
            printed = [line.rstrip() for line in printed]
            run += 1
            printed_block += ["$ " + command] + printed
            if status:
                wrong.append("%s:%d: exit status %d of: %s\n  %s"
                             % (path, first, status, command, "\n  ".join(printed)))
            elif not update and not agrees(expected, printed):
                wrong.append("%s:%d: %s\n prints\n  %s\n not\n  %s" % (
                    path, first, command, "\n  ".join(printed), "\n  ".join(expected)))
            elif update and agrees(expected, printed):
                printed_block[len(printed_block) - len(printed):] = expected
        new[first + shift:first + shift + len(lines)] = printed_block
        shift += len(printed_block) - len(lines)
    shell.close()
    if update:
        path.write_text("\n".join(new), encoding="utf-8")
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.startswith("```")
        if not fenced and COMMAND.match(line):
            wrong.append("%s:%d: a command in an indented block" % (path, number))
    return wrong, run, left


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    update = "--update" in sys.argv
    top, build = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1]).resolve()
    pages = [pathlib.Path(p) for p in arguments[2:]] or [
        top / "README.md", *sorted((top / "docs").rglob("*.md"))]
    failed = False
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            for name in SHOWN:
                os.symlink(build if name == "build" else top / name, os.path.join(folder, name))
            wrong, run, left = check_page(page, folder, update)
        print("%s: %d commands run, %d blocks not run" % (page.name, run, left))
        for sentence in wrong:
            print(sentence)
        failed = failed or bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
