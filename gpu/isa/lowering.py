"""Generates the functions that lower decoded instructions to the interpreter's uops, as a part
of isagen.py. They come from the lines "does", which the first comment of sm87.isa explains.
"""
import re


class Refused(Exception):
    pass


def identifier(text):
    return re.sub(r'\W', '_', text).upper()


# Members of struct sm_uop, besides the handler's arguments, that a line "does" may set.
UOP_FIELDS = ('sat',)
SOURCES = ('reg', 'ureg', 'const', 'bindless')
INPUT_PREDICATES = {'p': 0, 'q': 1, 'r': 2}


class Lowering:
    """Generates the body of an operation's lowering function from its line "does"."""
    def __init__(self, isa, op):
        self.isa, self.does = isa, isa.does[op]
        self.rows = [row for row in isa.rows if row['op'] == op]
        self.mods = {}  # name: values
        self.ambiguous = set()  # those with other values in another row
        for row in self.rows:
            for name, _, values in row['mods']:
                if self.mods.setdefault(name, values) != values:
                    self.ambiguous.add(name)
        self.read = {*self.does.unused, *isa.hints}  # modifiers that need no other word
        self.handlers, handler = self.handler()
        self.group = isa.group.get(self.handlers[0])
        self.unplaced = set(self.does.words) - {'all'} | {*self.does.neutral, *self.does.unused}
        self.unplaced -= set(self.mods)
        self.body = []
        for name, value in self.does.arguments.items():
            self.argument(name, value)
        self.common_modifiers()
        for mod, texts in self.does.only.items():
            self.body.append('l->unsupported |= %s;' % ' && '.join(
                '%s != %s' % (self.modifier(mod), self.constant(mod, text)) for text in texts))
        if self.does.lower:
            handler = 'sm_lower_%s(l, %s)' % (self.does.lower, handler)
        else:
            self.operands()
            for mod in self.mods:
                if mod not in self.read:
                    raise Refused('modifier %s has no use' % mod)
        if self.unplaced:
            raise Refused('has no operand %s' % ', '.join(sorted(self.unplaced)))
        if self.does.choose:
            handler = 'sm_choose_%s(l, %s)' % (self.does.choose, handler)
        self.body.append('return %s;' % handler)

    def modifier(self, name):
        if name not in self.mods:
            raise Refused('has no modifier %r' % name)
        if name in self.ambiguous:
            raise Refused('modifier %s has other values in another row' % name)
        self.read.add(name)
        return 'modifier(l, SM_MOD_%s)' % identifier(name)

    def constant(self, mod, text):
        values = self.mods[mod]
        if text not in self.isa.values[values]:
            raise Refused('%r is no value of %s' % (text, values))
        return 'SM_%s_%s' % (identifier(values), 'NONE' if text == '-' else identifier(text))

    def choice(self, value):
        """Splits MODIFIER[A,B,...] into the modifier and the choice for each of its values."""
        m = re.fullmatch(r'(\w+)\[([^]]*)\]', value)
        if not m:
            return None
        mod, choices = m.group(1), m.group(2).split(',')
        self.modifier(mod)
        if len(choices) != len(self.isa.values[self.mods[mod]]):
            raise Refused('%s has %d values, not %d' %
                          (mod, len(self.isa.values[self.mods[mod]]), len(choices)))
        return mod, choices

    def indexed(self, mod, kind, numbers):
        return '((const %s[]){%s})[%s]' % (kind, ', '.join(map(str, numbers)), self.modifier(mod))

    def handler(self):
        chosen = self.choice(self.does.handler)
        mod, handlers = chosen if chosen else (None, [self.does.handler])
        for handler in handlers:
            if handler not in self.isa.handlers:
                raise Refused('unknown handler %r' % handler)
        names = ['SM_H_' + handler for handler in handlers]
        return handlers, self.indexed(mod, 'uint16_t', names) if chosen else names[0]

    def value(self, text):
        """Returns a value of a line "does" in C, or None if it comes from an operand."""
        if re.fullmatch(r'\d+|SM_\w+', text):
            return text
        m = re.fullmatch(r'(\w+)([!=]=)(.+)', text)
        if m:
            return '%s %s %s' % (self.modifier(m.group(1)), m.group(2),
                                 self.constant(m.group(1), m.group(3)))
        chosen = self.choice(text)
        if chosen:
            return self.indexed(chosen[0], 'uint8_t', chosen[1])
        return self.modifier(text) if text in self.mods else None

    def place(self, name):
        if name in UOP_FIELDS:
            return 'uint8_t', 'u->%s' % name
        kind = self.isa.arguments.get(self.group, {}).get(name)
        if not kind:
            raise Refused('handler %s has no argument %r' % (self.handlers[0], name))
        return kind, 'u->%s.%s' % (self.group, name)

    def argument(self, name, text):
        kind, place = self.place(name)
        value = self.value(text)
        if not value:  # operands() stores it
            self.unplaced.add(text.split('.')[0])
        elif re.search('[!=]=', value):
            self.body.append('%s = %s;' % (place, value))
        else:
            self.body.append('%s = (%s)%s;' % (place, kind, value))

    def common_modifiers(self):
        """Returns the arguments that are in the same member of each uop."""
        for mod in self.mods:
            if mod in ('rnd', 'ftz') or mod == 'sat' and self.mods[mod] == 'sat':
                self.body.append('u->%s = (uint8_t)%s;' % ('round' if mod == 'rnd' else mod,
                                                           self.modifier(mod)))
            elif mod == 'fmz':
                self.body.append('u->ftz = %s != SM_FMZ_NONE;' % self.modifier(mod))

    def words(self, operand):
        text = self.does.words.get(operand.name, self.does.words.get('all', '1'))
        if text not in self.mods:
            value = self.value(text)
            if not value:
                raise Refused('has no modifier %r' % text)
            return value
        # Names of formats end with their size in bits.
        sizes = {'64': 2, '128': 4}
        bits = [re.search(r'(?<!\d)(64|128)(?!\d)', t) for t in self.isa.values[self.mods[text]]]
        return self.indexed(text, 'uint8_t', [sizes[b.group()] if b else 1 for b in bits])

    def operands(self):
        """Returns the statements for the operands, which must be the same for all rows."""
        longest = []
        for row in self.rows:
            self.slot = 0
            statements = [self.operand(o) for o in row['operands']]
            short, long = sorted((longest, statements), key=len)
            if long[:len(short)] != short:
                raise Refused('rows differ in their operands')
            longest = long
        while longest and longest[-1] == ['next_operand(l);']:
            longest.pop()
        self.body += sum(longest, [])

    def operand(self, o):
        out = []
        self.unplaced.discard(o.name)
        for name, text in self.does.arguments.items():
            if text == o.name:
                kind, place = self.place(name)
                return ['%s = (%s)next_operand(l)->value;' % (place, kind)]
            if text == o.name + '.select':
                kind, place = self.place(name)
                out.append('%s = (%s)peek_operand(l)->select;' % (place, kind))
        written = 'dst' in o.flags
        if o.name in self.does.unused or o.kind in ('pr', 'upr'):
            return ['next_operand(l);']
        if o.name in self.does.neutral:
            return ['expect_neutral(l, %d);' % (o.neutral or 0)]
        if o.kind == 'mem':
            self.slot = 1
            return ['sm_lower_address(l);']
        if o.kind in ('pred', 'upred') and written:
            return ['u->p%s = lower_result_predicate(l);' % o.name[-1]]
        if o.kind in ('pred', 'upred') and o.name[-1] in INPUT_PREDICATES:
            return ['lower_source_predicate(l, %d);' % INPUT_PREDICATES[o.name[-1]]]
        if o.kind in SOURCES and written:
            return ['lower_result(l, %s);' % self.words(o)]
        if o.kind in SOURCES or o.plain_name == 'I32':
            if not self.slot and not o.name.endswith('Ra') and o.name != 'URi':
                self.slot = 1  # where an operand B is in other instructions
            out.append('lower_source(l, %d, %s);' % (self.slot, self.words(o)))
            self.slot += 1
            return out
        raise Refused('operand %s has no use' % o.name)


def lowering(isa):
    """Generates the C file: a function for each distinct body, and the table of operations."""
    out = ['/* Generated by isagen.py from sm87.isa: do not edit. */',
           '#include "emulator/sm/lower/lower.h"', '']
    functions = {}  # body: name
    lines = []
    for op, does in isa.does.items():
        body = '\n'.join('  ' + line for line in does.body)
        if body not in functions:
            functions[body] = 'lower_' + identifier(op).lower()
            if re.search(r'\bu->', body):
                body = '  struct sm_uop *u = l->u;\n' + body
            unused = '' if re.search(r'\bl\b', body) else '  (void)l;\n'
            out += ['static unsigned lower_%s(struct lowering *l) {' % identifier(op).lower(),
                    unused + body, '}', '']
            body = '\n'.join('  ' + line for line in does.body)
        lines.append('  [SM_OP_%s] = %s,' % (identifier(op), functions[body]))
    out += ['unsigned (*const sm_lower_operation[SM_OP_COUNT])(struct lowering *l) = {'] + lines
    out += ['};', '']
    return '\n'.join(out)
