#!/usr/bin/env python3
"""Makes the machine code of the driver's own kernels, with NVRTC for sm_87: a header for each .cu file.

    runtime/generate_kernels.py SOURCE.cu [LIBNVRTC]   writes SOURCE.h (default: libnvrtc.so.13)
    runtime/generate_kernels.py --check                fails if a header is of another source

The words depend on NVRTC's release, which the header names; the tests execute them.
"""
import ctypes
import hashlib
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
SHT_PROGBITS = 1
PARAM_OFFSET = 0x160  # of constant bank 0 for sm_87: docs/hardware/cubin.md


def compile_source(source, library):
    nvrtc = ctypes.CDLL(library)
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None)
    options = (ctypes.c_char_p * 1)(b"-arch=sm_87")
    if nvrtc.nvrtcCompileProgram(program, 1, options):
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        sys.exit(log.value.decode())
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return cubin.raw, f"{major.value}.{minor.value}"


def sections(elf):
    """name: (type, info, content)"""
    (shoff,) = struct.unpack_from("<Q", elf, 40)
    entry_size, count, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", elf, shoff + i * entry_size) for i in range(count)]
    text = elf[heads[names][4]:heads[names][4] + heads[names][5]]
    found = {}
    for name, kind, _, _, offset, size, _, info, _, _ in heads:
        title = text[name:text.index(b"\0", name)].decode()
        found[title] = (kind, info, elf[offset:offset + size])
    return found


def header(source, elf, version):
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    guard = f"TEGRACL_RUNTIME_{source.stem.upper()}_H"
    out = [f"/* Machine code of {source.name} for SM 8.7, made by generate_kernels.py with",
           f" * NVRTC {version}. Source: sha256 {digest}",
           " */", f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", ""]
    parts = sections(elf)
    bad = [n for n in parts if n.startswith((".nv.constant2", ".nv.constant3", ".nv.constant4", ".nv.global",
                                             ".rel.text", ".rela.text", ".nv.shared"))]
    if bad:
        sys.exit(f"the loader of these kernels does not know {bad}")
    names = [n.removeprefix(".text.") for n in parts if n.startswith(".text.")]
    for name in sorted(names, key=lambda n: [int(w) if w.isdigit() else w for w in n.split("_")]):
        _, info, code = parts[f".text.{name}"]
        bank = parts[f".nv.constant0.{name}"][2]
        words = struct.unpack(f"<{len(code) // 4}I", code)
        out.append(f"enum {{ REGISTERS_{name.upper()} = {info >> 24}, "
                   f"PARAMS_{name.upper()} = {len(bank) - PARAM_OFFSET} }};")
        out.append(f"static const uint32_t text_{name}[] = {{")
        for i in range(0, len(words), 8):
            out.append("    " + ", ".join(f"0x{w:08x}" for w in words[i:i + 8]) + ",")
        out += ["};", ""]
    return "\n".join(out + ["#endif", ""])


def main(argv):
    if argv == ["--check"]:
        for source in sorted(HERE.glob("*/*.cu")):
            if hashlib.sha256(source.read_bytes()).hexdigest() not in source.with_suffix(".h").read_text():
                sys.exit(f"{source.stem}.h is not of this {source.name}: run generate_kernels.py")
        return
    source = pathlib.Path(argv[0])
    elf, version = compile_source(source, argv[1] if len(argv) > 1 else "libnvrtc.so.13")
    source.with_suffix(".h").write_text(header(source, elf, version))


main(sys.argv[1:])
