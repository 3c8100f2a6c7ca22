#!/usr/bin/env python3
"""Turns the hardware tables into C.

generate.py qmd     QMD.csv OUT.h        QMD fields as "high, low" pairs
generate.py methods METHODS.csv VALUES.csv OUT.h    method offsets, their fields and values
generate.py tables  QMD.csv METHODS.csv VALUES.csv OUT.c   all tables as data, for dumps
generate.py textures HEADER.csv SAMPLER.csv FORMATS.csv OUT.h   texture headers, samplers, formats

A field of a method is HIGH:LOW=NAME[:SET] MEANING; SET is a set of VALUES.csv.

A table that contradicts itself (overlapping fields, gaps in a descriptor, a field
across a word) stops the build with the line that is wrong.
"""
import csv
import re
import sys

QMD_BITS = 2048
METHOD_SPACE = 0x4000  # bytes; a header's 12-bit address counts words
TEXTURE_BITS = 256
HEADER_VERSIONS = ('ONE_D_BUFFER', 'PITCH', 'BLOCKLINEAR')  # colour keys are not used
RESERVED_TEXTURE = ('RESERVED', 'UNLISTED_')
RESERVED = ('QMD_RESERVED', 'SEMAPHORE_RESERVED', 'UNLISTED_', 'HW_ONLY_')
FIELD = re.compile(r'^(\d+):(\d+)=(\w+)(?::(\w+))?\s*(.*)$', re.S)
ARRAY = re.compile(r'Array(?: of (\d+))?, step (\d+)')


class TableError(Exception):
    pass


def check_overlap(where, fields):
    """Rejects invalid ranges and overlapping fields (name, high, low)."""
    owner = {}
    for name, high, low in fields:
        if high < low:
            raise TableError(f'{where}: {name} has high bit {high} below low bit {low}')
        for bit in range(low, high + 1):
            if bit in owner:
                raise TableError(f'{where}: {name} and {owner[bit]} overlap at bit {bit}')
            owner[bit] = name
    return owner


def check_descriptor(where, fields, bits):
    """Rejects gaps, and fields (name, high, low, ...) that cross a word boundary."""
    owner = check_overlap(where, [f[:3] for f in fields])
    if owner and max(owner) >= bits:
        raise TableError(f'{where}: {owner[max(owner)]} lies beyond bit {bits - 1}')
    missing = [bit for bit in range(bits) if bit not in owner]
    if missing:
        raise TableError(f'{where}: bit {missing[0]} belongs to no field')
    for field in fields:
        if field[1] // 32 != field[2] // 32:
            raise TableError(f'{where}: {field[0]} crosses a word')


def read_qmd(path):
    with open(path, newline='', encoding='utf-8') as f:
        fields = [(r['field'], int(r['high_bit']), int(r['low_bit']), r['meaning'])
                  for r in csv.DictReader(f)]
    names = [f[0] for f in fields]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f'QMD: {name} is listed twice')
    check_descriptor('QMD', fields, QMD_BITS)
    return fields


def read_values(path):
    """Returns sets of named values: {set: [(name, value, meaning)]}."""
    sets = {}
    names = set()
    with open(path, newline='', encoding='utf-8') as f:
        for row in csv.DictReader(f):
            members = sets.setdefault(row['set'], [])
            if row['name'] in names:
                raise TableError(f"{row['name']} is listed twice")
            if members and int(row['value']) <= members[-1][1]:
                raise TableError(f"{row['set']}: {row['name']} is not above the value before it")
            names.add(row['name'])
            members.append((row['name'], int(row['value']), row['meaning']))
    return sets


def read_methods(path, sets):
    """Returns a list of dicts: cls, offset, name, fields, count, step (0: not an array). A
    field has name, high, low, meaning, and its set of values (None: any number)."""
    used = set()
    methods = []
    with open(path, newline='', encoding='utf-8') as f:
        for row in csv.DictReader(f):
            where = f"{row['class']} {row['name']}"
            offset = int(row['method_hex'], 16)
            if offset % 4 or offset >= METHOD_SPACE:
                raise TableError(f'{where}: no method can have offset 0x{offset:x}')
            fields = []
            for text in row['fields'].split(' | '):
                m = FIELD.match(text.strip())
                if not m:
                    raise TableError(f'{where}: cannot read the field "{text}"')
                fields.append((m[3], int(m[1]), int(m[2]), m[5], m[4]))
                if m[4] and m[4] not in sets:
                    raise TableError(f'{where}: no set of values is called {m[4]}')
                used.add(m[4])
            # The fields of MEM_OP_C depend on the operation, as its note says.
            if not row['notes'].startswith('Fields overlap'):
                check_overlap(where, [f[:3] for f in fields])
            if max(f[1] for f in fields) > 31:
                raise TableError(f'{where}: a method has 32 bits')
            array = ARRAY.search(row['notes'])
            methods.append({'cls': row['class'], 'offset': offset, 'name': row['name'],
                            'fields': fields, 'step': int(array[2]) if array else 0,
                            'count': int(array[1]) if array and array[1] else
                            (0 if array else 1)})
    for name in sets:
        if name not in used:
            raise TableError(f'no field has the values {name}')
    methods.sort(key=lambda m: (int(m['cls'], 16), m['offset']))
    for i, m in enumerate(methods):
        if i and (methods[i - 1]['cls'], methods[i - 1]['offset']) == (m['cls'], m['offset']):
            raise TableError(f"{m['cls']}: two methods at 0x{m['offset']:x}")
        if m['count'] == 0:  # length not published: up to the next method
            later = [o['offset'] for o in methods
                     if o['cls'] == m['cls'] and o['offset'] >= m['offset'] + m['step']]
            m['count'] = (min(later + [METHOD_SPACE]) - m['offset']) // m['step']
    return methods


def value_names(where, text):
    """Returns {name: number} for "0=WRAP|1=MIRROR"; other texts do not define names."""
    values = {}
    for part in text.split('|'):
        number, equals, name = part.partition('=')
        if not equals or not number.isdigit():
            return {}
        if name in values:
            raise TableError(f'{where}: {name} is listed twice')
        values[name] = int(number)
    return values


def read_header(path):
    """Returns the fields of each version of the texture header, and the codes of memory formats."""
    versions, codes = {}, {}
    with open(path, newline='', encoding='utf-8') as f:
        for row in csv.DictReader(f):
            if row['field'] == 'COMPONENTS code':
                codes[row['meaning']] = int(row['values'], 16)
                continue
            version = row['header_version'].split()[1]
            versions.setdefault(version, []).append(
                (row['field'], int(row['high_bit']), int(row['low_bit']),
                 value_names(row['field'], row['values'])))
    for version in HEADER_VERSIONS:
        check_descriptor('texture header ' + version, versions.get(version, []), TEXTURE_BITS)
    return {version: versions[version] for version in HEADER_VERSIONS}, codes


def read_sampler(path):
    with open(path, newline='', encoding='utf-8') as f:
        fields = [(row['field'], int(row['high_bit']), int(row['low_bit']),
                   value_names(row['field'], row['values'])) for row in csv.DictReader(f)]
    check_descriptor('texture sampler', fields, TEXTURE_BITS)
    return fields


def read_formats(path, codes):
    """Returns the OpenCL formats that the texture units support."""
    formats = []
    with open(path, newline='', encoding='utf-8') as f:
        for row in csv.DictReader(f):
            if not row['components']:
                continue
            where = f"{row['channel_order']} {row['channel_type']}"
            if codes.get(row['components']) != int(row['components_code'], 16):
                raise TableError(f"{where}: {row['components']} has another code in the header's table")
            formats.append(row)
    return formats


def head(what, source, guard):
    return [f'/* {what} Generated by gpu/hw/generate.py from {source}; do not edit. */',
            f'#ifndef {guard}', f'#define {guard}', '']


def emit_qmd(fields):
    out = head('QMD V03_00 fields as "high bit, low bit", for qmd_get and qmd_set.',
               'qmd-v03.csv', 'TEGRACL_HW_QMD_GEN_H')
    families = {}
    for name, high, low, _ in fields:
        out.append(f'#define QMD_{name} {high}, {low}')
        m = re.match(r'(CONSTANT_BUFFER_\w+)_(\d)$', name)
        if m:
            families.setdefault(m[1], {})[int(m[2])] = (high, low)
    out.append('')
    for name, members in families.items():
        high, low = members[0]
        stride = members[1][1] - low
        for i, (h, l) in members.items():
            if (h, l) != (high + i * stride, low + i * stride):
                raise TableError(f'QMD: {name}_{i} is not {stride} bits after the one before it')
        out.append(f'#define QMD_{name}(i) {high} + {stride} * (i), {low} + {stride} * (i)')
    return out + ['', '#endif']


def emit_methods(methods, sets):
    out = head('Methods of classes C76F (host), C7C0 (compute), C7B5 (copy); fields as\n'
               ' * "high bit, low bit", for hw_bits and hw_field; values of fields.',
               'methods.csv and values.csv', 'TEGRACL_HW_METHODS_GEN_H')
    users = {}
    for m in methods:
        for field, _, _, _, values in m['fields']:
            if values:
                users.setdefault(values, []).append(f"{m['cls']} {m['name']}.{field}")
    for name, members in sets.items():
        out += ['/* ' + ',\n * '.join(users[name]) + ' */', f'enum {name} {{']
        out += [f'  {n} = {v},' + (f' /* {t} */' if t else '') for n, v, t in members]
        out += ['};', '']
    for m in methods:
        name = f"NV{m['cls'].upper()}_{m['name']}"
        if m['step']:
            out.append(f"#define {name}(i) (0x{m['offset']:04x} + {m['step']} * (i))")
        else:
            out.append(f"#define {name} 0x{m['offset']:04x}")
        for field, high, low, _, _ in m['fields']:
            out.append(f'#define {name}_{field} {high}, {low}')
    return out + ['', '#endif']


def emit_values(prefix, fields):
    seen = {}
    for name, _, _, values in fields:
        for value, number in values.items():
            seen.setdefault(f'{prefix}_{name}_{value}', set()).add(number)
    for name, numbers in seen.items():
        if len(numbers) > 1:
            raise TableError(f'{name} has two values')
    return [f'#define {name} {min(numbers)}' for name, numbers in seen.items()]


def emit_textures(versions, codes, sampler, formats):
    """Leaves the version out of a field's name if the field has the same bits in all versions."""
    out = head('Texture headers and samplers: fields as "high bit, low bit", for hw_get and hw_set;\n'
               ' * values of fields; OpenCL formats.', 'texture-*.csv', 'TEGRACL_HW_TEXTURE_GEN_H')
    places = {}
    for fields in versions.values():
        for name, high, low, _ in fields:
            places.setdefault(name, set()).add((high, low))
    done = set()
    for version, fields in versions.items():
        for name, high, low, _ in fields:
            if name.startswith(RESERVED_TEXTURE):
                continue
            whole = f'TIC_{name}' if len(places[name]) == 1 else f'TIC_{version}_{name}'
            if whole not in done:
                out.append(f'#define {whole} {high}, {low}')
                done.add(whole)
    out += [''] + emit_values('TIC', [f for fields in versions.values() for f in fields])
    out += [f'#define TIC_COMPONENTS_{name} 0x{code:02x}' for name, code in codes.items()]
    out += [''] + [f'#define TSC_{name} {high}, {low}' for name, high, low, _ in sampler
                   if not name.startswith(RESERVED_TEXTURE)]
    out += emit_values('TSC', sampler)
    out += ['', '/* X(order, type, bytes, components, data type, x, y, z, w, sRGB): the formats of OpenCL that',
            ' * the texture units have; x to w are the SOURCE fields of the header. */',
            '#define TEXTURE_FORMATS(X) \\']
    out += [f"  X({r['channel_order']}, {r['channel_type']}, {r['bytes_per_pixel']}, "
            f"TIC_COMPONENTS_{r['components']}, TIC_R_DATA_TYPE_NUM_{r['data_type']}, "
            f"{r['x_source']}, {r['y_source']}, {r['z_source']}, {r['w_source']}, "
            f"{r['srgb_conversion']}) \\" for r in formats]
    return out + ['', '#endif']


def c_string(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def emit_tables(qmd, methods, sets):
    out = ['/* The hardware tables as data. Generated by gpu/hw/generate.py from',
           ' * qmd-v03.csv, methods.csv and values.csv; do not edit. */',
           '#include "gpu/hw/tables.h"', '',
           'const struct hw_field_name qmd_fields[] = {']
    out += [f'    {{{c_string(n)}, {h}, {l}, {c_string(t)}, 0, 0}},' for n, h, l, t in qmd]
    reserved = [0] * (QMD_BITS // 32)
    for name, high, low, _ in qmd:
        if name.startswith(RESERVED):
            reserved[low // 32] |= (2 << high % 32) - (1 << low % 32)
    out += ['};', f'const unsigned qmd_field_count = {len(qmd)};', '',
            'const uint32_t qmd_reserved[] = {']
    out += [f'    0x{word:08x},' for word in reserved]
    out += ['};', '']
    for name, members in sets.items():
        out += [f'static const struct hw_value_name {name}[] = {{']
        out += [f'    {{{v}, {c_string(n)}}},' for n, v, _ in members]
        out += ['};', '']
    out += ['static const struct hw_field_name method_fields[] = {']
    first = []
    count = 0
    for m in methods:
        first.append(count)
        count += len(m['fields'])
        out += [f"    {{{c_string(n)}, {h}, {l}, {c_string(t)}, {v or 0}, {len(sets.get(v, []))}}},"
                for n, h, l, t, v in m['fields']]
    out += ['};', '', 'const struct hw_method hw_methods[] = {']
    for m, f in zip(methods, first):
        out.append(f"    {{0x{m['cls']}, 0x{m['offset']:04x}, {m['count']}, {m['step'] or 4}, "
                   f"{len(m['fields'])}, {c_string(m['name'])}, &method_fields[{f}]}},")
    return out + ['};', f'const unsigned hw_method_count = {len(methods)};']


def main(argv):
    try:
        if argv[1] == 'qmd':
            out = emit_qmd(read_qmd(argv[2]))
        elif argv[1] == 'methods':
            sets = read_values(argv[3])
            out = emit_methods(read_methods(argv[2], sets), sets)
        elif argv[1] == 'textures':
            versions, codes = read_header(argv[2])
            out = emit_textures(versions, codes, read_sampler(argv[3]), read_formats(argv[4], codes))
        else:
            sets = read_values(argv[4])
            out = emit_tables(read_qmd(argv[2]), read_methods(argv[3], sets), sets)
    except TableError as e:
        print(f'generate.py: {e}', file=sys.stderr)
        return 1
    with open(argv[-1], 'w', encoding='utf-8') as f:
        f.write('\n'.join(out) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
