#!/usr/bin/env python3
"""Checks the table of methods in docs/emulator/engines.md against methods.csv and the device.

methods.py PROGRAM DOCS CSV TESTS

Every method of the CSV must have one row or lie in the range of one row, and rows must name no
other methods. The device (PROGRAM: emulator-methods) must refuse the methods whose row says
"refused", and no others. Each test that a row names must exist in TESTS; a row without a test
("-") is checked only by this comparison.
"""
import csv
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r'^\| (c7\w\w) \| (0x\w{4}) (\w+)(?: to (0x\w{4}) (\w+))? '
                 r'\| (\w+)[^|]*\| ([^|]*) \| [^|]+ \|$')
STATUS = {'done', 'state', 'ignored', 'refused'}


def read_table(path):
    rows = []
    for line in path.read_text(encoding='utf-8').splitlines():
        m = ROW.match(line)
        if m:
            first, last = int(m[2], 16), int(m[4] or m[2], 16)
            rows.append({'class': m[1], 'first': first, 'last': last,
                         'names': (m[3], m[5] or m[3]), 'status': m[6], 'tests': m[7],
                         'line': line})
    return rows


def main():
    program, docs, table, tests = sys.argv[1:5]
    errors = []
    rows = read_table(pathlib.Path(docs))
    with open(table, newline='', encoding='utf-8') as f:
        methods = {(r['class'], int(r['method_hex'], 16)): r['name'] for r in csv.DictReader(f)}
    device = {}
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        cls, offset, result = line.split(' ', 2)
        device[cls, int(offset, 16)] = result
    source = '\n'.join(p.read_text(encoding='utf-8') for p in pathlib.Path(tests).rglob('*.c'))
    for key, name in methods.items():
        of = [r for r in rows if r['class'] == key[0] and r['first'] <= key[1] <= r['last']]
        where = f'{key[0]} 0x{key[1]:04x} {name}'
        if len(of) != 1:
            errors.append(f'{where}: {len(of)} rows')
            continue
        refused = device[key].startswith('refused')
        if refused != (of[0]['status'] == 'refused'):
            errors.append(f'{where}: the table says "{of[0]["status"]}", the device: {device[key]}')
    for r in rows:
        ends = (methods.get((r['class'], r['first'])), methods.get((r['class'], r['last'])))
        if ends != r['names']:
            errors.append(f'no such method: {r["line"]}')
        if r['status'] not in STATUS:
            errors.append(f'status: {r["line"]}')
        errors += [f'no test {n}: {r["line"]}' for n in re.findall(r'\w+', r['tests'])
                   if not re.search(rf'\bstatic (?:void|bool) {n}\(', source)]
    print('\n'.join(errors) or f'{len(methods)} methods in {len(rows)} rows')
    return bool(errors)


if __name__ == '__main__':
    sys.exit(main())
