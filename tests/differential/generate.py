#!/usr/bin/env python3
"""Generates random OpenCL C programs without undefined behaviour, each from a seed.

generate.py SEED prints the program of that seed. It has one kernel, `test`; the first lines
say how it is launched and what its arguments by value are. A program computes with integers
and exact floating point of all types and widths, in private, local, global and constant
memory, through structures, pointers, functions and nested control flow, and combines all
values into one number for each work-item. The order of work-items does not affect the result.

Undefined behaviour is avoided: divisors are odd or positive, signed sums are computed in
unsigned types, indices are masked, floating point is converted to integers with _sat, and
NaNs get a fixed pattern before their bits are used.
"""
import random
import struct
import sys

import helpers
from kinds import (GOOD_FLOATS, ROOM_BYTES, SCRATCH_AREA, SCRATCH_BYTES, SIZES, Place, Struct,
                   Type)
from statements import Statements


class Program(Statements):
    """Returns the program of a seed as source."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        r = self.random
        self.version = r.choice(["CL1.2", "CL2.0", "CL3.0"])
        self.portable = not self.chance(8)  # PoCL 3.1 miscompiles barriers under conditions
        self.local = r.choice([(1,), (7,), (32,), (33,), (64,), (96,), (8, 4), (5, 3, 2), (128,)])
        self.groups = tuple(r.choice([1, 2, 3]) for _ in self.local)
        self.lines, self.indent = [], 0
        self.scopes = [[]]
        self.functions, self.structs, self.collectives = [], [], set()
        self.names = 0
        self.loops = []  # labels of the loops around, for goto; None where no break may stand
        self.budget = 0
        self.in_function = None
        self.calls_left = 0
        self.make()

    def make_struct(self):
        r = self.random
        name = self.name("s")
        if self.chance(4):
            fields = [("u", Type("ulong"), 1)]
            fields += r.sample([("a", Type("uint", 2), 1), ("b", Type("uchar", 8), 1),
                                ("c", Type("short"), 4), ("d", Type("long"), 1),
                                ("e", Type("char"), 8), ("f", Type("ushort", 4), 1)], 3)
            return Struct(name, tuple(fields), is_union=True)
        fields = []
        for number in range(r.randrange(1, 6)):
            nested = self.structs and self.chance(4)
            kind = r.choice(self.structs) if nested else self.any_type()
            fields.append((f"f{number}", kind, r.choice([1, 1, 1, 2, 4])))
        return Struct(name, tuple(fields), is_packed=self.chance(6))

    def make_constants(self):
        for _ in range(2):
            t, length = self.any_type(), self.random.choice([4, 8, 16])
            name = self.name("table")
            values = ", ".join(self.literal(t) for _ in range(length))
            space = "constant"
            if self.scopes[0] and self.version != "CL1.2" and self.chance(3):
                space = "TABLE"
            self.put(f"{space} {t} {name}[{length}] = {{{values}}};")
            self.scopes[0].append(Place(t, name, length, fixed=True, space="constant"
                                        if space == "constant" else "fixed"))

    def result(self, kind):
        if isinstance(kind, Struct):
            return self.random.choice(self.places(lambda p: p.type == kind)).text
        return self.expression(kind, 3)

    def make_function(self):
        r = self.random
        name = self.name("function")
        result = r.choice([self.any_type(), self.any_type(), r.choice(self.structs)])
        parameters, scope = [], []
        has_generic = self.version != "CL1.2"
        for number in range(r.randrange(1, 5)):
            kind = self.any_type() if not self.chance(4) else r.choice(self.structs)
            space = r.choice([None, None, "private", "local", "global", "constant"])
            is_new = all(s != "GENERIC" for _, s in parameters)
            if space not in (None, "constant") and is_new and has_generic and self.chance(2):
                space = "GENERIC"
            if space == "constant":
                kind = self.scopes[0][0].type
            elif space is not None and r.randrange(3):
                kind = self.pointed[0] if space == "local" else r.choice(self.pointed)
            parameters.append((kind, space))
            text = f"p{number}" if space is None else f"(*p{number})"
            scope.append(Place(kind, text, fixed=space == "constant", space=space or "private"))
        is_generic = any(space == "GENERIC" for _, space in parameters)
        start = len(self.lines)
        listed = ", ".join(f"{kind} p{n}" if space is None else f"{space} {kind} *p{n}"
                           for n, (kind, space) in enumerate(parameters))
        self.put(f"{'__attribute__((noinline)) ' if self.chance(2) else ''}{result} "
                 f"{name}{'_GENERIC' if is_generic else ''}(IN uchar *in, {listed})")
        self.scopes.append(scope)
        self.open("")
        self.in_function, self.left, self.gone, self.loops = result, 4, set(), []
        self.calls_left = 1
        if isinstance(result, Struct):
            self.budget = 30
            self.declare(result)
        else:
            self.declare(self.any_type())
        for _ in range(r.randrange(1, 4)):
            self.statement(2)
        self.budget = 30
        self.put(f"return {self.result(result)};")
        self.close()
        self.scopes.pop()
        self.in_function = None
        if is_generic:
            self.lines[start:] = helpers.variants(name, self.lines[start:])
        self.functions.append((name, result, parameters))

    def value_arguments(self):
        """Returns the arguments that the kernel gets by value, and their bytes."""
        kinds = [self.any_type() if not self.chance(3) else self.random.choice(self.structs)
                 for _ in range(self.random.randrange(0, 4))]
        return [(kind, f"a{number}", self.bytes_of(kind)) for number, kind in enumerate(kinds)]

    def bytes_of(self, kind):
        if isinstance(kind, Struct):
            if kind.is_union:
                return self.random.randbytes(kind.size)
            data = b""
            for _, field, length in kind.fields:
                align = 1 if kind.is_packed else field.align
                data += bytes(-len(data) % align)
                for _ in range(length):
                    data += self.bytes_of(field)
            return data + bytes(kind.size - len(data))
        if kind.is_float:
            count = kind.size // SIZES[kind.base]
            return struct.pack(f"<{count}{'f' if kind.base == 'float' else 'd'}",
                               *(self.random.choice(GOOD_FLOATS) for _ in range(count)))
        return self.random.randbytes(kind.size)

    def make_kernel(self):
        r = self.random
        values = self.value_arguments()
        listed = "".join(f", {kind} {name}_" for kind, name, _ in values)
        size = 1
        for count in self.local:
            size *= count
        self.local_size = size
        self.put(f"kernel void test(global ulong *out, IN uchar *in, global uchar *scratch, "
                 f"global uint *counters, local uchar *room, uint n{listed})")
        self.scopes.append([Place(kind, name) for kind, name, _ in values])
        self.open("")
        # In PoCL 3.1 all work-items share a structure that is passed by value.
        for kind, name, _ in values:
            self.put("#ifdef PORTABLE", f"{kind} {name} = {name}_;", "#else",
                     f"#define {name} {name}_", "#endif")
        self.put("const uint lid = get_local_id(0) + get_local_size(0) * (get_local_id(1) + "
                 "get_local_size(1) * get_local_id(2));",
                 "const uint group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + "
                 "get_num_groups(1) * get_group_id(2));",
                 "const uint gid = group * LS + lid;", "ulong h = gid;",
                 "local uint near[16];", "local ulong gathered[LS];")
        fixed = [Place(Type("uint"), name, fixed=True) for name in ("lid", "group", "gid", "n")]
        self.scopes[-1] += fixed
        self.left, self.gone, self.loops, self.calls_left = 10, set(), [], 3
        self.has_near = True
        self.shared, self.areas = [], []
        for kind in [self.any_type(), r.choice(self.structs)]:
            if kind.size * size > 8192:
                kind = Type("short", 4)
            place = Place(kind, self.name("shared"), size, space="local")
            self.put(f"local {kind} {place.text}[LS];")
            self.shared.append(place)
        t = self.any_integer(r.choice([1, 2, 4, 8, 16]))
        self.areas.append(Place(t, self.name("area"), 16, fixed=True, space="local"))
        self.put(f"local {t} {self.areas[0].text}[16];")
        for place in self.shared:
            self.budget = 10
            self.fill(Place(place.type, f"{place.text}[lid]"))
        self.put("if (lid < 16) near[lid] = lid * 0x01010101u;",
                 "if (lid == 0) for (uint i = LS; i < 16; i++) near[i] = i;",
                 "barrier(CLK_LOCAL_MEM_FENCE);")
        # Memory that only this work-item uses.
        for number in range(2):
            t = self.pointed[number]
            name = self.name("g")
            self.put(f"global {t} *{name} = (global {t} *)"
                     f"(scratch + gid * {SCRATCH_BYTES} + {number * SCRATCH_AREA});")
            place = Place(t, name, SCRATCH_AREA // t.size, space="global")
            self.budget = 10
            self.fill(place)
            self.scopes[-1].append(place)
        name = self.name("m")
        t = self.pointed[0]
        self.put(f"local {t} *{name} = (local {t} *)(room + lid * {ROOM_BYTES});")
        place = Place(t, name, ROOM_BYTES // t.size, space="local")
        self.fill(place)
        self.scopes[-1].append(place)
        for _ in range(3):
            self.budget = 10
            if self.chance(2):
                kind = self.any_type(1) if self.chance(2) else r.choice(self.structs)
                self.declare(kind, length=r.choice([n for n in (2, 4, 8, 16, 32)
                                                    if n * kind.size <= 1024]))
            else:
                self.declare(self.any_type() if self.chance(2) else r.choice(self.pointed))
        self.uniform(1)
        while self.left > 0:
            self.statement(3)
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        for place in [p for scope in self.scopes[1:] for p in scope]:
            self.budget = 4
            for _ in range(1 if place.length == 1 else 3):
                self.fold(place)
        self.put("for (uint i = 0; i < 16; i++) h = hash_uint(h, near[i]);")
        self.put("out[gid] = h;")
        self.close()
        self.values = values

    def make(self):
        r = self.random
        for _ in range(2):
            made = self.make_struct()
            while made.size > 512:
                made = self.make_struct()
            self.structs.append(made)
            self.put(*self.structs[-1].define())
        self.pointed = [self.any_type(r.choice([1, 1, 2, 4])) for _ in range(2)]
        self.has_near = False
        self.make_constants()
        for _ in range(r.randrange(1, 3)):
            self.make_function()
        self.make_kernel()

    @property
    def source(self):
        head = [f"// std={self.version} local={self.local} groups={self.groups} "
                f"portable={self.portable} values={[data.hex() for _, _, data in self.values]}",
                "#if __OPENCL_VERSION__ >= 120 && defined(cl_khr_fp64)",
                "#pragma OPENCL EXTENSION cl_khr_fp64 : enable", "#endif",
                "#pragma OPENCL FP_CONTRACT OFF", "#define IN global const",
                f"#define LS {self.local_size}u"] + helpers.TABLE.splitlines()
        for name, t in sorted(self.collectives, key=str):
            head += helpers.collective(name, t)
        return "\n".join(head + helpers.number_helpers("\n".join(self.lines)) + self.lines) + "\n"


if __name__ == "__main__":
    print(Program(int(sys.argv[1])).source, end="")
