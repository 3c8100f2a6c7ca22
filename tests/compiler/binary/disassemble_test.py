#!/usr/bin/env python3
"""tegraclc --disassemble: disassemble_test.py TEGRACLC CL-FOLDER RECORDED

Makes a CUBIN whose code is the words in RECORDED (tests/sm/isa_corpus.txt). Its disassembly
must be equal to nvdisasm's texts, which RECORDED contains as well. If nvdisasm is available
($TEGRACL_NVDISASM, or in PATH), also compares its listings of the CUBINs of CL-FOLDER with ours,
line by line."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TEGRACLC, FOLDER, RECORDED = sys.argv[1:4]
# nvdisasm sometimes omits the blank before the semicolon, so it is removed.
INSTRUCTION = re.compile(r'^ {8}/\*([0-9a-f]{4,})\*/( +.*?) ?;$')
SHOWN = 10
failures = 0


def check(condition, sentence):
    global failures
    print('ok  ' if condition else 'FAIL', sentence)
    failures += not condition


def tegraclc(*arguments):
    done = subprocess.run([TEGRACLC, *arguments], capture_output=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode()


def with_code(cubin, code):
    """Returns a copy of the CUBIN whose only kernel has new code, appended to the file."""
    table, = struct.unpack_from('<Q', cubin, 0x28)
    count, names = struct.unpack_from('<HH', cubin, 0x3c)
    name_table, = struct.unpack_from('<Q', cubin, table + 64 * names + 24)
    changed = bytearray(cubin)
    for i in range(count):
        name, = struct.unpack_from('<I', cubin, table + 64 * i)
        if cubin[name_table + name:].startswith(b'.text.'):
            struct.pack_into('<QQ', changed, table + 64 * i + 24, len(cubin), len(code))
    return bytes(changed) + code


def listing(text):
    """Returns (address, rest of the line after the address) of each instruction."""
    found = []
    for line in text.split('\n'):
        match = INSTRUCTION.match(line)
        if match:
            found.append((int(match.group(1), 16), match.group(2)))
    return found


def without_labels(text):
    """Returns nvdisasm's listing by section, with byte offsets instead of labels."""
    sections, labels, waiting = {}, {}, []
    for line in text.split('\n'):
        section = re.match(r'^\.text\.(.*):$', line)
        label = re.match(r'^([.$\w]+):$', line)
        match = INSTRUCTION.match(line)
        if section:
            sections[section.group(1)] = current = []
            labels.update(dict.fromkeys(waiting, 0))
            waiting = []
        elif label:
            waiting.append(label.group(1))
        elif match:
            address = int(match.group(1), 16)
            labels.update(dict.fromkeys(waiting, address))
            waiting = []
            current.append((address, match.group(2)))
    def plain(columns):
        columns = re.sub(r' *\(\*.*?\*\) *$', '', columns)
        return re.sub(r'`\(([^)]+)\)', lambda m: hex(labels.get(m.group(1), -1)), columns)
    return {name: [(a, plain(c)) for a, c in code] for name, code in sections.items()}


def by_kernel(text):
    parts = re.split(r'\n//-+ \.text\.(\S+) -+\n', text)
    return {name: listing(body) for name, body in zip(parts[1::2], parts[2::2])}


def compare(name, expected, got):
    differing = [(e, g) for e, g in zip(expected, got) if e != g]
    for e, g in differing[:SHOWN]:
        print('  nvdisasm', e, '\n  ours    ', g)
    check(expected and len(expected) == len(got) and not differing,
          f'{name}: {len(expected)} instructions, {len(differing)} differ')


with tempfile.TemporaryDirectory() as folder:
    source, cubin = os.path.join(folder, 'k.cl'), os.path.join(folder, 'k.cubin')
    with open(source, 'w', encoding='utf-8') as file:
        file.write('kernel void k(global int *p) {\n  *p = 1;\n}\n')
    tegraclc(source, '--emit', 'cubin', '-o', cubin)

    words, texts = [], []
    with open(RECORDED, encoding='utf-8') as file:
        for line in file:
            if not line.startswith('#'):
                word, text = line.rstrip('\n').split('\t')
                words.append(int(word, 16))
                texts.append(text)
    with open(cubin, 'rb') as file:
        small = file.read()
    code = b''.join(struct.pack('<QQ', w & (1 << 64) - 1, w >> 64) for w in words)
    with open(cubin, 'wb') as file:
        file.write(with_code(small, code))
    status, output, messages = tegraclc('--disassemble', cubin)
    check(status == 0 and not messages, f'recorded words: {messages}')
    compare('recorded words', [(16 * i, t) for i, t in enumerate(texts)],
            [(a, columns.lstrip()) for a, columns in listing(output.decode())])

    with open(cubin, 'wb') as file:
        file.write(with_code(small, bytes(range(16))))
    output = tegraclc('--disassemble', cubin)[1].decode()
    check('.dword 0x0706050403020100, 0x0f0e0d0c0b0a0908 ; // not an instruction' in output,
          'a word that is no instruction is shown as a word')

    binary = os.path.join(folder, 'k.bin')
    tegraclc(source, '-o', binary)
    status, output, messages = tegraclc('--disassemble', binary)
    check(status == 0 and '\nk:\n' in output.decode(), 'a program binary has the names of OpenCL C')
    check(re.search(r'//## line 2 of <program source>\n([^#]*\n)?[^#\n]*STG', output.decode()),
          'lines of the source stand above their instructions')
    check(output == tegraclc(source, '--emit', 'sass')[1], '--emit sass is the same')
    status, output, messages = tegraclc('--disassemble', source)
    check(status == 1 and 'not a tegracl program binary' in messages and not output, 'a file of another kind is refused')
    check(tegraclc('--disassemble', binary, binary)[0] == 1, 'two files are refused')

    nvdisasm = os.environ.get('TEGRACL_NVDISASM') or shutil.which('nvdisasm')
    for name in sorted(os.listdir(FOLDER)) if nvdisasm else []:
        version = re.match(r'version(\d)', name)
        version = [f'-cl-std=CL{version.group(1)}.0'] if version else []
        status, _, messages = tegraclc(os.path.join(FOLDER, name), '--emit', 'cubin', '-o', cubin,
                                       *version)
        check(status == 0, f'{name} {messages}')
        theirs = without_labels(subprocess.run([nvdisasm, '-c', cubin], capture_output=True,
                                               text=True, check=True).stdout)
        ours = by_kernel('\n' + tegraclc('--disassemble', cubin)[1].decode())
        check(theirs.keys() == ours.keys(), f'{name}: {len(theirs)} kernels')
        for kernel, expected in theirs.items():
            compare(f'{name} {kernel}', expected, ours.get(kernel, []))
    print('nvdisasm', 'compared' if nvdisasm else 'not found: only its recorded texts compared')

print(f'{failures} failed')
sys.exit(failures != 0)
