#!/usr/bin/env python3
"""Makes copy_kernels.h, the machine code of copy_kernels.cu, with NVRTC for sm_87.

    runtime/launch/generate_copy_kernels.py [LIBNVRTC]   writes it (default: libnvrtc.so.13)
    runtime/launch/generate_copy_kernels.py --check      fails if the header is of another source

The words depend on NVRTC's release, which the header names; the tests execute them.
"""
import ctypes
import hashlib
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE, HEADER = HERE / "copy_kernels.cu", HERE / "copy_kernels.h"
SHT_PROGBITS = 1
PARAM_OFFSET = 0x160  # of constant bank 0 for sm_87: docs/hardware/cubin.md


def compile_source(library):
    nvrtc = ctypes.CDLL(library)
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE.read_bytes(), b"copy_kernels.cu", 0, None, None)
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


def header(elf, version):
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()
    out = ["/* Machine code of copy_kernels.cu for SM 8.7, made by generate_copy_kernels.py with",
           f" * NVRTC {version}. Source: sha256 {digest}",
           " */", "#ifndef TEGRACL_RUNTIME_COPY_KERNELS_H", "#define TEGRACL_RUNTIME_COPY_KERNELS_H",
           "", "#include <stdint.h>", ""]
    parts = sections(elf)
    bad = [n for n in parts if n.startswith((".nv.constant2", ".nv.constant3", ".nv.constant4", ".nv.global",
                                             ".rel.text", ".rela.text", ".nv.shared"))]
    if bad:
        sys.exit(f"the loader of these kernels does not know {bad}")
    for what in ("copy", "fill"):
        for element in (1, 4, 16):
            name = f"{what}_{element}"
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
        digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()
        if digest not in HEADER.read_text():
            sys.exit("copy_kernels.h is not of this copy_kernels.cu: run generate_copy_kernels.py")
        return
    elf, version = compile_source(argv[0] if argv else "libnvrtc.so.13")
    HEADER.write_text(header(elf, version))


main(sys.argv[1:])
