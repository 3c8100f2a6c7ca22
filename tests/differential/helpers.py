"""Handwritten functions that the random programs call, for the types that they use."""
from kinds import SIZES, Type

# With PORTABLE, a program uses no optional features of OpenCL C 3.0.
TABLE = """\
#ifdef PORTABLE
#define TABLE constant
#else
#define TABLE global const
#endif"""

COLLECTIVE = """\
TYPE NAME_TYPE(local ulong *gathered, uint lid, TYPE x) {
#ifdef PORTABLE
  gathered[lid] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  TYPE r = START;
  for (uint i = 0; i < END; i++) r = STEP;
  barrier(CLK_LOCAL_MEM_FENCE);
  return r;
#else
  return work_group_NAME(x);
#endif
}"""
COLLECTIVE_ENDS = {"reduce": "LS", "scan_inclusive": "lid + 1", "scan_exclusive": "lid"}


def collective(name, t):
    """Returns the function for a work_group_ function of a type."""
    operation, which = name.rsplit("_", 1)
    low = f"((TYPE)1 << {t.bits - 1})" if t.is_signed else "(TYPE)0"
    start = {"add": "0", "min": f"~{low}", "max": low}[which]
    step = {"add": "r + (TYPE)gathered[i]"}.get(which, f"{which}(r, (TYPE)gathered[i])")
    text = COLLECTIVE.replace("START", start).replace("STEP", step)
    text = text.replace("END", COLLECTIVE_ENDS[operation])
    return text.replace("NAME", name).replace("TYPE", str(t)).splitlines()


def variants(name, lines):
    """Returns a function with a generic pointer; in the portable form, one for each address
    space."""
    spaces = ("private", "local", "global")
    plain = [line.replace("_GENERIC", "").replace("GENERIC ", "") for line in lines]
    names = [f"#define {name}_{space} {name}" for space in spaces]
    return ["#ifdef PORTABLE"] + [line.replace("GENERIC", space) for space in spaces
                                  for line in lines] + ["#else"] + names + plain + ["#endif"]


def number_helpers(body):
    """Returns the hash_ and bits_ functions that the text calls."""
    lines = []
    for base in SIZES:
        for lanes in (1, 2, 3, 4, 8, 16):
            t = Type(base, lanes)
            u = t.unsigned()
            uses = [f"{f}_{t}(" for f in ("hash", "bits")]
            if not any(use in body for use in uses):
                continue
            if t.is_float:
                nan = "0x7fc00000u" if base == "float" else "0x7ff8000000000000ul"
                condition = f"({t.signed()})isnan(x)" if lanes == 1 else "isnan(x)"
                lines.append(f"{u} bits_{t}({t} x) {{ return select(as_{u}(x), ({u}){nan}, "
                             f"{condition}); }}")
            bits = f"bits_{t}(x)" if t.is_float else f"as_{u}(x)"
            each = ["b"] if lanes == 1 else [f"b.s{n:x}" for n in range(lanes)]
            lines.append(f"ulong hash_{t}(ulong h, {t} x) {{ {u} b = {bits}; " + " ".join(
                f"h = (h ^ {e}) * 0x9E3779B97F4A7C15ul; h ^= h >> 29;" for e in each) +
                " return h; }")
    return lines
