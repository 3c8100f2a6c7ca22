"""Generates random expressions of any type without undefined behaviour, and the lines of the
program."""
from kinds import GOOD_FLOATS, IN_BYTES, INTEGERS, SIZES, Place, Struct, Type, integer

LANES = [1, 1, 1, 1, 2, 2, 3, 4, 4, 8, 16]


class Expressions:
    """Base class of Program, whose __init__ sets the attributes."""

    # ---- text -----------------------------------------------------------------------------

    def put(self, *lines):
        for line in lines:
            self.lines.append("  " * self.indent + line)

    def open(self, line):
        self.put(line + " {" if line else "{")
        self.indent += 1
        self.scopes.append([])

    def close(self, tail=""):
        self.scopes.pop()
        self.indent -= 1
        self.put("}" + tail)

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def chance(self, of):
        return self.random.randrange(of) == 0

    # ---- types and places -----------------------------------------------------------------

    def any_type(self, lanes=None):
        base = self.random.choice(INTEGERS + ["int", "uint", "float", "double"])
        return Type(base, lanes or self.random.choice(LANES))

    def any_integer(self, lanes=None):
        return Type(self.random.choice(INTEGERS), lanes or self.random.choice(LANES))

    def places(self, wanted):
        return [p for scope in self.scopes for p in scope if wanted(p)]

    def index(self, place, depth):
        if place.length == 1:
            return place.text
        number = (str(self.random.randrange(place.length)) if depth <= 0 or self.chance(3) else
                  f"({self.expression(Type('int'), depth - 1)} & {place.length - 1})")
        return f"{place.text}[{number}]"

    def inside(self, text, kind, depth):
        """Returns a path into a value down to a number, and the number's type."""
        while isinstance(kind, Struct):
            field, kind, length = self.random.choice(kind.fields)
            text = f"{text}.{field}"
            if length > 1:
                text = self.index(Place(kind, text, length), depth)
        return text, kind

    def reach(self, place, depth):
        return self.inside(self.index(place, depth), place.type, depth)

    # ---- expressions ----------------------------------------------------------------------

    def literal(self, t):
        r = self.random
        if t.is_float:
            text = repr(r.choice(GOOD_FLOATS + [r.uniform(-100, 100)]))
            text += "f" if t.base == "float" else ""
        else:
            edge = r.choice([0, 1, 2, 3, 7, 31, (1 << t.bits) - 1, 1 << (t.bits - 1),
                             (1 << (t.bits - 1)) - 1, r.getrandbits(t.bits), r.getrandbits(5)])
            text = f"0x{edge:x}" + ("ul" if t.bits == 64 else "u")
        return f"(({t}){f'({t.base})' if t.lanes > 1 else ''}{text})"

    def leaf(self, t, depth):
        r = self.random
        found = self.places(lambda p: p.type == t or isinstance(p.type, Struct))
        r.shuffle(found)
        for place in found[:3]:
            text, kind = self.reach(place, min(depth, 1))
            if kind == t:
                return text
        wider = self.places(lambda p: isinstance(p.type, Type) and p.type.base == t.base and
                            p.type.lanes > t.lanes and p.length == 1)
        if wider and not self.chance(3):
            place = r.choice(wider)
            return f"{place.text}.s" + "".join(
                "%x" % r.randrange(place.type.lanes) for _ in range(t.lanes))
        if self.chance(4) and t.lanes != 3:
            count = IN_BYTES // t.size
            index = self.expression(Type("uint"), 1) if depth > 1 else self.literal(Type("uint"))
            if t.is_float:  # of numbers that are no NaNs
                return f"convert_{t}(((IN {t.of('short')} *)in)[{index} & {count - 1}])"
            return f"((IN {t} *)in)[{index} & {count - 1}]"
        return self.literal(t)

    def expression(self, t, depth):
        if depth <= 0:
            return self.leaf(t, depth)
        self.budget -= 1
        if self.budget < 0 or self.chance(6):
            return self.leaf(t, depth)
        if t.lanes > 1 and self.chance(5):
            return self.composed(t, depth - 1)
        if self.chance(9):
            condition = self.condition(depth - 1)
            chosen = (self.expression(t, depth - 1) for _ in range(2))
            return self.cast(t, f"({condition} ? {' : '.join(chosen)})")
        return (self.real if t.is_float else self.whole)(t, depth - 1)

    def composed(self, t, depth):
        """Returns a vector made of parts, or a part of a vector."""
        r = self.random
        if t.lanes in (2, 4, 8) and self.chance(3):
            part = r.choice(["lo", "hi", "odd", "even"])
            return f"{self.expression(Type(t.base, 2 * t.lanes), depth)}.{part}"
        if self.chance(4) and t.lanes in (2, 4, 8, 16):
            source = Type(t.base, r.choice([2, 4, 8, 16]))
            mask = self.expression(t.unsigned(), depth)
            count = r.choice([1, 2])
            sources = ", ".join(self.expression(source, depth) for _ in range(count))
            return f"shuffle{'2' if count == 2 else ''}({sources}, {mask})"
        parts, left = [], t.lanes
        if self.chance(4):
            return f"(({t})({self.expression(Type(t.base), depth)}))"
        while left:
            lanes = r.choice([n for n in (1, 1, 2, 3, 4, 8) if n <= left])
            parts.append(self.expression(Type(t.base, lanes), depth - 1))
            left -= lanes
        return f"(({t})({', '.join(parts)}))"

    def condition(self, depth):
        """Returns a scalar that is true or false."""
        r = self.random
        if self.chance(5):
            t = self.any_integer(r.choice([2, 3, 4, 8, 16]))
            return f"{r.choice(['any', 'all'])}({self.comparison(t, depth)})"
        if self.chance(6):
            sign = r.choice(["&&", "||"])
            return f"({self.condition(depth - 1)} {sign} {self.condition(depth - 1)})"
        if self.chance(8):
            return f"!{self.condition(depth - 1)}"
        if depth <= 0 or self.chance(4):
            return f"({self.expression(Type('uint'), depth)} & {r.choice([1, 2, 3, 5])})"
        return self.comparison(self.any_type(1), depth)

    def comparison(self, t, depth):
        """Returns a comparison, whose type is int for scalars and signed integers of the same
        width for vectors."""
        r = self.random
        a, b = self.expression(t, depth), self.expression(t, depth)
        if t.is_float and self.chance(3):
            name = r.choice(["isless", "isgreaterequal", "isequal", "isunordered", "islessgreater"])
            return f"{name}({a}, {b})"
        return f"({a} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {b})"

    def bits_of(self, t, depth):
        """Returns the bits of a value of type t as an unsigned integer or vector."""
        e = self.expression(t, depth)
        if not t.is_float:
            return f"as_{t.unsigned()}({e})"
        return f"bits_{t}({e})"

    def whole(self, t, depth):
        return self.random.choice([
            self.bitwise, self.sum, self.sum, self.small, self.shift, self.quotient,
            self.compared, self.chosen, self.converted, self.converted, self.reinterpreted,
            self.builtin, self.builtin, self.element])(t, depth)

    def cast(self, t, text):
        """Scalar arithmetic is done in int or a wider type."""
        return f"(({t}){text})" if t.lanes == 1 else text

    def bitwise(self, t, depth):
        a = self.expression(t, depth)
        if self.chance(5):
            return self.cast(t, f"(~{a})")
        b = self.expression(Type(t.base) if self.chance(5) else t, depth)
        return self.cast(t, f"({a} {self.random.choice('&|^')} {b})")

    def sum(self, t, depth):
        a, b = self.expression(t, depth), self.expression(t, depth)
        sign = self.random.choice(["+", "-", "*"])
        if t.lanes == 1:
            wide = "ulong" if t.bits == 64 else "uint"
            return f"(({t})(({wide}){a} {sign} ({wide}){b}))"
        u = t.unsigned()
        return f"as_{t}(as_{u}({a}) {sign} as_{u}({b}))"

    def small(self, t, depth):
        """Returns signed arithmetic that cannot overflow."""
        mask = (1 << (t.bits // 2 - 1)) - 1
        a, b = (f"({self.expression(t, depth)} & ({t.base}){mask})" for _ in range(2))
        return self.cast(t, f"({a} {self.random.choice(['+', '-', '*'])} {b})")

    def shift(self, t, depth):
        a = self.expression(t, depth)
        b = (f"({t.base}){self.random.randrange(t.bits)}" if self.chance(2) else
             self.expression(t, depth))
        if self.chance(2):
            return self.cast(t, f"({a} >> {b})")
        u = t.unsigned()
        if t.lanes == 1:
            return f"(({t})(({u}){a} << {b}))" if t.bits >= 32 else f"(({t})((uint){a} << {b}))"
        return f"as_{t}(as_{u}({a}) << as_{u}(({t})({b})))"

    def quotient(self, t, depth):
        r = self.random
        a, b = self.expression(t, depth), self.expression(t, depth)
        if self.chance(2):
            b = f"({t.base}){r.choice([1, 2, 3, 5, 7, 10, 16, 100, 127])}"
        elif t.is_signed:
            b = f"(({b} & ({t.base})0x{(1 << (t.bits - 1)) - 1:x}) | ({t.base})1)"
            if self.chance(2):
                b = f"(-{b} - ({t.base})1)"  # -2 or less
        else:
            b = f"({b} | ({t.base})1)"
        return self.cast(t, f"({a} {r.choice('/%')} {b})")

    def compared(self, t, depth):
        other = self.any_type(t.lanes)
        text = self.comparison(other, depth)
        if t.lanes == 1:
            return f"(({t}){text})"
        return f"convert_{t}({text})"

    def chosen(self, t, depth):
        a, b = self.expression(t, depth), self.expression(t, depth)
        same = t.signed() if self.chance(2) else t.unsigned()
        kind = self.random.randrange(3)
        if kind == 0:
            return f"bitselect({a}, {b}, {self.expression(t, depth)})"
        if kind == 1 or t.lanes == 1:
            return f"select({a}, {b}, {self.expression(same, depth)})"
        return f"({self.expression(t.signed(), depth)} ? {a} : {b})"

    def converted(self, t, depth):
        other = self.any_type(t.lanes)
        e = self.expression(other, depth)
        if other.is_float:
            mode = self.random.choice(["", "_rte", "_rtz", "_rtp", "_rtn"])
            return f"convert_{t}_sat{mode}({e})"
        if t.lanes == 1 and self.chance(2):
            return f"(({t}){e})"
        return f"convert_{t}{self.random.choice(['', '_sat'])}({e})"

    def reinterpreted(self, t, depth):
        """Reinterprets bits as a vector of the same size with more, fewer or different elements."""
        sizes = [(base, SIZES[t.base] * t.lanes // SIZES[base]) for base in SIZES]
        found = [Type(base, n) for base, n in sizes
                 if n * SIZES[base] == SIZES[t.base] * t.lanes and
                 (n in (1, 2, 4, 8, 16) and t.lanes != 3 or n == t.lanes)]
        return f"as_{t}({self.bits_of(self.random.choice(found), depth)})"

    def element(self, t, depth):
        """Returns an element of a vector in memory at a computed index."""
        found = self.places(lambda p: isinstance(p.type, Type) and p.type.base == t.base and
                            p.type.lanes in (2, 4, 8, 16) and p.length == 1 and
                            p.space == "private" and not p.fixed)
        if t.lanes > 1 or not found:
            return self.leaf(t, depth)
        place = self.random.choice(found)
        index = self.expression(Type("uint"), depth - 1)
        return f"(({t} *)&{place.text})[{index} & {place.type.lanes - 1}]"

    def builtin(self, t, depth):
        r = self.random

        def call(names, count):
            arguments = (self.expression(t, depth) for _ in range(count))
            return f"{r.choice(names.split())}({', '.join(arguments)})"

        def limits():
            a, b, c = (self.expression(t, depth - 1) for _ in range(3))
            return f"clamp({a}, min({b}, {c}), max({b}, {c}))"

        def upsample():
            half = t.of(integer(t.bits // 2, t.is_signed))
            return (f"upsample({self.expression(half, depth)}, "
                    f"{self.expression(half.unsigned(), depth)})")

        def product():
            a, b = (f"({self.expression(t, depth)} & ({t.base})0x7fff)" for _ in range(2))
            return f"mad24({a}, {b}, {self.expression(t, depth)} >> ({t.base})8)"

        choices = [lambda: call("add_sat sub_sat hadd rhadd mul_hi max min rotate", 2),
                   lambda: call("clz popcount", 1),
                   lambda: call("mad_hi mad_sat", 3), limits,
                   lambda: f"as_{t}({call('abs', 1)})", lambda: f"as_{t}({call('abs_diff', 2)})"]
        choices += [upsample] if t.bits > 8 else []
        choices += [product] if t.bits == 32 else []
        return r.choice(choices)()

    def real(self, t, depth):
        r = self.random
        zero = "0.0f" if t.base == "float" else "0.0"
        modes = ["", "_rte", "_rtz", "_rtp", "_rtn"]

        def e(kind=t):
            return self.expression(kind, depth)

        choices = [lambda: f"({e()} {r.choice('+-*')} {e()})", lambda: f"fma({e()}, {e()}, {e()})",
                   lambda: f"(-{e()})",
                   # The sign of a zero result is unspecified.
                   lambda: f"({r.choice(['fmin', 'fmax'])}({e()}, {e()}) + {zero})",
                   lambda: f"{r.choice('floor ceil trunc rint round fabs'.split())}({e()})",
                   lambda: f"copysign({e()}, as_{t}({self.bits_of(t, depth)}))",
                   lambda: f"convert_{t}{r.choice(modes)}({e(self.any_type(t.lanes))})",
                   lambda: f"convert_{t}({e(self.any_integer(t.lanes))})",
                   lambda: f"select({e()}, {e()}, {e(t.signed())})", lambda: f"fmod({e()}, {e()})"]
        if t.base == "double":
            choices += [lambda: f"({e()} / {e()})", lambda: f"sqrt({e()})"]
        return r.choice(choices)()
