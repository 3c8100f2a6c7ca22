"""Generates random statements for one work-item, and for all work-items together."""
from expressions import Expressions
from kinds import COUNTERS, IN_BYTES, Place, Struct, Type


class Statements(Expressions):
    """Base class of Program, whose __init__ and make set the attributes."""

    # ---- statements -----------------------------------------------------------------------

    def declare(self, kind, fixed=False, length=1, text=None):
        """Declares and initialises a private variable: a number, an array or a structure."""
        name, space = self.name("v"), "private"
        if isinstance(kind, Struct) or length > 1:
            self.put(f"{kind} {name}{f'[{length}]' if length > 1 else ''} = {{0}};")
            self.fill(Place(kind, name, length))
        else:
            text = text or self.expression(kind, 3)
            space = "volatile" if self.chance(25) else space
            self.put(f"{'volatile ' if space == 'volatile' else ''}{kind} {name} = {text};")
        self.scopes[-1].append(Place(kind, name, length, fixed, space))

    def fill(self, place):
        """Assigns a value to every number in the lvalue."""
        if place.length > 1:
            i = self.name("i")
            self.open(f"for (int {i} = 0; {i} < {place.length}; {i}++)")
            self.scopes[-1].append(Place(Type("int"), i, fixed=True))
            self.fill(Place(place.type, f"{place.text}[{i}]"))
            self.close()
        elif isinstance(place.type, Struct):
            fields = place.type.fields[:1] if place.type.is_union else place.type.fields
            for field, kind, length in fields:
                self.fill(Place(kind, f"{place.text}.{field}", length))
        else:
            self.put(f"{place.text} = {self.expression(place.type, 2)};")

    def target(self):
        return self.random.choice(self.places(lambda p: not p.fixed))

    def assign(self):
        place = self.target()
        if isinstance(place.type, Struct) and self.chance(3):
            others = self.places(lambda p: p.type == place.type)
            self.put(f"{self.index(place, 1)} = {self.index(self.random.choice(others), 1)};")
            return
        text, t = self.reach(place, 2)
        if t.lanes > 1 and t.lanes != 3 and self.chance(3):
            count = self.random.choice([n for n in (1, 2, 4, 8) if n <= t.lanes])
            lanes = self.random.sample(range(t.lanes), count)
            part = Type(t.base, count)
            value = self.expression(part, 3)
            self.put(f"{text}.s{''.join('%x' % n for n in lanes)} = {value};")
        elif not t.is_float and self.chance(4):
            sign = self.random.choice("&|^")
            self.put(f"{text} {sign}= {self.expression(t, 3)};")
        else:
            self.put(f"{text} = {self.expression(t, 4)};")

    def move(self):
        """Generates vload and vstore at the alignment of an element."""
        found = self.places(lambda p: isinstance(p.type, Type) and p.type.lanes == 1 and
                            p.length >= 16 and p.space != "constant" and not p.fixed)
        if not found:
            return self.assign()
        place = self.random.choice(found)
        t = Type(place.type.base, self.random.choice([2, 3, 4, 8, 16]))
        most = place.length // t.lanes - 1
        shift = self.random.randrange(place.length - (most + 1) * t.lanes + 1)
        index = f"{self.expression(Type('uint'), 2)} % {most + 1}"
        if self.chance(2):
            self.declare(t, text=f"vload{t.lanes}({index}, {place.text} + {shift})")
        else:
            value = self.expression(t, 3)
            self.put(f"vstore{t.lanes}({value}, {index}, {place.text} + {shift});")

    def call(self):
        if not self.functions or self.calls_left <= 0:
            return self.assign()
        self.calls_left -= 1
        name, result, parameters = self.random.choice(self.functions)
        arguments = []
        for kind, space in parameters:
            if space is None:
                if isinstance(kind, Struct):
                    found = self.places(lambda p: p.type == kind)
                    if not found:
                        return self.assign()
                    arguments.append(self.index(self.random.choice(found), 1))
                else:
                    arguments.append(self.expression(kind, 2))
                continue
            spaces = (space,) if space != "GENERIC" else ("GENERIC", "private", "local", "global")
            found = self.places(lambda p: p.type == kind and p.space in spaces and
                                (not p.fixed or space == "constant"))
            if not found:
                return self.assign()
            place = self.random.choice(found)
            if space == "GENERIC":
                name += "_" + place.space
            arguments.append(f"&{self.index(place, 1)}")
        text = f"{name}({', '.join(['in'] + arguments)})"
        if isinstance(result, Struct):
            found = self.places(lambda p: p.type == result and not p.fixed)
            place = f"{self.index(self.random.choice(found), 1)} = " if found else ""
            self.put(f"{place}{text};")
        else:
            self.declare(result, text=text)

    def branch(self, depth):
        self.open(f"if ({self.condition(3)})")
        self.block(depth - 1)
        if self.chance(2):
            self.close(" else {")
            self.indent += 1
            self.scopes.append([])
            self.block(depth - 1)
        self.close()

    def loop(self, depth):
        r = self.random
        i, label = self.name("i"), self.name("end")
        count = (str(r.randrange(1, 5)) if self.chance(2) else
                 f"({self.expression(Type('int'), 2)} & 3)")
        kind = r.randrange(3)
        if kind == 0:
            head = f"for (int {i} = 0; {i} < {count}; {i}++)"
        else:
            self.put(f"int {i} = {count};")
            head = f"while ({i}-- > 0)" if kind == 1 else "do"
        self.loops.append(label)
        self.open(head)
        self.scopes[-1].append(Place(Type("int"), i, fixed=True))
        self.block(depth - 1)
        self.close(f" while ({i}-- > 0);" if kind == 2 else "")
        self.loops.pop()
        if label in self.gone:
            self.put(f"{label}:;")

    def leave(self):
        inside = [label for label in self.loops if label]
        if not inside:
            return self.assign()
        choices = ["break", "continue"] if self.loops[-1] else ["continue"]
        if len(inside) > 1 or not self.loops[-1]:
            choices.append(f"goto {inside[0]}")
        text = self.random.choice(choices)
        if text.startswith("goto"):
            self.gone.add(inside[0])
        self.put(f"if ({self.condition(2)}) {text};")

    def switch(self, depth):
        r = self.random
        t = Type(r.choice(["int", "uint", "long", "uchar", "short"]))
        dense = self.chance(2)
        values = list(range(r.randrange(2, 8))) if dense else r.sample(range(0, 100, 3), 5)
        mask = 7 if dense else 127
        self.open(f"switch ({self.expression(t, 3)} & {mask})")
        r.shuffle(values)
        default = r.randrange(len(values) + 1)
        self.loops.append(None)
        for number, value in enumerate(values):
            self.put("default:" if number == default else f"case {value}:")
            self.open("")
            self.block(depth - 1, 2)
            self.close()
            if not self.chance(3):
                self.put("break;")
        self.loops.pop()
        self.close()

    def atomic(self):
        number = self.random.randrange(COUNTERS)
        operation = ["add", "xor", "min", "max", "or", "and", "sub"][number % 7]
        where = self.random.choice(["counters", "near"]) if self.has_near else "counters"
        self.put(f"atomic_{operation}(&{where}[{number}], {self.expression(Type('uint'), 3)});")

    def block(self, depth, most=4):
        for _ in range(self.random.randrange(1, most + 1)):
            self.statement(depth)

    def statement(self, depth):
        self.budget = 20
        r = self.random
        if self.left <= 0:
            return self.assign()
        self.left -= 1
        if depth > 0 and self.chance(3):
            return r.choice([self.branch, self.branch, self.loop, self.loop, self.switch])(depth)
        choice = r.randrange(12)
        if choice < 2:
            self.declare(self.any_type() if not self.chance(5) else r.choice(self.structs))
        elif choice < 3:
            self.move()
        elif choice < 5:
            self.call()
        elif choice < 6:
            self.leave()
        elif choice < 7 and not self.in_function:
            self.atomic()
        elif choice < 8 and self.in_function and self.chance(3):
            self.put(f"if ({self.condition(2)}) return {self.result(self.in_function)};")
        elif choice < 9 and not self.in_function:
            self.fold(r.choice(self.places(lambda p: True)))
        else:
            self.assign()

    # ---- statements that all work-items must reach ----------------------------------------

    def exchange(self):
        """Each work-item writes an element of a local array and reads another work-item's."""
        r = self.random
        place = r.choice(self.shared)
        text, t = self.inside(f"{place.text}[lid]", place.type, 0)
        self.put(f"{text} = {self.expression(t, 3)};")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        other = text.replace("[lid]", f"[(lid * {r.choice([1, 3, 5])} + {r.randrange(99)}) % LS]")
        self.declare(t, text=other)
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")

    def collective(self):
        if self.version == "CL1.2":
            return self.exchange()
        t = Type(self.random.choice(["int", "uint", "long", "ulong"]))
        operation = self.random.choice(["reduce", "scan_inclusive", "scan_exclusive"])
        which = self.random.choice(["add", "min", "max"])
        value = self.expression(t, 3)
        if which == "add" and t.is_signed:
            value += " & 0xffff"
        name = f"{operation}_{which}"
        self.collectives.add((name, t))
        self.declare(t, text=f"{name}_{t}(gathered, lid, {value})")

    def copy(self):
        place = self.random.choice(self.areas)
        t = place.type
        offset = self.random.randrange(IN_BYTES // t.size - place.length)
        event = self.name("event")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.put(f"event_t {event} = async_work_group_copy({place.text}, "
                 f"((global const {t} *)in) + {offset}, {place.length}, 0);")
        self.put(f"wait_group_events(1, &{event});")
        index = self.expression(Type("uint"), 2)
        self.declare(t, text=f"{place.text}[{index} & {place.length - 1}]")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")

    def uniform(self, depth):
        r = self.random
        for _ in range(r.randrange(1, 4)):
            self.budget = 20
            if depth and self.chance(5):
                i = self.name("i")
                self.open(f"for (int {i} = 0; {i} < {r.randrange(2, 4)}; {i}++)")
                self.scopes[-1].append(Place(Type("int"), i, fixed=True))
                self.uniform(depth - 1)
                self.close()
            elif depth and not self.portable and self.chance(4):
                bit, mask = r.randrange(8), r.randrange(2)
                self.open(f"if ((n >> {bit} & 1) ^ (get_group_id(0) & {mask}))")
                self.uniform(depth - 1)
                self.close()
            elif self.chance(2):
                r.choice([self.exchange, self.collective, self.copy])()
            else:
                self.left = max(self.left, 3)
                self.statement(3)

    # ---- the parts of a program -----------------------------------------------------------

    def fold(self, place):
        text, t = self.reach(place, 1)
        self.put(f"h = hash_{t}(h, {text});")
