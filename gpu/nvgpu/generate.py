#!/usr/bin/env python3
"""Turns nvgpu-uapi.csv into C: every struct of the kernel interface, its request
codes, and static asserts on every size and offset.

generate.py structs NVGPU-UAPI.csv OUT.h
generate.py tables  NVGPU-UAPI.csv OUT.c    the data of tables.h

Members that share bytes become anonymous unions; holes become explicit padding.
"""
import csv
import re
import sys

TYPES = {'__u8': ('uint8_t', 1), '__u16': ('uint16_t', 2), '__s16': ('int16_t', 2),
         '__u32': ('uint32_t', 4), '__s32': ('int32_t', 4), 'int': ('int32_t', 4),
         '__u64': ('uint64_t', 8), 'unsigned long': ('uint64_t', 8), '__u32 *': ('uint64_t', 8)}


class TableError(Exception):
    pass


class Member:
    """A field, or a nested struct if it has children."""

    def __init__(self, name, offset, size, ctype=None, count=0, bits=0):
        self.name, self.offset, self.size = name, offset, size
        self.ctype, self.count, self.bits = ctype, count, bits
        self.children = []

    @property
    def end(self):
        return self.offset + self.size


def read(path):
    """Returns (structs: name -> (size, members), requests: name -> (code, size, struct))."""
    structs, requests = {}, {}
    with open(path, newline='', encoding='utf-8') as f:
        for row in csv.DictReader(f):
            codes = row['ioctl_nr_hex'].split()
            if row['struct'] == '(none)':
                names = [row['field']]
            else:
                m = re.match(r'\[([A-Z0-9_ ]+)\]', row['notes'])
                names = m[1].split() if m else []
            if names and len(names) != len(codes):
                raise TableError(f"{row['struct']}: {len(names)} names for {len(codes)} requests")
            for name, code in zip(names, codes):
                requests[name] = (int(code, 16), int(row['struct_size']), row['struct'])
            if row['struct'] == '(none)' or '[0].' in row['field']:
                continue
            size, rows = structs.setdefault(row['struct'], (int(row['struct_size']), {}))
            if size != int(row['struct_size']):
                raise TableError(f"{row['struct']} has two sizes")
            rows.setdefault(row['field'], row)
    return {n: (s, [member(n, r, structs) for r in rows.values()])
            for n, (s, rows) in structs.items()}, requests


def member(struct, row, structs):
    name = re.sub(r'\[\d+\]$', '', row['field'])
    m = re.match(r'(.*?)\s*(?:\[(\d+)\])?$', row['type'])
    count = int(m[2]) if m[2] else 0
    if m[1] in TYPES:
        ctype, unit = TYPES[m[1]]
    elif m[1] in structs:
        ctype, unit = f'struct {m[1]}', structs[m[1]][0]
    else:
        raise TableError(f'{struct}.{name}: unknown type {row["type"]}')
    offset = int(row['offset'])
    if row['size'].endswith('b'):
        return Member(name, offset, 1, ctype, bits=int(row['size'][:-1]))
    size = int(row['size'])
    if size != unit * max(count, 1):
        raise TableError(f'{struct}.{name}: {size} bytes, but the type has {unit * max(count, 1)}')
    return Member(name, offset, size, ctype, count)


def nest(members):
    """Groups members with dotted names into named structs."""
    top = {}
    for m in members:
        first, dot, rest = m.name.partition('.')
        if not dot:
            top[first] = m
            continue
        group = top.setdefault(first, Member(first, m.offset, 0))
        end = max(group.end, m.end)
        group.offset = min(group.offset, m.offset)
        group.size = end - group.offset
        group.children.append(Member(rest, m.offset, m.size, m.ctype, m.count, m.bits))
    return sorted(top.values(), key=lambda m: m.offset)


def clusters(members):
    """Groups members that share bytes."""
    out = []
    for m in members:
        if out and m.offset < max(o.end for o in out[-1]) and not (m.bits and out[-1][0].bits):
            out[-1].append(m)
        else:
            out.append([m])
    return out


def declare(m, indent):
    pad = '  ' * indent
    if m.children:
        return [f'{pad}struct {{'] + body(nest(m.children), m.offset, m.end, indent + 1) + \
               [f'{pad}}} {m.name};']
    array = f'[{m.count}]' if m.count else ''
    bits = f' : {m.bits}' if m.bits else ''
    return [f'{pad}{m.ctype} {m.name}{array}{bits};']


def body(members, start, end, indent):
    pad = '  ' * indent
    out, at = [], start
    for group in clusters(members):
        if group[0].offset > at:
            out.append(f'{pad}uint8_t hole_{at}[{group[0].offset - at}];')
        if len(group) == 1:
            out += declare(group[0], indent)
        else:
            base = group[0].offset
            out.append(f'{pad}union {{')
            for m in group:
                if m.offset > base:
                    out += [f'{pad}  struct {{',
                            f'{pad}    uint8_t hole_{m.name}[{m.offset - base}];'] + \
                           declare(m, indent + 2) + [f'{pad}  }};']
                else:
                    out += declare(m, indent + 1)
            out.append(f'{pad}}};')
        at = max(m.end for m in group)
    if end > at:
        out.append(f'{pad}uint8_t hole_{at}[{end - at}];')
    return out


def emit_structs(structs, requests):
    out = ['/* The nvgpu and nvmap kernel interface of L4T r36. Generated by',
           ' * gpu/nvgpu/generate.py from nvgpu-uapi.csv; do not edit. */',
           '#ifndef TEGRACL_NVGPU_UAPI_GEN_H', '#define TEGRACL_NVGPU_UAPI_GEN_H', '',
           '#include <stddef.h>', '#include <stdint.h>', '']
    done = set()

    def emit(name):
        if name in done:
            return
        done.add(name)
        size, members = structs[name]
        for m in members:
            if m.ctype.startswith('struct '):
                emit(m.ctype[len('struct '):])
        packed = ' __attribute__((packed))' if size % 2 else ''
        out.append(f'struct {name} {{')
        out.extend(body(nest(members), 0, size, 1))
        out.append(f'}}{packed};')
        out.append(f'_Static_assert(sizeof(struct {name}) == {size}, "{name}");')
        for m in members:
            if not m.bits:
                out.append(f'_Static_assert(offsetof(struct {name}, {m.name}) == {m.offset}, '
                           f'"{name}.{m.name}");')
        out.append('')

    for name in structs:
        emit(name)
    for name, (code, size, struct) in requests.items():
        if (code >> 16) & 0x3fff != size:
            raise TableError(f'{name}: request 0x{code:08x} does not say {size} bytes')
        comment = '' if struct == '(none)' else f' /* struct {struct} */'
        out.append(f'#define {name} 0x{code:08x}u{comment}')
    return out + ['', '#endif']


def describe(m, low_bit):
    """Returns a row of struct nvgpu_field."""
    unit = m.size // max(m.count, 1)
    inner = m.ctype[len('struct '):] if m.ctype.startswith('struct ') else ''
    return (f'    {{"{m.name}", {m.offset}, {unit}, {max(m.count, 1)}, {m.bits}, {low_bit}, '
            f"{'true' if m.ctype.startswith('int') else 'false'}, "
            f"{f'&struct_{inner}' if inner else 'NULL'}}},")


def emit_tables(structs, requests):
    out = ['/* The kernel interface as data. Generated by gpu/nvgpu/generate.py from',
           ' * nvgpu-uapi.csv; do not edit. */',
           '#include "gpu/nvgpu/tables.h"', '']
    for name, (size, members) in structs.items():
        out.append(f'static const struct nvgpu_field fields_{name}[] = {{')
        low_bit = 0
        for m in members:
            out.append(describe(m, low_bit if m.bits else 0))
            low_bit += m.bits
        out += ['};', f'static const struct nvgpu_struct struct_{name} = {{"{name}", {size}, '
                      f'{len(members)}, fields_{name}}};']
    out += ['', 'const struct nvgpu_struct *const nvgpu_structs[] = {']
    out += [f'    &struct_{name},' for name in structs]
    out += ['};', f'const unsigned nvgpu_struct_count = {len(structs)};', '',
            'const struct nvgpu_request nvgpu_requests[] = {']
    for name, (code, _, struct) in requests.items():
        argument = 'NULL' if struct == '(none)' else f'&struct_{struct}'
        out.append(f'    {{0x{code:08x}u, "{name}", {argument}}},')
    return out + ['};', f'const unsigned nvgpu_request_count = {len(requests)};']


EMIT = {'structs': emit_structs, 'tables': emit_tables}


def main(argv):
    try:
        structs, requests = read(argv[2])
        out = EMIT[argv[1]](structs, requests)
    except TableError as e:
        print(f'generate.py: {e}', file=sys.stderr)
        return 1
    with open(argv[3], 'w', encoding='utf-8') as f:
        f.write('\n'.join(out) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
