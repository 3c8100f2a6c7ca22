#!/usr/bin/python3
"""Compares CLBlast (Debian's libclblast1) with numpy: BLAS routines of the three levels, in its five
precisions, and the product of matrices that exchanges values between lanes by inline PTX.

    tests/apps/clblast.py          single and half precision
    tests/apps/clblast.py --all    double and complex as well (some minutes)
"""
import ctypes
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pyopencl as cl

# CLBlast's enumerations (clblast_c.h), which have the values of CBLAS
ROW_MAJOR, NO, TRANSPOSED, UPPER, LOWER, NON_UNIT, LEFT = map(
    ctypes.c_int, (101, 111, 112, 121, 122, 131, 141))


PRECISION_NUMBERS = {"H": 16, "S": 32, "D": 64, "C": 3232, "Z": 6464}


class Float2(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


class Double2(ctypes.Structure):
    _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double)]


# letter: numpy's type, the type for computing the expected value, the maximum error relative to
# the largest value, how a number is passed
PRECISIONS = {
    "S": (np.float32, np.float64, 1e-5, lambda a: ctypes.c_float(a.real)),
    "D": (np.float64, np.float64, 1e-13, lambda a: ctypes.c_double(a.real)),
    "C": (np.complex64, np.complex128, 1e-5, lambda a: Float2(a.real, a.imag)),
    "Z": (np.complex128, np.complex128, 1e-13, lambda a: Double2(a.real, a.imag)),
    "H": (np.float16, np.float64, 2e-2,
          lambda a: ctypes.c_ushort(int(np.float16(a.real).view(np.uint16)))),
}

blas = ctypes.CDLL("libclblast.so.1")
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
queue_handle = ctypes.c_void_p(queue.int_ptr)
rng = np.random.default_rng(1)
checked = 0


def buffer(array):
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(array))


def native(argument):
    """Converts an argument: a buffer to its handle, an integer to a size."""
    if isinstance(argument, cl.Buffer):
        return ctypes.c_void_p(argument.int_ptr)
    return ctypes.c_size_t(argument) if isinstance(argument, int) else argument


def call(name, *arguments):
    status = getattr(blas, "CLBlast" + name)(*map(native, arguments), ctypes.byref(queue_handle),
                                             None)
    assert status == 0, f"CLBlast{name} returned {status}"


def check(name, got, expected, kind, bound):
    global checked
    result = np.empty(np.shape(expected), kind)
    cl.enqueue_copy(queue, result, got)
    error = np.abs(result - expected).max()
    assert error <= bound * np.abs(expected).max(), f"{name}: error {error}"
    checked += 1


def override(kernel, letter, parameters):
    """Sets parameters of a kernel that CLBlast otherwise takes from its database."""
    count = len(parameters)
    names = (ctypes.c_char_p * count)(*(name.encode() for name in parameters))
    values = (ctypes.c_size_t * count)(*parameters.values())
    status = blas.CLBlastOverrideParameters(
        ctypes.c_void_p(context.devices[0].int_ptr), ctypes.c_char_p(kernel.encode()),
        ctypes.c_int(PRECISION_NUMBERS[letter]), ctypes.c_size_t(count), names, values)
    assert status == 0, f"CLBlastOverrideParameters returned {status}"


def run_shuffles():
    """CLBlast 1.5.3 uses inline PTX (shfl.sync) if a lane computes 32 columns; it has no wmma."""
    override("GemmRoutine", "S", {"XGEMM_MIN_INDIRECT_SIZE": 1})
    override("Xgemm", "S", {
        "GEMMK": 1, "KREG": 4, "KWG": 1, "KWI": 1, "MDIMA": 32, "MDIMC": 32, "MWG": 64, "NDIMB": 2,
        "NDIMC": 2, "NWG": 64, "SA": 0, "SB": 0, "STRM": 0, "STRN": 0, "VWM": 1, "VWN": 1})
    m, n, k = 65, 40, 100
    a, b, c = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
    bc = buffer(c)
    call("Sgemm", ROW_MAJOR, NO, NO, m, n, k, ctypes.c_float(.75), buffer(a), 0, k, buffer(b), 0, n,
         ctypes.c_float(-1.25), bc, 0, n)
    check("Sgemm with shuffles", bc, .75 * (a.astype(float) @ b) - 1.25 * c, np.float32, 1e-5)


def check_shuffles():
    """Runs that in another process, and counts the shuffles."""
    with tempfile.TemporaryDirectory() as folder:
        profile = f"{folder}/profile.json"
        subprocess.run([sys.executable, __file__, "--shuffles"], check=True,
                       env={**os.environ, "TEGRACL_EMULATOR": "profile:" + profile})
        with open(profile) as file:
            kernels = {k["kernel"]: k["warp_instructions"] for k in json.load(file)["kernels"]}
    shuffles = kernels["Xgemm"].get("warp-wide", 0)
    assert shuffles > 0, f"no lane exchanged a value: {kernels}"
    return shuffles


def run(letter):
    kind, wide, bound, scalar = PRECISIONS[letter]

    def values(*shape):
        """Random values in the precision, stored in the type used for computing."""
        result = rng.uniform(-1, 1, shape)
        if wide is np.complex128:
            result = result + 1j * rng.uniform(-1, 1, shape)
        return result.astype(kind).astype(wide)

    def give(array):
        return buffer(array.astype(kind))

    def same(name, got, expected):
        check(letter + name, got, expected, kind, bound)

    n = 1000
    alpha, beta = 0.75, -1.25
    a_scalar, b_scalar = scalar(alpha), scalar(beta)
    x, y = values(n), values(n)
    bx, by, single = give(x), give(y), give(np.zeros(1))
    call(letter + "axpy", n, a_scalar, bx, 0, 1, by, 0, 1)
    same("axpy", by, alpha * x + y)
    call(letter + "swap", n, bx, 0, 1, by, 0, 1)
    same("swap", by, x)
    call(letter + ("dotu" if wide is np.complex128 else "dot"), n, single, 0, by, 0, 1, give(y), 0,
         1)
    check(letter + "dot", single, [np.dot(x, y)], kind, 20 * bound)
    if wide is not np.complex128:  # CLBlast 1.5.3 reads only the real parts
        index = buffer(np.zeros(1, np.uint32))
        call(f"i{letter}amax", n, index, 0, by, 0, 1)
        check(f"i{letter}amax", index, [np.argmax(np.abs(x))], np.uint32, 0)

    m, n, k = 65, 40, 100
    a, b, c, x, y = values(m, k), values(n, k), values(m, n), values(k), values(m)
    for name, matrix, swapped in (("gemv", a, NO), ("gemv, transposed", a.T, TRANSPOSED)):
        by = give(y)
        rows, columns = matrix.shape
        call(letter + "gemv", ROW_MAJOR, swapped, rows, columns, a_scalar, give(matrix), 0,
             columns, give(x), 0, 1, b_scalar, by, 0, 1)
        same(name, by, alpha * (a @ x) + beta * y)
    # from this size on CLBlast uses its second kernel for the matrix product
    for name, least in (("gemm", 1 << 20), ("gemm with copies", 1)):
        override("GemmRoutine", letter, {"XGEMM_MIN_INDIRECT_SIZE": least})
        bc = give(c)
        call(letter + "gemm", ROW_MAJOR, NO, TRANSPOSED, m, n, k, a_scalar, give(a), 0, k, give(b),
             0, k, b_scalar, bc, 0, n)
        same(name, bc, alpha * (a @ b.T) + beta * c)
    bc = give(a @ a.T)
    call(letter + "syrk", ROW_MAJOR, LOWER, NO, m, k, a_scalar, give(a), 0, k, scalar(0.0), bc, 0, m)
    product = a @ a.T
    same("syrk", bc, np.where(np.tri(m), alpha * product, product.astype(kind)))
    if letter != "H":  # none for half precision
        square = np.triu(values(m, m)) / m + np.eye(m)
        bc = give(c)
        call(letter + "trsm", ROW_MAJOR, LEFT, UPPER, NO, NON_UNIT, m, n, a_scalar, give(square), 0,
             m, bc, 0, n)
        check(letter + "trsm", bc, np.linalg.solve(square.astype(kind).astype(wide), alpha * c),
              kind, 10 * bound)


if "--shuffles" in sys.argv[1:]:
    run_shuffles()
    sys.exit()
print(context.devices[0].platform.name, context.devices[0].name)
for letter in PRECISIONS if "--all" in sys.argv[1:] else "SH":
    run(letter)
print(f"{checked} results of CLBlast equal numpy's, and one that took {check_shuffles()} shuffles")
