#!/usr/bin/env python3
"""Makes the decode tables of the SM from the instruction set's text (sm87.isa).

    isagen.py TABLE header OUT.h     enums of operations, modifiers and values
    isagen.py TABLE tables OUT.c     rows for decoder, disassembler and encoder
    isagen.py TABLE execution OUT.h  lists of handlers, classes and executed operations
    isagen.py TABLE lowering OUT.c   functions that fill in the interpreter's uops
    isagen.py TABLE check            only checks

The first comment of the table explains its lines. A table is refused, with the line, for unknown or
duplicate names, fields outside of the word, two fields of one instruction on the
same bit, and two rows that match the same word.
"""
import itertools
import re
import sys

from lowering import Lowering, Refused, identifier, lowering

KINDS = ['none', 'reg', 'ureg', 'pred', 'upred', 'imm', 'const', 'bindless', 'mem', 'target',
         'barrier', 'special', 'scoreboard', 'pr', 'upr', 'enum', 'sbset', 'swizzle']
FIELD_KEYS = ('bits', 'value', 'bank', 'index', 'uindex', 'ureg', 'scale')
BIT_KEYS = ('neg', 'abs', 'not', 'inv', 'e', 'desc', 'policy', 'wide', 'absolute_if')
FLAG_KEYS = ('inverted', 'absolute', 'offset', 'next')
# Fields of every instruction: opcode, guard, the profiler's predicate
# (103:102) and scheduling from 105 up.
COMMON = [(0, 12), (91, 1), (12, 4), (102, 2), (105, 23)]
OPERANDS_MAX = 10


def parse_bits(text):
    """Converts '80+76' or '53:40' to pieces [(low, length)], highest first."""
    pieces = []
    for part in text.split('+'):
        m = re.fullmatch(r'(\d+)(?::(\d+))?', part)
        if not m:
            raise Refused('bad bit range %r' % text)
        high = int(m.group(1))
        low = int(m.group(2)) if m.group(2) else high
        if high < low or high > 127:
            raise Refused('bit range %r is not within 127:0' % text)
        pieces.append((low, high - low + 1))
    if len(pieces) > 2:
        raise Refused('more than two pieces in %r' % text)
    return tuple(pieces)


def width(pieces):
    return sum(n for _, n in pieces)


def bit_list(pieces):
    """Returns the bits of the word in pieces, least significant first."""
    out = []
    for low, n in reversed(pieces):
        out += range(low, low + n)
    return out


class Isa:
    def __init__(self):
        self.values = {}
        self.operands = {}
        self.forms = {}
        self.insns = []  # (op, text, mods, when, guard_uniform, idle)
        self.rows = []
        self.ops = []
        self.mods = []
        self.classes = {}  # name: text
        self.handlers = []
        self.arguments = {}  # of groups of handlers: {name: C type}
        self.group = {}  # handler: its group
        self.does = {}  # operation: Execution
        self.hints = []  # modifiers without effect


class Execution:
    """Describes how an operation is executed."""
    def __init__(self, line):
        self.line = line
        self.klass = None
        self.access = ('none', 'none')  # which memory, in which way
        self.handler = None  # a name, or a choice by a modifier
        self.arguments = {}  # name: value
        self.words = {}  # operand, or "all": value
        self.neutral, self.unused = [], []  # operands
        self.only = {}  # modifier: the values that are executed
        self.choose = self.lower = None  # functions of emulator/sm/lower


class Operand:
    def __init__(self, kind):
        self.kind = kind
        self.name = self.plain_name = None  # in the row, and in the form
        self.field = {}
        self.bit = {}
        self.flags = set()
        self.shift = 1
        self.signed = False
        self.neutral = None
        self.values = None
        self.select = None  # (values, pieces)
        self.style = 'plain'
        self.half = None
        self.reuse = 0

    def copy(self):
        o = Operand(self.kind)
        o.name, o.plain_name = self.name, self.plain_name
        o.field, o.bit, o.flags = dict(self.field), dict(self.bit), set(self.flags)
        o.shift, o.signed, o.neutral = self.shift, self.signed, self.neutral
        o.values, o.select, o.style, o.half = self.values, self.select, self.style, self.half
        return o

    def used(self):
        """Returns the pieces of the word that the operand occupies."""
        out = []
        for pieces in self.field.values():
            out += pieces
        out += [(b, 1) for b in self.bit.values()]
        if self.select:
            out += self.select[1]
        return out

    def key(self):
        return (self.kind, tuple(sorted(self.field.items())), tuple(sorted(self.bit.items())),
                tuple(sorted(self.flags)), self.shift, self.signed, self.neutral, self.values,
                self.select, self.style, self.reuse)


def parse_operand(isa, words):
    if words[1] not in KINDS:
        raise Refused('unknown operand kind %r' % words[1])
    o = Operand(words[1])
    for word in words[2:]:
        key, _, value = word.partition('=')
        if key in FIELD_KEYS:
            m = re.fullmatch(r'([\d:+]+)(?:\*(\d+))?(s?)', value)
            if not m:
                raise Refused('bad field %r' % word)
            o.field[key] = parse_bits(m.group(1))
            if m.group(2):
                o.shift = int(m.group(2))
            if m.group(3):
                o.signed = True
        elif key in BIT_KEYS:
            o.bit[key] = parse_bits(value)[0][0]
        elif key in FLAG_KEYS and not value:
            o.flags.add(key)
        elif key == 'neutral':
            o.neutral = int(value)
        elif key == 'half':
            o.half = parse_bits(value)
        elif key == 'values':
            if value not in isa.values:
                raise Refused('unknown values %r' % value)
            o.values = value
        else:
            raise Refused('unknown word %r' % word)
    return o


# Operand-cache slots that the names of ALU operands stand for (bits 124:122).
REUSE = {'Ra': 1, 'R32': 2, 'B': 2, 'C': 3, 'S': 3, 'T': 3, 'Rt': 3}
HALF_EXCHANGE = parse_bits('86')
VARIABLE_LATENCY = 0x100  # opcodes with this bit have no operand cache


def use_operand(isa, token, form, base):
    """An operand of a row: a name with its prefix and suffixes."""
    flags = set()
    while token[:1] in ('>', '?'):
        flags.add('dst' if token[0] == '>' else 'optional')
        token = token[1:]
    m = re.fullmatch(r'(\w+)(?:/(\w+))?((?:\.[\w=:]+)*)', token)
    if not m:
        raise Refused('bad operand %r' % token)
    name, classes, suffixes = m.groups()
    reuse = 0 if base & VARIABLE_LATENCY else REUSE.get(name, 0)
    slots = isa.forms[form]
    given = name
    for _ in range(2):
        name = slots.get(name, name)
    classes = classes or ''
    if name == 'R64' and set('hHkx') & set(classes) and 'R64h' in isa.operands:
        name = 'R64h'
    if name not in isa.operands:
        raise Refused('unknown operand %r' % name)
    o = isa.operands[name].copy()
    o.name, o.plain_name = given, name
    o.flags |= flags
    o.reuse = reuse if o.kind == 'reg' else 0
    keep = set()
    style = 'plain'
    for c in classes:
        if c == 'n':
            keep.add('neg')
        elif c == 'i':
            keep.add('inv')
        elif c == 's':
            style = 'signed'
        elif c == 'F':
            style = 'f32'
        elif c in 'fdehHkx':
            keep |= {'neg', 'abs'} if c != 'k' else {'neg'}
            style = {'f': 'f32', 'd': 'f64', 'e': 'half'}.get(c, 'f16')
            if c in 'hkx' and o.half and o.kind != 'imm':
                o.select = ('half_x', HALF_EXCHANGE + o.half) if c == 'x' else ('half', o.half)
        else:
            raise Refused('unknown operand class %r' % c)
    if o.kind == 'imm' or style == 'f16' and 'H' not in classes:
        o.style = style
    if o.kind != 'imm':
        if 'inv' in keep and 'neg' in o.bit:
            o.bit['inv'] = o.bit.pop('neg')
        for key in ('neg', 'abs'):
            if key not in keep and key in o.bit:
                del o.bit[key]
    for suffix in suffixes.split('.')[1:]:
        what, _, pieces = suffix.partition('=')
        if what in ('row', 'col'):
            o.style = what
        elif what == 'shared':
            o.flags.add('shared')
        elif what in isa.values:
            if o.kind != 'imm':
                o.select = (what, parse_bits(pieces))
        else:
            raise Refused('unknown suffix %r' % suffix)
    return o


def parse_set(text):
    out = set()
    for part in text.split(','):
        low, _, high = part.partition('-')
        out |= set(range(int(low), int(high or low) + 1))
    return frozenset(out)


def parse_insn(isa, line):
    words = line.split()
    op, text = words[1], words[2]
    when, uniform, idle = [], False, []
    for word in words[3:]:
        if word == 'when':
            continue
        if word == 'guard=UP':
            uniform = True
            continue
        bits, _, allowed = word.partition('=')
        if bits == 'idle':
            idle += [parse_bits(part) for part in allowed.split(',')]
            continue
        pieces, chosen = parse_bits(bits), parse_set(allowed)
        if max(chosen) >= 1 << width(pieces):
            raise Refused('selector %r does not fit its bits' % word)
        when.append((pieces, chosen))
    mods = []
    for name, bits, _, values in re.findall(r'\{(\w+)@([\d:+]+)(=(\w+))?\}', text):
        values = values or name
        if values not in isa.values:
            raise Refused('unknown values %r' % values)
        pieces = parse_bits(bits)
        if len(isa.values[values]) > 1 << width(pieces):
            raise Refused('values %r do not fit bits %s' % (values, bits))
        if name in [m[0] for m in mods]:
            raise Refused('modifier %r twice' % name)
        mods.append((name, pieces, values))
        if name not in isa.mods:
            isa.mods.append(name)
    plain = re.sub(r'\{.*?\}', '\1', text)
    if '{' in plain:
        raise Refused('bad text %r' % text)
    if op not in isa.ops:
        isa.ops.append(op)
    isa.insns.append((op, plain, mods, when, uniform, idle))


SPACES = ('global', 'generic', 'shared', 'local', 'copy', 'surface')
ACCESSES = ('load', 'store', 'atomic')


def parse_class(isa, line):
    _, name, text = line.split(None, 2)
    if name in isa.classes:
        raise Refused('class %s twice' % name)
    isa.classes[name] = text


TYPES = {'': 'uint8_t', 'u16': 'uint16_t', 'i32': 'int32_t', 'i64': 'int64_t'}


def parse_handlers(isa, line):
    """Parses a line: handlers [GROUP:] NAME... [| ARGUMENT...]"""
    left, _, right = line.split(None, 1)[1].partition('|')
    group, _, names = left.rpartition(':')
    for name in names.split():
        if name in isa.handlers:
            raise Refused('handler %s twice' % name)
        isa.handlers.append(name)
    group = group.strip()
    if bool(group) != bool(right):
        raise Refused('a group of handlers has arguments, and only a group')
    if not group:
        return
    if group in isa.arguments:
        raise Refused('group %s twice' % group)
    isa.group.update({name: group for name in names.split()})
    arguments = {}
    for word in right.split():
        if word.endswith('+'):
            if word[:-1] not in isa.arguments:
                raise Refused('unknown group %r' % word[:-1])
            arguments.update(isa.arguments[word[:-1]])
            continue
        name, _, kind = word.partition(':')
        if name in arguments:
            raise Refused('argument %s twice' % name)
        if kind not in TYPES:
            raise Refused('unknown type %r' % kind)
        arguments[name] = TYPES[kind]
    isa.arguments[group] = arguments


def parse_does(isa, words, line):
    op = isa.insns[-1][0]
    if op in isa.does:
        raise Refused('%s has two lines "does"' % op)
    does = isa.does[op] = Execution(line)
    for word in words:
        key, _, value = word.partition('=')
        operand, _, count = word.partition('*')
        if key == 'class':
            if value not in isa.classes:
                raise Refused('unknown class %r' % value)
            does.klass = value
        elif key == 'access':
            does.access = tuple(value.split('.'))
            if len(does.access) != 2 or does.access[0] not in SPACES or does.access[1] not in ACCESSES:
                raise Refused('unknown access %r' % value)
        elif key in ('handler', 'choose', 'lower') and value:
            setattr(does, key, value)
        elif key in ('neutral', 'unused') and value:
            setattr(does, key, value.split(','))
        elif key == 'only' and value:
            mod, _, texts = value.partition(':')
            does.only[mod] = texts.split(',')
        elif value and key not in does.arguments:
            does.arguments[key] = value
        elif count and operand not in does.words:
            does.words[operand] = count
        else:
            raise Refused('unknown word %r' % word)
    if not does.klass:
        raise Refused('%s has no class' % op)
    if not does.handler:
        raise Refused('%s has no handler' % op)


def parse_rows(isa, line, number):
    forms, base, operands = [part.strip() for part in line.split('|')]
    op, text, mods, when, uniform, idle = isa.insns[-1]
    base = int(base, 16)
    if base > 0x1ff:
        raise Refused('base %x has more than nine bits' % base)
    for form in forms.split():
        seen = not form.endswith('~')
        form = form.rstrip('~')
        if form not in isa.forms:
            raise Refused('unknown form %r' % form)
        prefix = int(form, 16)
        if prefix % 2 or prefix > 0x1e:
            raise Refused('form %r is not an even number below 20' % form)
        row = {'op': op, 'text': text, 'idle': idle, 'mods': mods, 'when': when, 'uniform': uniform,
               'opcode': prefix << 8 | base, 'line': number, 'seen': seen,
               'operands': [use_operand(isa, t, form, base) for t in operands.split()]}
        if len(row['operands']) > OPERANDS_MAX:
            raise Refused('more than %d operands' % OPERANDS_MAX)
        check_fields(isa, row)
        isa.rows.append(row)


# The usual places of operands: Rd, Ra, Rc, Pu, Pv, Pp, Pq, Pr. Compilers fill the
# unused ones with RZ, PT or !PT.
PLACES = [(16, 8), (24, 8), (64, 8), (81, 3), (84, 3), (87, 4), (77, 4), (68, 4)]


def idle_bits(row, used):
    """Returns the bits that may be set although they have no meaning in this instruction."""
    idle = set()
    for low, n in PLACES:
        place = set(range(low, low + n))
        if not place & used:
            idle |= place
    for pieces in row['idle']:
        idle |= set(bit_list(pieces))
    return idle


def check_fields(isa, row):
    """Checks that no bit belongs to two fields and that values fit in their fields."""
    owner = {}

    def take(what, pieces, shared=False):
        for b in bit_list(pieces):
            if b in owner and not shared:
                raise Refused('%s and %s both use bit %d' % (owner[b], what, b))
            owner[b] = what
    for low, n in COMMON:
        take('the common fields', ((low, n),))
    for name, pieces, _ in row['mods']:
        take(name, pieces)
    selects = set()
    for i, o in enumerate(row['operands']):
        for piece in o.used():
            # One selector may apply to several operands.
            if o.select and o.select in selects and piece in o.select[1]:
                continue
            take('operand %d' % i, (piece,), 'shared' in o.flags or piece == (72, 1) and 'e' in o.bit
                 or 'absolute_if' in o.bit and piece == (o.bit['absolute_if'], 1))
        selects.add(o.select)
        if o.select and len(isa.values[o.select[0]]) > 1 << width(o.select[1]):
            raise Refused('values %r do not fit' % o.select[0])
    selectors = {}
    for pieces, _ in row['when']:
        for b in bit_list(pieces):
            if b in selectors:
                raise Refused('two selectors on bit %d' % b)
            selectors[b] = True
            if owner.get(b, '').startswith(('operand', 'the common')):
                raise Refused('selector and %s both use bit %d' % (owner[b], b))


def overlap(a, b):
    """Returns whether a word could match both rows, which have the same opcode."""
    bits = sorted({x for row in (a, b) for pieces, _ in row['when'] for x in bit_list(pieces)})
    for choice in itertools.product((0, 1), repeat=len(bits)):
        word = dict(zip(bits, choice))

        def match(row):
            for pieces, chosen in row['when']:
                value = sum(word[x] << i for i, x in enumerate(bit_list(pieces)))
                if value not in chosen:
                    return False
            return True
        if match(a) and match(b):
            return True
    return False


def constants(isa):
    """Returns all names of the header: [(enum, [(constant, its origin in the table, value)])]."""
    out = [('sm_op', [('SM_OP_' + identifier(op), op, None) for op in isa.ops]),
           ('sm_mod', [('SM_MOD_' + identifier(mod), mod, None) for mod in isa.mods])]
    for name, texts in isa.values.items():
        out.append(('sm_isa_' + name.lower(),
                    [('SM_%s_%s' % (identifier(name), 'NONE' if t == '-' else identifier(t)),
                      name + ' ' + t, i) for i, t in enumerate(texts) if t != '?']))
    return out


def parse(path):
    isa = Isa()
    tables = {'values': isa.values, 'operand': isa.operands, 'form': isa.forms}
    with open(path) as f:
        kept = ''
        for number, line in enumerate(f, 1):
            line = kept + line.rstrip('\n')
            kept = ''
            if line.endswith('\\'):
                kept = line[:-1]
                continue
            try:
                if not line.strip() or line.startswith('#'):
                    continue
                if line.startswith('  '):
                    if not isa.insns:
                        raise Refused('rows before any insn')
                    if line.split()[0] == 'does':
                        parse_does(isa, line.split()[1:], number)
                    else:
                        parse_rows(isa, line, number)
                    continue
                words = line.split()
                if len(words) < 2:
                    raise Refused('a line of one word')
                if words[0] in tables and words[1] in tables[words[0]]:
                    raise Refused('%s %s twice' % (words[0], words[1]))
                if words[0] == 'values':
                    named = [v for v in words[2:] if v != '?']
                    for v in named:
                        if named.count(v) > 1:
                            raise Refused('value %r twice' % v)
                    isa.values[words[1]] = words[2:]
                elif words[0] == 'operand':
                    isa.operands[words[1]] = parse_operand(isa, words[1:])
                elif words[0] == 'form':
                    isa.forms[words[1]] = dict(w.split('=') for w in words[2:])
                elif words[0] == 'class':
                    parse_class(isa, line)
                elif words[0] == 'hints':
                    isa.hints += words[1:]
                elif words[0] == 'handlers':
                    parse_handlers(isa, line)
                elif words[0] == 'insn':
                    parse_insn(isa, line)
                else:
                    raise Refused('unknown line %r' % words[0])
            except (Refused, ValueError, IndexError) as e:
                raise Refused('%s:%d: %s' % (path, number, e)) from None
    by_opcode = {}
    for row in isa.rows:
        for other in by_opcode.setdefault(row['opcode'], []):
            if overlap(row, other):
                raise Refused('%s:%d: %s (opcode 0x%x) overlaps %s of line %d' %
                              (path, row['line'], row['op'], row['opcode'], other['op'],
                               other['line']))
        by_opcode[row['opcode']].append(row)
    origin = {}
    for _, named in constants(isa):
        for name, what, _ in named:
            if name in origin:
                raise Refused('%s: %r and %r both become %s' % (path, origin[name], what, name))
            origin[name] = what
    isa.rows.sort(key=lambda r: (r['opcode'], r['line']))
    for op, does in isa.does.items():
        try:
            does.body = Lowering(isa, op).body
        except Refused as e:
            raise Refused('%s:%d: %s: %s' % (path, does.line, op, e)) from None
    return isa



def header(isa):
    out = ['/* Generated by isagen.py from sm87.isa: do not edit. */',
           '#ifndef TEGRACL_SM_ISA_GEN_H', '#define TEGRACL_SM_ISA_GEN_H', '']
    for enum, named in constants(isa):
        out.append('enum %s {' % enum)
        out += ['  %s,' % name if value is None else '  %s = %d,' % (name, value)
                for name, _, value in named]
        if enum in ('sm_op', 'sm_mod'):
            out.append('  %s_COUNT' % enum.upper())
        out += ['};', '']
    out += ['#define SM_ISA_OPERANDS_MAX %d' % OPERANDS_MAX,
            '#define SM_ISA_ROWS %d' % len(isa.rows), '', '#endif', '']
    return '\n'.join(out)


def c_bits(pieces):
    pieces = list(pieces or ())
    low = ', '.join('{%d, %d}' % p for p in pieces)
    return '{{%s}}' % low if low else '{{{0, 0}}}'


def tables(isa):
    out = ['/* Generated by isagen.py from sm87.isa: do not edit. */',
           '#include "gpu/isa/isa_table.h"', '']
    names = list(isa.values)
    for name in names:
        texts = ', '.join('0' if t == '?' else '""' if t == '-' else '"%s"' % t
                          for t in isa.values[name])
        out.append('static const char *const values_%s[] = {%s};' % (name.lower(), texts))
    out += ['', 'const struct sm_isa_values sm_isa_values[] = {']
    out += ['  {values_%s, %d},' % (n.lower(), len(isa.values[n])) for n in names]
    out += ['};', '']
    pool, operand_lines, mod_lines, selector_lines, row_lines = {}, [], [], [], []
    refs = []
    for row in isa.rows:
        first = (len(refs), len(mod_lines), len(selector_lines))
        used = {b for low, n in COMMON for b in range(low, low + n)}
        for o in row['operands']:
            if o.key() not in pool:
                pool[o.key()] = len(operand_lines)
                parts = ['.kind = SM_ISA_%s' % o.kind.upper(),
                         '.style = SM_STYLE_%s' % o.style.upper()]
                parts += ['.%s = %s' % (k, c_bits(v)) for k, v in sorted(o.field.items())]
                parts += ['.%s_bit = %d' % kv for kv in sorted(o.bit.items())]
                parts += ['.%s = true' % k for k in sorted(o.flags - {'shared'})]
                if o.shift != 1:
                    parts.append('.unit = %d' % o.shift)
                if o.reuse:
                    parts.append('.reuse = %d' % o.reuse)
                if o.signed:
                    parts.append('.is_signed = true')
                if o.neutral is not None:
                    parts.append('.neutral = %d' % o.neutral)
                if o.values:
                    parts.append('.values = %d' % (names.index(o.values) + 1))
                if o.select:
                    parts.append('.select = %s' % c_bits(o.select[1]))
                    parts.append('.select_values = %d' % (names.index(o.select[0]) + 1))
                operand_lines.append('  {%s},' % ', '.join(parts))
            refs.append(pool[o.key()])
            for piece in o.used():
                used |= set(bit_list((piece,)))
        for name, pieces, values in row['mods']:
            mod_lines.append('  {SM_MOD_%s, %d, %s},' % (identifier(name), names.index(values),
                                                        c_bits(pieces)))
            used |= set(bit_list(pieces))
        for pieces, chosen in row['when']:
            selector_lines.append('  {0x%x, %s},' % (sum(1 << v for v in chosen),
                                                     c_bits(pieces)))
            used |= set(bit_list(pieces))
        known = sum(1 << b for b in used | idle_bits(row, used))
        row_lines.append(
            '  {0x%x, SM_OP_%s, %d, %d, %d, %d, %d, %d, %s, {0x%016xu, 0x%016xu}, "%s"},' % (
                row['opcode'], identifier(row['op']), first[0], first[1], first[2],
                len(row['operands']), len(row['mods']), len(row['when']),
                'true' if row['uniform'] else 'false', known & (1 << 64) - 1, known >> 64,
                row['text'].replace('\1', '\\1')))
    out += ['const struct sm_isa_operand sm_isa_operands[] = {'] + operand_lines + ['};', '']
    out += ['const uint16_t sm_isa_operand_refs[] = {',
            '  ' + ', '.join(map(str, refs)), '};', '']
    out += ['const struct sm_isa_mod sm_isa_mods[] = {'] + mod_lines + ['};', '']
    out += ['const struct sm_isa_selector sm_isa_selectors[] = {'] + selector_lines + ['};', '']
    out += ['const struct sm_isa_row sm_isa_rows[SM_ISA_ROWS] = {'] + row_lines + ['};', '']
    starts, i = [], 0
    for opcode in range(8192):
        while i < len(isa.rows) and isa.rows[i]['opcode'] < opcode:
            i += 1
        starts.append(i)
    starts.append(len(isa.rows))
    out += ['const uint16_t sm_isa_first[8193] = {']
    for i in range(0, len(starts), 16):
        out.append('  ' + ' '.join('%d,' % s for s in starts[i:i + 16]))
    out += ['};', '', 'const char *const sm_op_names[SM_OP_COUNT] = {']
    out += ['  "%s",' % op for op in isa.ops] + ['};', '']
    return '\n'.join(out)


def execution(isa):
    out = ['/* Generated by isagen.py from sm87.isa: do not edit. */',
           '#ifndef TEGRACL_SM_EXECUTION_GEN_H', '#define TEGRACL_SM_EXECUTION_GEN_H', '',
           '#include <stdint.h>', '']
    for group, arguments in isa.arguments.items():
        out.append('struct sm_arguments_%s {' % group)
        out += ['  %s %s;' % (kind, name) for name, kind in arguments.items()]
        out += ['};', '']
    out += ['/* X(group): handlers with the same arguments */', '#define SM_ARGUMENTS(X) \\']
    out += ['  X(%s) \\' % group for group in isa.arguments] + ['']
    out += ['/* X(name) */', '#define SM_HANDLERS(X) \\']
    out += ['  X(%s) \\' % name for name in isa.handlers]
    out += ['', '/* X(name, text) */', '#define SM_CLASSES(X) \\']
    out += ['  X(%s, "%s") \\' % (name.upper(), text) for name, text in isa.classes.items()]
    out += ['', '/* X(operation, class, space, access): those that are executed */',
            '#define SM_EXECUTED(X) \\']
    out += ['  X(%s, %s, %s, %s) \\' % (identifier(op), does.klass.upper(), does.access[0].upper(),
                                       does.access[1].upper()) for op, does in isa.does.items()]
    out += ['', '/* X(name): functions that choose handlers or lower, besides generated ones */']
    for macro, member in (('SM_CHOICES', 'choose'), ('SM_LOWERINGS', 'lower')):
        names = sorted({getattr(does, member) for does in isa.does.values()} - {None})
        out += ['#define %s(X) \\' % macro] + ['  X(%s) \\' % name for name in names] + ['']
    out += ['#endif', '']
    return '\n'.join(out)


OUTPUTS = {'header': header, 'tables': tables, 'execution': execution, 'lowering': lowering}


def main(argv):
    if len(argv) not in (3, 4) or argv[2] not in ('check', *OUTPUTS):
        sys.stderr.write(__doc__)
        return 2
    try:
        isa = parse(argv[1])
    except Refused as e:
        sys.stderr.write('%s\n' % e)
        return 1
    if argv[2] != 'check':
        with open(argv[3], 'w') as f:
            f.write(OUTPUTS[argv[2]](isa))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
