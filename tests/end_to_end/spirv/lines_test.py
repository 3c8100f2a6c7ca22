#!/usr/bin/env python3
"""Checks the source lines in reports about programs from SPIR-V. With debug information they are
those of the source. Without it, or if it is damaged, there are no lines and no file names.

Usage: lines_test.py TEGRACLC SPIRV DEBUG PLAIN FOLDER
DEBUG and PLAIN are modules of spirv_lines.cl with and without debug information. SPIRV is the test
program, whose case "beyond" runs a kernel that faults.
"""
import os
import struct
import subprocess
import sys

TEGRACLC, SPIRV, DEBUG, PLAIN, FOLDER = sys.argv[1:6]
SOURCE = 'spirv_lines.cl'
HEADER_WORDS, OP_EXT_INST_IMPORT, OP_EXT_INST = 5, 11, 12
DEBUG_SOURCE, DEBUG_FUNCTION, DEBUG_SCOPE = 35, 20, 23


def fail(why, text):
    sys.exit(f'{why}\n{text}')


def machine_code(module):
    done = subprocess.run([TEGRACLC, '--emit', 'sass', module], capture_output=True, text=True)
    if done.returncode:
        fail(f'{module} is not built', done.stderr)
    return done.stdout, done.stderr


def report(module):
    done = subprocess.run([SPIRV, 'beyond', module], capture_output=True, text=True,
                          env=dict(os.environ, TEGRACL_EMULATOR='check'))
    if done.returncode or 'kernel beyond +' not in done.stderr:
        fail(f'{module}: no report', done.stderr)
    return done.stderr


def check_plain(module):
    for text in (machine_code(module)[0], report(module)):
        for word in ('line ', SOURCE, 'kernels.cu', os.getcwd()):
            if word in text:
                fail(f'{module}: "{word}" in', text)


def instructions(words):
    at = HEADER_WORDS
    while at < len(words):
        yield at, words[at] & 0xffff
        at += words[at] >> 16


def write_damaged(number):
    """Writes a copy of DEBUG whose first OpenCL.DebugInfo.100 instruction `number` has the invalid
    number 99. Returns its path."""
    with open(DEBUG, 'rb') as file:
        data = file.read()
    words = list(struct.unpack(f'<{len(data) // 4}I', data))
    sets = [words[at + 1] for at, opcode in instructions(words) if opcode == OP_EXT_INST_IMPORT
            and struct.pack('<5I', *words[at + 2:at + 7]) == b'OpenCL.DebugInfo.100']
    places = [at for at, opcode in instructions(words) if opcode == OP_EXT_INST
              and words[at + 3] in sets and words[at + 4] == number]
    words[places[0] + 4] = 99
    path = os.path.join(FOLDER, f'damaged-{number}.spv')
    with open(path, 'wb') as file:
        file.write(struct.pack(f'<{len(words)}I', *words))
    return path


code = machine_code(DEBUG)[0]
for line in (3, 8):
    if f'line {line} of ' not in code:
        fail(f'line {line} is not in', code)
text = report(DEBUG)
if 'line 8 of ' not in text or SOURCE not in text:
    fail('line 8 is not in', text)
check_plain(PLAIN)
for number in (DEBUG_SOURCE, DEBUG_FUNCTION, DEBUG_SCOPE):
    module = write_damaged(number)
    if "cannot translate the module's debug information" not in machine_code(module)[1]:
        fail('no warning of', module)
    check_plain(module)
