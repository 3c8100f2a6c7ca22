#!/usr/bin/env python3
"""Prints a PTX module for the disassembly test. Each kernel has one operation; together they
cover the operations, types and modifiers of sm_87."""
import itertools
import sys

HEAD = '.version 7.8\n.target sm_87\n.address_size 64\n'
KERNELS_IN_MODULE = 500
REGISTER = {'pred': 'p', '8': 'h', '16': 'h', '32': 'r', '64': 'd'}


def width(t):
    if t == 'pred':
        return t
    if t in ('f16x2', 'bf16x2'):
        return '32'
    if t in ('bf16',):
        return '16'
    return t.lstrip('busf').split('x')[0]


def move_type(t):
    return {'8': 'b16', '16': 'b16', '32': 'b32', '64': 'b64'}[width(t)]


def kernel(name, text, dst, srcs, uniform=False):
    """Returns a kernel with one instruction: text, in which {a}, {b} and {c} are operands and
    {d} is the result. Operands come from memory, or from parameters if uniform."""
    regs = ('  .reg .pred p<9>;\n  .reg .b16 h<9>;\n  .reg .b32 r<9>;\n  .reg .b64 d<9>;\n'
            '  .reg .b64 g<4>;\n')
    body = '  ld.param.u64 g0, [in];\n  ld.param.u64 g1, [out];\n'
    names, params = {}, '.param .u64 in, .param .u64 out'
    for i, (letter, t) in enumerate(zip('abcd', srcs), 1):
        w = width(t)
        load = {'8': 'u8', 'pred': 'b32'}.get(w, 'b' + w)
        if uniform:
            params += ', .param .%s q%d' % (load.replace('b', 'u'), i)
            load = '  ld.param.%s %%s, [q%d];\n' % (load, i)
        else:
            load = '  ld.global.%s %%s, [g0+%d];\n' % (load, i * 16)
        if w == 'pred':
            body += load % 'r8' + '  setp.ne.b32 p%d, r8, 0;\n' % i
            names[letter] = 'p%d' % i
        else:
            names[letter] = '%s%d' % (REGISTER[w], i)
            body += load % names[letter]
    w = width(dst)
    names['d'] = 'p0' if w == 'pred' else REGISTER[w] + '0'
    body += '  ' + text.format(**names) + ';\n'
    if w == 'pred':
        body += '  selp.b32 r0, 1, 0, p0;\n  st.global.b32 [g1], r0;\n'
    else:
        body += '  st.global.%s [g1], %s;\n' % ({'8': 'u8'}.get(w, 'b' + w), names['d'])
    return '.visible .entry %s(%s)\n{\n%s%s  ret;\n}\n' % (name, params, regs, body)


def holds(to, source):
    """Returns whether integer type to can represent all values of type source."""
    if to[0] == source[0]:
        return int(to[1:]) >= int(source[1:])
    return to[0] == 's' and int(to[1:]) > int(source[1:])


def operations():
    """Yields (instruction, type of result, types of sources)."""
    ints = ['u16', 's16', 'u32', 's32', 'u64', 's64']
    three, two, one = '{d}, {a}, {b}, {c}', '{d}, {a}, {b}', '{d}, {a}'
    for t in ints:
        for op in ('add', 'sub', 'min', 'max', 'div', 'rem', 'mul.lo', 'mul.hi'):
            yield '%s.%s %s' % (op, t, two), t, [t, t]
        for op in ('mad.lo', 'mad.hi', 'sad'):
            yield '%s.%s %s' % (op, t, three), t, [t] * 3
        for op in ('neg', 'abs'):
            if t[0] == 's':
                yield '%s.%s %s' % (op, t, one), t, [t]
        for op in ('shr',):
            yield '%s.%s %s' % (op, t, two), t, [t, 'u32']
        if t[1:] != '64':
            wide = t[0] + str(2 * int(t[1:]))
            yield 'mul.wide.%s %s' % (t, two), wide, [t, t]
            yield 'mad.wide.%s %s' % (t, three), wide, [t, t, wide]
        if t[1:] != '16':
            yield 'bfe.%s %s' % (t, three), t, [t, 'u32', 'u32']
            yield 'bfind.%s %s' % (t, one), 'u32', [t]
            yield 'bfind.shiftamt.%s %s' % (t, one), 'u32', [t]
    for t in ('b16', 'b32', 'b64'):
        for op in ('and', 'or', 'xor'):
            yield '%s.%s %s' % (op, t, two), t, [t, t]
        yield 'not.%s %s' % (t, one), t, [t]
        yield 'cnot.%s %s' % (t, one), t, [t]
        yield 'shl.%s %s' % (t, two), t, [t, 'u32']
        if t != 'b16':
            yield 'popc.%s %s' % (t, one), 'u32', [t]
            yield 'clz.%s %s' % (t, one), 'u32', [t]
            yield 'brev.%s %s' % (t, one), t, [t]
            yield 'bfi.%s {d}, {a}, {b}, {c}, 7' % t, t, [t, t, 'u32']
    for lut in (0x80, 0xfe, 0x96, 0x1b, 0xe8):
        yield 'lop3.b32 %s, %d' % (three, lut), 'b32', ['b32'] * 3
    for mode in ('', '.f4e', '.b4e', '.rc8', '.ecl', '.ecr', '.rc16'):
        yield 'prmt.b32%s %s' % (mode, three), 'b32', ['b32'] * 3
    for direction, mode in itertools.product('lr', ('clamp', 'wrap')):
        yield 'shf.%s.%s.b32 %s' % (direction, mode, three), 'b32', ['b32'] * 3
        yield 'shf.%s.%s.b32 {d}, {a}, {b}, 5' % (direction, mode), 'b32', ['b32'] * 2
    for mode, s in itertools.product(('clamp', 'wrap'), 'us'):
        yield 'szext.%s.%s32 %s' % (mode, s, two), 'b32', ['b32'] * 2
        yield 'bmsk.%s.b32 %s' % (mode, two), 'b32', ['b32'] * 2
    for a, b in itertools.product('us', repeat=2):
        yield 'dp4a.%s32.%s32 %s' % (a, b, three), 'b32', ['b32'] * 3
        for half in ('lo', 'hi'):
            yield 'dp2a.%s.%s32.%s32 %s' % (half, a, b, three), 'b32', ['b32'] * 3
    compare = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']
    unordered = ['equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan']
    for t in ints + ['b16', 'b32', 'b64', 'f32', 'f64', 'f16', 'f16x2']:
        some = compare if t[0] not in 'b' else compare[:2]
        if 'f' in t:
            some = compare + unordered
        for c in some:
            if t == 'f16x2':
                yield 'setp.%s.%s {d}|p7, {a}, {b}' % (c, t), 'pred', [t, t]
                yield 'set.%s.%s.%s %s' % (c, t, t, two), 'b32', [t, t]
            else:
                yield 'setp.%s.%s %s' % (c, t, two), 'pred', [t, t]
                for bop in ('and', 'or', 'xor'):
                    second = '' if t == 'f16' else '|p7'
                    yield ('setp.%s.%s.%s {d}%s, {a}, {b}, {c}' % (c, bop, t, second), 'pred',
                           [t, t, 'pred'])
        if t[0] == 'f' and t in ('f32',):
            for c in compare + unordered:
                yield 'setp.%s.ftz.%s %s' % (c, t, two), 'pred', [t, t]
                yield 'set.%s.u32.%s %s' % (c, t, two), 'b32', [t, t]
                yield 'set.%s.ftz.f32.%s %s' % (c, t, two), 'b32', [t, t]
    for t in ('b16', 'b32', 'b64', 'f32', 'f64'):
        yield 'selp.%s {d}, {a}, {b}, {c}' % t, t, [t, t, 'pred']
    rounding = ['.rn', '.rz', '.rm', '.rp']
    for r in rounding:
        for ftz, sat in itertools.product(('', '.ftz'), ('', '.sat')):
            for op in ('add', 'sub', 'mul'):
                yield '%s%s%s%s.f32 %s' % (op, r, ftz, sat, two), 'f32', ['f32'] * 2
                yield '%s%s%s%s.f32 {d}, {a}, 0f3fc00000' % (op, r, ftz, sat), 'f32', ['f32']
            yield 'fma%s%s%s.f32 %s' % (r, ftz, sat, three), 'f32', ['f32'] * 3
            yield 'fma%s%s%s.f32 {d}, {a}, 0f40000000, {b}' % (r, ftz, sat), 'f32', ['f32'] * 2
            yield 'fma%s%s%s.f32 {d}, {a}, {b}, 0f40000000' % (r, ftz, sat), 'f32', ['f32'] * 2
        for op in ('add', 'sub', 'mul', 'div'):
            yield '%s%s.f64 %s' % (op, r, two), 'f64', ['f64'] * 2
            yield '%s%s.f64 {d}, {a}, 0d3ff8000000000000' % (op, r), 'f64', ['f64']
        yield 'fma%s.f64 %s' % (r, three), 'f64', ['f64'] * 3
        yield 'fma%s.f64 {d}, {a}, {b}, 0d4000000000000000' % r, 'f64', ['f64'] * 2
        yield 'fma%s.f64 {d}, {a}, 0d4000000000000000, {b}' % r, 'f64', ['f64'] * 2
        for ftz in ('', '.ftz'):
            for op in ('rcp', 'sqrt'):
                yield '%s%s%s.f32 %s' % (op, r, ftz, one), 'f32', ['f32']
            yield 'div%s%s.f32 %s' % (r, ftz, two), 'f32', ['f32'] * 2
        for op in ('rcp', 'sqrt'):
            yield '%s%s.f64 %s' % (op, r, one), 'f64', ['f64']
    for op, ftz in itertools.product(('sin', 'cos', 'ex2', 'lg2', 'rcp', 'rsqrt', 'sqrt'), ('', '.ftz')):
        yield '%s.approx%s.f32 %s' % (op, ftz, one), 'f32', ['f32']
    for op in ('rcp.approx.ftz', 'rsqrt.approx.ftz', 'rsqrt.approx'):
        yield '%s.f64 %s' % (op, one), 'f64', ['f64']
    yield 'tanh.approx.f32 ' + one, 'f32', ['f32']
    for t in ('f16', 'f16x2'):
        yield 'tanh.approx.%s %s' % (t, one), t, [t]
        yield 'ex2.approx.%s %s' % (t, one), t, [t]
    for op in ('min', 'max'):
        for ftz, nan, sign in itertools.product(('', '.ftz'), ('', '.NaN'), ('', '.xorsign.abs')):
            for t in ('f32', 'f16', 'f16x2'):
                yield '%s%s%s%s.%s %s' % (op, ftz, nan, sign, t, two), t, [t, t]
            if not ftz:
                for t in ('bf16', 'bf16x2'):
                    yield '%s%s%s.%s %s' % (op, nan, sign, t, two), t, [t, t]
        yield '%s.f64 %s' % (op, two), 'f64', ['f64'] * 2
    for t in ('f16', 'f16x2'):
        for ftz, sat in itertools.product(('', '.ftz'), ('', '.sat')):
            for op in ('add', 'sub', 'mul'):
                yield '%s%s%s.%s %s' % (op, ftz, sat, t, two), t, [t, t]
            yield 'fma.rn%s%s.%s %s' % (ftz, sat, t, three), t, [t] * 3
        for ftz in ('', '.ftz'):
            yield 'fma.rn%s.relu.%s %s' % (ftz, t, three), t, [t] * 3
            yield 'neg%s.%s %s' % (ftz, t, one), t, [t]
            yield 'abs%s.%s %s' % (ftz, t, one), t, [t]
    for t in ('bf16', 'bf16x2'):
        yield 'fma.rn.%s %s' % (t, three), t, [t] * 3
        yield 'fma.rn.relu.%s %s' % (t, three), t, [t] * 3
        yield 'neg.%s %s' % (t, one), t, [t]
        yield 'abs.%s %s' % (t, one), t, [t]
    for op, t, ftz in itertools.product(('neg', 'abs'), ('f32', 'f64'), ('', '.ftz')):
        if not (ftz and t == 'f64'):
            yield '%s%s.%s %s' % (op, ftz, t, one), t, [t]
    for kind in ('finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal'):
        for t in ('f32', 'f64'):
            yield 'testp.%s.%s %s' % (kind, t, one), 'pred', [t]
    every = ['u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64']
    floats = ['f16', 'f32', 'f64']
    for to, source in itertools.product(every, every):
        for sat in ('',) if holds(to, source) else ('', '.sat'):
            yield 'cvt%s.%s.%s %s' % (sat, to, source, one), to, [source]
    for to, source, r in itertools.product(every, floats, ('.rni', '.rzi', '.rmi', '.rpi')):
        for ftz, sat in itertools.product(('', '.ftz'), ('', '.sat')):
            if not (ftz and source != 'f32'):
                yield 'cvt%s%s%s.%s.%s %s' % (r, ftz, sat, to, source, one), to, [source]
    for to, source, r in itertools.product(floats, every, rounding):
        yield 'cvt%s.%s.%s %s' % (r, to, source, one), to, [source]
    for to, source in itertools.product(floats, floats):
        narrow = int(to[1:]) < int(source[1:])
        for r in rounding if narrow else ('.rni', '.rzi', '.rmi', '.rpi') if to == source else ('',):
            for ftz, sat in itertools.product(('', '.ftz'), ('', '.sat')):
                if ftz and 'f32' not in (to, source):
                    continue
                yield 'cvt%s%s%s.%s.%s %s' % (r, ftz, sat, to, source, one), to, [source]
    for r, relu in itertools.product(('.rn', '.rz'), ('', '.relu')):
        for t in ('f16x2', 'bf16x2'):
            yield 'cvt%s%s.%s.f32 %s' % (r, relu, t, two), t, ['f32'] * 2
        for t in ('f16', 'bf16'):
            yield 'cvt%s%s.%s.f32 %s' % (r, relu, t, one), t, ['f32']
    yield 'cvt.rna.tf32.f32 ' + one, 'b32', ['f32']
    for t in ('u16', 's16'):
        yield 'cvt.pack.sat.%s.s32 %s' % (t, two), 'b32', ['s32'] * 2
    for t in ('u8', 's8', 'u4', 's4', 'u2', 's2'):
        yield 'cvt.pack.sat.%s.s32.b32 %s' % (t, three), 'b32', ['s32'] * 3
    for op in ('add', 'sub', 'mad.lo', 'mad.hi'):
        for s in ('u32', 's32', 'u64', 's64'):
            sources = 3 if op[0] == 'm' else 2
            carry = 'madc' + op[3:] if op[0] == 'm' else op + 'c'
            rest = ', '.join('{%s}' % x for x in 'abc'[:sources])
            yield ('%s.cc.%s {d}, %s; %s.cc.%s {d}, {d}, %s; %s.%s {d}, {d}, %s' %
                   (op, s, rest, carry, s, rest[5:], carry, s, rest[5:])), s, [s] * sources
    for op, t in itertools.product(('vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax'), ('u32', 's32')):
        yield '%s.%s.%s.%s %s' % (op, t, t, t, two), t, [t, t]
    for op in ('vadd2', 'vsub2', 'vavrg2', 'vabsdiff2', 'vmin2', 'vmax2', 'vadd4', 'vsub4', 'vavrg4',
               'vabsdiff4', 'vmin4', 'vmax4'):
        for t, tail in itertools.product(('u32', 's32'), ('', '.sat', '.add')):
            yield '%s.%s.%s.%s%s %s' % (op, t, t, t, tail, three), t, [t] * 3
    spaces = ('', '.global', '.shared')
    for space, op in itertools.product(spaces, ('and', 'or', 'xor', 'exch', 'cas')):
        for t in ('b32', 'b64'):
            tail = ', {b}' if op == 'cas' else ''
            yield 'atom%s.%s.%s {d}, [g1], {a}%s' % (space, op, t, tail), t, [t, t]
    for space, t in itertools.product(spaces, ('u32', 's32', 'u64', 's64')):
        for op in ('min', 'max'):
            yield 'atom%s.%s.%s {d}, [g1], {a}' % (space, op, t), t, [t]
            yield 'red%s.%s.%s [g1], {a}; mov.b%s {d}, 0' % (space, op, t, t[1:]), t, [t]
    for space, t in itertools.product(spaces, ('u32', 's32', 'u64', 'f32', 'f64')):
        yield 'atom%s.add.%s {d}, [g1], {a}' % (space, t), t, [t]
        yield 'red%s.add.%s [g1+8], {a}; mov.b%s {d}, {a}' % (space, t, t[1:]), t, [t]
    for space, t in itertools.product(spaces, ('f16x2', 'f16')):
        yield 'atom%s.add.noftz.%s {d}, [g1], {a}' % (space, t), t, [t]
    for space, op in itertools.product(spaces, ('inc', 'dec')):
        yield 'atom%s.%s.u32 {d}, [g1], {a}' % (space, op), 'u32', ['u32']
        yield 'red%s.%s.u32 [g1], {a}; mov.b32 {d}, 0' % (space, op), 'u32', ['u32']
    for order, scope in itertools.product(('relaxed', 'acquire', 'release', 'acq_rel'),
                                          ('cta', 'gpu', 'sys')):
        for space in spaces:
            yield 'atom.%s.%s%s.add.u32 {d}, [g1], {a}' % (order, scope, space), 'u32', ['u32']
            if order in ('relaxed', 'acquire'):
                for t in ('u8', 'u16', 'u32', 'u64'):
                    yield 'ld.%s.%s%s.%s {d}, [g1+4096]' % (order, scope, space, t), t, []
            if order in ('relaxed', 'release'):
                for t in ('u8', 'u16', 'u32', 'u64'):
                    yield 'st.%s.%s%s.%s [g1+64], {a}; mov.%s {d}, {a}' % (
                        order, scope, space, t, move_type(t)), t, [t]
    for cop, t in itertools.product(('.ca', '.cg', '.cs', '.lu', '.cv', '.nc'),
                                    ('u8', 's8', 'u16', 's16', 'b32', 'b64')):
        yield 'ld.global%s.%s {d}, [g0+512]' % (cop, t), t, []
    for hint in ('.L1::evict_normal', '.L1::evict_unchanged', '.L1::evict_first', '.L1::evict_last',
                 '.L1::no_allocate', '.L2::64B', '.L2::128B', '.L2::256B'):
        yield 'ld.global%s.b32 {d}, [g0+512]' % hint, 'b32', []
        yield 'ld.global.nc%s.b32 {d}, [g0+512]' % hint, 'b32', []
    for cop, t in itertools.product(('.wb', '.cg', '.cs', '.wt'), ('u8', 'u16', 'b32', 'b64')):
        yield 'st.global%s.%s [g1+512], {a}; mov.%s {d}, {a}' % (cop, t, move_type(t)), t, [t]
    for mode, mask in itertools.product(('up', 'down', 'bfly', 'idx'), ('{c}', '-1')):
        for b in ('{b}', '3'):
            for clamp in ('31', 'r7'):
                yield ('mov.b32 r7, %%clock; shfl.sync.%s.b32 {d}|p7, {a}, %s, %s, %s' %
                       (mode, b, clamp, mask)), 'b32', ['b32'] * 3
    for mode in ('all', 'any', 'uni'):
        yield 'vote.sync.%s.pred {d}, {a}, {b}' % mode, 'pred', ['pred', 'b32']
    yield 'vote.sync.ballot.b32 {d}, {a}, {b}', 'b32', ['pred', 'b32']
    yield 'activemask.b32 {d}', 'b32', []
    for t in ('b32', 'b64'):
        yield 'match.any.sync.%s {d}, {a}, {b}' % t, 'b32', [t, 'b32']
        yield 'match.all.sync.%s {d}|p7, {a}, {b}' % t, 'b32', [t, 'b32']
    for op, t in itertools.product(('add', 'min', 'max'), ('u32', 's32')):
        yield 'redux.sync.%s.%s {d}, {a}, {b}' % (op, t), 'b32', ['b32'] * 2
    for op in ('and', 'or', 'xor'):
        yield 'redux.sync.%s.b32 {d}, {a}, {b}' % op, 'b32', ['b32'] * 2
    for op in ('popc.u32',):
        yield 'bar.red.%s {d}, 1, {a}' % op, 'b32', ['pred']
        yield 'barrier.red.%s {d}, {b}, {c}, {a}' % op, 'b32', ['pred', 'b32', 'b32']
    for op in ('and', 'or'):
        yield 'bar.red.%s.pred {d}, 1, {a}' % op, 'pred', ['pred']
        yield 'barrier.red.%s.pred {d}, {b}, {a}' % op, 'pred', ['pred', 'b32']
    for space in ('global', 'shared', 'local', 'const'):
        yield 'isspacep.%s {d}, g0' % space, 'pred', []
    for fence in ('fence.sc.cta', 'fence.sc.gpu', 'fence.sc.sys', 'fence.acq_rel.cta',
                  'fence.acq_rel.gpu', 'fence.acq_rel.sys', 'membar.cta', 'membar.gl', 'membar.sys',
                  'prefetch.global.L1 [g0]', 'prefetch.global.L2 [g0]', 'prefetch.L1 [g0]',
                  'prefetchu.L1 [g0]', 'applypriority.global.L2::evict_normal [g0], 128',
                  'discard.global.L2 [g0], 128', 'nanosleep.u32 20', 'pmevent 3', 'brkpt', 'trap',
                  'bar.warp.sync 15', 'exit'):
        yield fence + '; mov.b32 {d}, 0', 'b32', []
    for name in ('tid.x', 'ntid.y', 'laneid', 'warpid', 'nwarpid', 'ctaid.z', 'nctaid.x', 'smid', 'nsmid',
                 'lanemask_eq', 'lanemask_le', 'lanemask_lt', 'lanemask_ge', 'lanemask_gt', 'clock',
                 'clock_hi', 'pm0', 'pm1', 'pm2', 'pm3', 'pm4', 'pm5', 'pm6', 'pm7', 'envreg3',
                 'globaltimer_lo', 'globaltimer_hi', 'total_smem_size', 'dynamic_smem_size',
                 'reserved_smem_offset_begin'):
        yield 'mov.u32 {d}, %%%s' % name, 'b32', []
    for s in 'us':
        for part in ('lo', 'hi'):
            yield 'mul24.%s.%s32 %s' % (part, s, two), 'b32', ['b32'] * 2
            yield 'mad24.%s.%s32 %s' % (part, s, three), 'b32', ['b32'] * 3
    for op in ('add.sat.s32', 'sub.sat.s32'):
        yield '%s %s' % (op, two), 's32', ['s32'] * 2
    yield 'mad24.hi.sat.s32 ' + three, 's32', ['s32'] * 3
    policy = 'createpolicy.fractional.L2::evict_last.b64 d8, 0.5; '
    for text in ('ld.global.L2::cache_hint.b32 {d}, [g0], d8',
                 'st.global.L2::cache_hint.b32 [g0], {a}, d8; mov.b32 {d}, {a}',
                 'atom.global.add.L2::cache_hint.u32 {d}, [g0], {a}, d8',
                 'red.global.add.L2::cache_hint.u32 [g0], {a}, d8; mov.b32 {d}, {a}'):
        yield policy + text, 'b32', ['b32']
    for size, tail in itertools.product((4, 8, 16), ('', ', {a}', ', p1')):
        for hint in ('', '.L2::cache_hint'):
            yield ('setp.ne.b32 p1, {a}, 0; %scp.async.c%s.shared.global%s [{a}], [g0+64], %d%s%s; '
                   'mov.b32 {d}, {a}' % (policy if hint else '', 'g' if size == 16 else 'a', hint,
                                         size, tail, ', d8' if hint else ''), 'b32', ['b32'])
    for text in ('init.shared.b64 [{a}], {b}', 'inval.shared.b64 [{a}]',
                 'arrive.shared.b64 d8, [{a}]', 'arrive.noComplete.shared.b64 d8, [{a}], {b}',
                 'arrive_drop.shared.b64 d8, [{a}]', 'test_wait.shared.b64 p7, [{a}], g0',
                 'test_wait.parity.shared.b64 p7, [{a}], {b}', 'arrive.b64 d8, [g1]',
                 'arrive_drop.b64 d8, [g1]'):
        yield 'mbarrier.%s; mov.b32 {d}, {a}' % text, 'b32', ['b32'] * 2
    for form in ('.noinc.shared.b64 [{a}]', '.shared.b64 [{a}]', '.b64 [g1]'):
        yield 'cp.async.mbarrier.arrive%s; mov.b32 {d}, {a}' % form, 'b32', ['b32']
    for num, names in ((1, '{{{d}}}'), (2, '{{{d}, r7}}'), (4, '{{{d}, r5, r6, r7}}')):
        for trans in ('', '.trans'):
            yield ('ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [{a}+16]' % (num, trans, names),
                   'b32', ['b32'])
    yield 'movmatrix.sync.aligned.m8n8.trans.b16 {d}, {a}', 'b32', ['b32']
    for name in ('gridid', 'clock64', 'globaltimer', 'pm0_64', 'pm7_64'):
        yield 'mov.u64 {d}, %%%s' % name, 'b64', []


def products():
    """Yields (mma instruction, registers of d, a, b and c, selector of sparse elements)."""
    for k, c in itertools.product((8, 16), ('f16', 'f32')):
        yield 'mma.sync.aligned.m16n8k%d.row.col.%s.f16.f16.%s' % (k, c, c), (
            2 if c == 'f16' else 4, k // 4, k // 8, 2 if c == 'f16' else 4), None
        for select in range(32 // k):
            yield 'mma.sp.sync.aligned.m16n8k%d.row.col.%s.f16.f16.%s' % (2 * k, c, c), (
                2 if c == 'f16' else 4, k // 4, k // 4, 2 if c == 'f16' else 4), select
    for k, (t, narrower) in itertools.product((8, 16), (('bf16', 1), ('tf32', 2))):
        types = '.f32.%s.%s.f32' % (t, t)
        yield 'mma.sync.aligned.m16n8k%d.row.col%s' % (k // narrower, types), (4, k // 4, k // 8, 4), None
        for select in range(32 // k):
            yield ('mma.sp.sync.aligned.m16n8k%d.row.col%s' % (2 * k // narrower, types),
                   (4, k // 4, k // 4, 4), select)
    for bits, sat, sa, sb in itertools.product((8, 4), ('', '.satfinite'), 'us', 'us'):
        k, types = 128 // bits, '.row.col%s.s32.%s%d.%s%d.s32' % (sat, sa, bits, sb, bits)
        yield 'mma.sync.aligned.m8n8k%d%s' % (k, types), (2, 1, 1, 2), None
        yield 'mma.sync.aligned.m16n8k%d%s' % (k, types), (4, 2, 1, 4), None
        yield 'mma.sync.aligned.m16n8k%d%s' % (2 * k, types), (4, 4, 2, 4), None
        for select in range(2):
            yield 'mma.sp.sync.aligned.m16n8k%d%s' % (2 * k, types), (4, 2, 2, 4), select
        yield 'mma.sp.sync.aligned.m16n8k%d%s' % (4 * k, types), (4, 4, 4, 4), 0
    for op in ('xor', 'and'):
        types = '.row.col.s32.b1.b1.s32.%s.popc' % op
        yield 'mma.sync.aligned.m8n8k128' + types, (2, 1, 1, 2), None
        yield 'mma.sync.aligned.m16n8k128' + types, (4, 2, 1, 4), None
        yield 'mma.sync.aligned.m16n8k256' + types, (4, 4, 2, 4), None
    for mode in ('rn', 'rz', 'rm', 'rp'):
        yield 'wmma.mma.sync.aligned.row.col.m8n8k4.%s.f64.f64.f64.f64' % mode, (2, 1, 1, 2), None


def product_kernel(name, text, counts, select):
    kind = 'f64' if 'f64' in text else 'b32'
    body = '  .reg .%s d<4>, a<4>, b<4>, c<4>;\n  .reg .b32 e;\n  .reg .b64 g<2>;\n' % kind
    body += '  ld.param.u64 g0, [in];\n  ld.param.u64 g1, [out];\n  ld.global.b32 e, [g0];\n'
    operands = []
    for letter, count in zip('dabc', counts):
        operands.append('{%s}' % ', '.join('%s%d' % (letter, i) for i in range(count)))
        for i in range(count if letter != 'd' else 0):
            body += '  ld.global.%s %s%d, [g0+%d];\n' % (kind, letter, i, 'abc'.index(letter) * 64 + i * 8)
    body += '  %s %s%s;\n' % (text, ', '.join(operands), '' if select is None else ', e, %d' % select)
    for i in range(counts[0]):
        body += '  st.global.%s [g1+%d], d%d;\n' % (kind, i * 8, i)
    return '.visible .entry %s(.param .u64 in, .param .u64 out)\n{\n%s  ret;\n}\n' % (name, body)


def kernels():
    for i, (op, dst, srcs) in enumerate(operations()):
        yield kernel('k%d' % i, op.replace('%%', '%'), dst, srcs)
        if srcs:
            yield kernel('u%d' % i, op.replace('%%', '%'), dst, srcs, uniform=True)
    for i, product in enumerate(products()):
        yield product_kernel('p%d' % i, *product)


def modules():
    """Yields modules of some hundred kernels. ptxas 13.0 crashes on thousands in one module."""
    everything = list(kernels())
    for first in range(0, len(everything), KERNELS_IN_MODULE):
        yield HEAD + ''.join(everything[first:first + KERNELS_IN_MODULE])


if __name__ == '__main__':
    sys.stdout.write(HEAD + ''.join(kernels()))
