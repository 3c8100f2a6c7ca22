#!/usr/bin/env python3
"""Plants each fault of the texture units and runs a program that reads and writes images.

    texture_faults.py PROGRAM

With the self-check (TEGRACL_IMAGES=checked) every result must be right, and what the fault breaks must be
done by software. Without it (hardware) the results must be wrong: the program sees the fault. While
another kernel runs the self-check must wait.
"""
import os
import re
import subprocess
import sys

# {fault: what the self-check says that software does}
FOUND = {
    'swizzle': 'reads of 24 of 75 formats', 'srgb': 'reads of 2 of 75 formats',
    'format': 'reads of 6 of 75 formats', 'border': 'samplers', 'address-mode': 'samplers',
    'normalized': 'samplers', 'sampler-index': 'samplers', 'half-texel': 'linear filters',
    'weights': 'linear filters', 'filter-bytes': 'linear filters of', 'pitch': 'rows', 'width': 'rows',
    'height': 'rows', 'level': 'rows', 'constant-form': 'rows, samplers, buffers',
    'uniform-form': 'rows, samplers, buffers',
    'buffer': 'buffers', 'layer': 'layers', 'store': 'typed stores of 21 of 75 formats',
    'store-order': 'typed stores of 4 of 75 formats', 'store-constant': 'typed stores of 45 of 75 formats',
    'store-register': 'typed stores of 45 of 75 formats', 'store-lost': 'typed stores', 'lost': 'rows',
    'stale-header': 'caches', 'stale-sampler': 'caches', 'stale-data': 'caches',
}
# The program's kernels have no handles in constant banks, and the driver changes no sampler.
UNSEEN = {'constant-form', 'stale-sampler'}


def run(program, fault, images, *arguments):
    emulator = ','.join(filter(None, [f'fault:texture-{fault}' if fault else '', *arguments[1:]]))
    environment = dict(os.environ, TEGRACL_IMAGES=images, TEGRACL_DEBUG='choices', TEGRACL_EMULATOR=emulator)
    done = subprocess.run([program, *arguments[:1]], env=environment, capture_output=True, text=True,
                          check=False, timeout=300)
    said = re.findall(r'self-check of the texture units: (?:(undecided: .*)|all right|software does these: (.*)) \(',
                      done.stderr)
    return done, said


def check(program, fault):
    """Whether the self-check finds the fault, and the program's results are right."""
    for _ in range(3):  # a busy machine may leave it undecided
        done, said = run(program, fault, 'checked')
        if done.returncode:
            break
        if said and not said[-1][0]:
            break
    found = 'undecided' if not said or said[-1][0] else said[-1][1]
    right = done.returncode == 0 and (FOUND[fault] in found if fault else not found)
    print(f'{"right" if right else "WRONG"} | {fault or "none"} | {found}', flush=True)
    if not right:
        print(done.stdout[:2000], done.stderr[-2000:])
    if fault in UNSEEN:
        return right
    done, _ = run(program, fault, 'hardware')
    if (done.returncode == 0) == bool(fault):
        print(f'WRONG | {fault or "none"} | without self-check the program exits with {done.returncode}')
        right = False
    return right


def check_busy(program):
    """The self-check waits while a kernel runs, whose context would not survive a switch of 200 ms."""
    done, said = run(program, None, 'checked', 'busy', 'ctxsw:200')
    right = done.returncode == 0 and bool(said) and 'the GPU is busy' in said[0][0]
    print(f'{"right" if right else "WRONG"} | busy | {said}')
    if not right:
        print(done.stdout[:2000], done.stderr[-2000:])
    return right


def main(program):
    good = check(program, None)
    for fault in FOUND:
        good &= check(program, fault)
    good &= check_busy(program)
    sys.exit(0 if good else 1)


main(sys.argv[1])
