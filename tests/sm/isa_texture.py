#!/usr/bin/env python3
"""Disassembles every instruction word of docs/hardware/sass-texture.csv, and compares
each text with nvdisasm's in the same row.

    isa_texture.py ISA_TEXT SASS_TEXTURE.CSV
"""
import csv
import struct
import subprocess
import sys

WORDS = 808  # rows that are not a FIELD


def main():
    with open(sys.argv[2], newline='', encoding='utf-8') as f:
        rows = [row for row in csv.DictReader(f) if not row['mnemonic'].startswith('FIELD')]
    words = [(int(row['word_low_64_or_field_bits'], 16), int(row['word_high_64_or_field_name'], 16))
             for row in rows]
    result = subprocess.run([sys.argv[1]], input=b''.join(struct.pack('<QQ', *w) for w in words),
                            capture_output=True, check=True)
    texts = result.stdout.decode().split('\n')[:-1]
    different = [(w, row['nvdisasm_text_or_values'], text) for w, row, text in zip(words, rows, texts)
                 if row['nvdisasm_text_or_values'] != text]
    for (low, high), theirs, ours in different:
        print('%016x%016x\n  nvdisasm %r\n  ours     %r' % (high, low, theirs, ours))
    print('%d words, %d differ' % (len(texts), len(different)))
    return 1 if different or not len(texts) == len(rows) == WORDS else 0


if __name__ == '__main__':
    sys.exit(main())
