#!/usr/bin/env python3
"""Checks that extensions use the hardware's instructions: instructions_test.py TEGRACLC FILE

The comment before each kernel in FILE lists the operations that the kernel's machine code must
contain, with A|B for alternatives, and after "no" the operations that it must not contain."""
import re
import subprocess
import sys

TEGRACLC, FILE = sys.argv[1:3]
KERNEL = re.compile(r'^// ([A-Z0-9.| no]+)\nkernel void (\w+)', re.M)
INSTRUCTION = re.compile(r'^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)', re.M)

done = subprocess.run([TEGRACLC, '--emit', 'sass', '-cl-std=CL3.0', FILE], capture_output=True,
                      timeout=120, text=True)
if done.returncode:
    sys.exit(done.stderr)
code = {}
for section in done.stdout.split('//-----')[1:]:
    name = re.search(r'\.text\.(\w+)', section)
    if name:
        code[name.group(1)] = set(INSTRUCTION.findall(section))

failures = 0
kernels = KERNEL.findall(open(FILE, encoding='utf-8').read())
for wanted, name in kernels:
    present, _, absent = wanted.partition('no ')
    found = code.get(name, set())

    def has(operation):
        return any((f + '.').startswith(o + '.') for o in operation.split('|') for f in found)
    good = found and all(map(has, present.split())) and not any(map(has, absent.split()))
    failures += not good
    print('ok  ' if good else 'FAIL', name, wanted, '' if good else sorted(found))
sys.exit(1 if failures or len(kernels) != len(code) else 0)
