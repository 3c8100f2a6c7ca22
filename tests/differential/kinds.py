"""The types of the random programs: numbers, vectors and structures, and lvalues of these types."""
from dataclasses import dataclass

SIZES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8,
         "ulong": 8, "float": 4, "double": 8}
INTEGERS = [name for name in SIZES if name not in ("float", "double")]
GOOD_FLOATS = [0.0, -0.0, 1.0, -1.5, 3.0, 0.1, 1e10, -7e-3, 123456.75, 2.0**31, -2.0**63, 1e-40]

# Sizes of the buffers in bytes: read-only data, and global and local memory per work-item.
IN_BYTES, SCRATCH_BYTES, ROOM_BYTES, COUNTERS = 4096, 512, 128, 16
SCRATCH_AREA = 256  # of one array in global memory, of one type, for one work-item


@dataclass(frozen=True)
class Type:
    base: str
    lanes: int = 1

    def __str__(self):
        return self.base + (str(self.lanes) if self.lanes > 1 else "")

    @property
    def size(self):
        return SIZES[self.base] * (4 if self.lanes == 3 else self.lanes)

    align = size

    @property
    def is_float(self):
        return self.base in ("float", "double")

    @property
    def is_signed(self):
        return self.base[0] != "u" and not self.is_float

    @property
    def bits(self):
        return 8 * SIZES[self.base]

    def of(self, base):
        return Type(base, self.lanes)

    def unsigned(self):
        return self.of(integer(self.bits, False))

    def signed(self):
        return self.of(integer(self.bits, True))


def integer(bits, is_signed):
    return ("" if is_signed else "u") + {8: "char", 16: "short", 32: "int", 64: "long"}[bits]


@dataclass(frozen=True)
class Struct:
    """A struct, or a union of integers that all have the same size. fields: (name, type, length)."""
    name: str
    fields: tuple
    is_union: bool = False
    is_packed: bool = False

    def __str__(self):
        return ("union " if self.is_union else "struct ") + self.name

    @property
    def align(self):
        return 1 if self.is_packed else max(t.align for _, t, _ in self.fields)

    @property
    def size(self):
        if self.is_union:
            return max(t.size * n for _, t, n in self.fields)
        end = 0
        for _, field, length in self.fields:
            align = 1 if self.is_packed else field.align
            end = (end + align - 1) // align * align + field.size * length
        return (end + self.align - 1) // self.align * self.align

    def define(self):
        lines = [f"  {t} {n}{f'[{k}]' if k > 1 else ''};" for n, t, k in self.fields]
        tail = "} __attribute__((packed));" if self.is_packed else "};"
        return [f"{self} {{"] + lines + [tail]


@dataclass
class Place:
    """A value that can be read, and also assigned unless fixed. Arrays are indexed."""
    type: object
    text: str
    length: int = 1  # a power of two
    fixed: bool = False
    space: str = "private"
