#!/usr/bin/env python3
"""isagen.py must reject each table of isa_refuse/ with the error in the table's first
line, and accept the real table."""
import os
import subprocess
import sys


def run(isagen, table):
    return subprocess.run([sys.executable, isagen, table, 'check'], capture_output=True, text=True)


def main():
    isagen, real, folder = sys.argv[1:4]
    failed = 0
    accepted = run(isagen, real)
    if accepted.returncode:
        print('refused the real table: %s' % accepted.stderr)
        failed += 1
    names = sorted(n for n in os.listdir(folder) if n.endswith('.isa'))
    for name in names:
        path = os.path.join(folder, name)
        with open(path) as f:
            reason = f.readline().split('refused: ', 1)[1].strip()
        result = run(isagen, path)
        if result.returncode != 1 or reason not in result.stderr:
            print('%s: wanted "%s", got %d: %s' % (name, reason, result.returncode, result.stderr))
            failed += 1
    print('%d tables refused, %d failures' % (len(names), failed))
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main())
