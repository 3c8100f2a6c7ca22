#!/usr/bin/env python3
"""The bring-up of an Orin's GPU as it was first done from Python: ioctls by number,
structures by struct.pack, mappings by mmap.mmap and by the C library's mmap through ctypes.
It uses nothing of this project except tegraclc, which reports where NVRTC is.

The steps and expected values are those of docs/hardware/bring-up.md 2 (column A) and 7. Run it
with tegracl-emulate, or directly on a board: `tegracl-emulate bringup.py TEGRACLC`.
"""
import ctypes
import errno
import fcntl
import mmap
import os
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from nvrtc import Nvrtc  # noqa: E402

# Requests of docs/hardware/kernel-interface.md 2.
GET_CHARACTERISTICS, ZCULL_GET_CTX_SIZE = 0xC0104705, 0x80044701
ALLOC_AS, OPEN_TSG, OPEN_CHANNEL = 0xC0404708, 0xC0184709, 0xC004470B
AS_BIND_CHANNEL, MAP_BUFFER_EX, UNMAP_BUFFER, ALLOC_SPACE = (
    0xC0044101, 0xC0284107, 0xC0084105, 0xC0204106)
CREATE_SUBCONTEXT, TSG_BIND_CHANNEL_EX = 0xC0105412, 0xC018540B
WDT, SETUP_BIND, GET_USER_SYNCPOINT, ALLOC_OBJ_CTX = (
    0x40084877, 0xC0684880, 0x8010487E, 0xC010486C)
SUBMIT_GPFIFO_OLD_SIZE = 0xC030486B
NVMAP_CREATE, NVMAP_ALLOC, NVMAP_FREE, NVMAP_GET_FD = (
    0xC0084E00, 0x40144E03, 0x4E04, 0xC0084E0F)
NVMAP_WRITE, NVMAP_READ, NVMAP_HEAPS = 0x40384E06, 0x40384E07, 0x80084E19

HEAP_IOVMM, TAG = 0x40000000, 0x0900 << 16
WRITE_COMBINE, INNER_CACHEABLE = 1, 2
COMPUTE, COPY = 0xC7C0, 0xC7B5
GP_GET, GP_PUT, DOORBELL = 0x88, 0x8C, 0x90
PAGE = 4096
FIRST_TOKEN = 511

# The C library's functions as ctypes finds them, not through the program's symbols.
libc = ctypes.CDLL("libc.so.6", use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def raw_mmap(fd, size):
    address = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    return address


def word(address, value=None):
    cell = ctypes.c_uint32.from_address(address)
    if value is not None:
        cell.value = value
    return cell.value


def word64(address):
    return ctypes.c_uint64.from_address(address).value


def call(fd, request, form, *values):
    """Packs values into a struct, calls the ioctl, and returns the unpacked struct."""
    argument = bytearray(struct.pack(form, *values))
    fcntl.ioctl(fd, request, argument)
    return struct.unpack(form, argument)


def fails_with(number, function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        if error.errno == number:
            return
        raise
    raise AssertionError(f"no {errno.errorcode[number]}")


def same(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what} is {got!r}, not {wanted!r}")


class Buffer:
    def __init__(self, gpu, size, flags, mapped=True):
        self.gpu, self.size = gpu, size
        align = 2 << 20 if size >= 8 << 20 else PAGE
        _, self.handle = call(gpu.nvmap, NVMAP_CREATE, "II", size, 0)
        fcntl.ioctl(gpu.nvmap, NVMAP_ALLOC,
                    struct.pack("IIIIi", self.handle, HEAP_IOVMM, flags | TAG, align, 0))
        self.fd, _ = call(gpu.nvmap, NVMAP_GET_FD, "II", 0, self.handle)
        self.cpu = raw_mmap(self.fd, size)
        self.va = gpu.map(self.fd) if mapped else 0

    def free(self):
        """Frees in an order that the kernel accepts: GPU mapping, CPU mapping, fd, handle."""
        if self.va:
            call(self.gpu.address_space, UNMAP_BUFFER, "Q", self.va)
        libc.munmap(self.cpu, self.size)
        os.close(self.fd)
        fcntl.ioctl(self.gpu.nvmap, NVMAP_FREE, ctypes.c_int32(self.handle).value)


class Channel:
    """A channel of the GPU's TSG with its ring, its USERD and its pushbuffer."""

    def __init__(self, gpu, class_number, entries=1024):
        self.gpu, self.entries, self.put = gpu, entries, 0
        self.fd, = call(gpu.ctrl, OPEN_CHANNEL, "i", -1)
        bind = "iI16x"
        fails_with(errno.EINVAL, call, gpu.tsg, TSG_BIND_CHANNEL_EX, bind, self.fd, gpu.veid)
        call(gpu.address_space, AS_BIND_CHANNEL, "i", self.fd)
        call(gpu.tsg, TSG_BIND_CHANNEL_EX, bind, self.fd, gpu.veid)
        self.ring = Buffer(gpu, entries * 8, WRITE_COMBINE, mapped=False)
        self.userd = Buffer(gpu, PAGE, WRITE_COMBINE, mapped=False)
        fails_with(errno.EINVAL, self.setup)  # the watchdog is on
        fcntl.ioctl(self.fd, WDT, struct.pack("II", 1, 0))
        self.token, addresses = self.setup()
        same(addresses, (0, 0, 0), "SETUP_BIND's addresses")
        self.syncpoint = call(self.fd, GET_USER_SYNCPOINT, "QII", 0, 0, 0)
        call(self.fd, ALLOC_OBJ_CTX, "IIQ", class_number, 0, 0)
        self.push = Buffer(gpu, 64 << 10, INNER_CACHEABLE)
        self.used = 0

    def setup(self):
        got = call(self.fd, SETUP_BIND, "IIIiiIQQQQQ36x4x", self.entries, 0, 0xA, self.userd.fd,
                   self.ring.fd, 0, 0, 0, 0, 0, 0)
        return got[5], got[8:11]

    def write(self, words):
        """Writes the words to the pushbuffer and an entry for them to the ring."""
        if self.used + 4 * len(words) > self.push.size:
            self.used = 0
        ctypes.memmove(self.push.cpu + self.used, struct.pack(f"{len(words)}I", *words),
                       4 * len(words))
        entry = (self.push.va + self.used) | 1 << 41 | len(words) << 42
        self.used += 4 * len(words)
        ctypes.c_uint64.from_address(self.ring.cpu + 8 * self.put).value = entry
        self.put = (self.put + 1) % self.entries
        word(self.userd.cpu + GP_PUT, self.put)

    def ring_bell(self):
        word(self.gpu.page + DOORBELL, self.token)

    def submit(self, words):
        self.write(words)
        self.ring_bell()

    def caught_up(self):
        return word(self.userd.cpu + GP_GET) == self.put


class Gpu:
    def __init__(self):
        self.nvmap = os.open("/dev/nvmap", os.O_RDWR | os.O_SYNC)
        self.ctrl = os.open("/dev/nvgpu/igpu0/ctrl", os.O_RDWR)

    def map(self, fd):
        return call(self.address_space, MAP_BUFFER_EX, "IhhIIQQQ", 0, -1, 0, fd, PAGE, 0, 0, 0)[7]


def release(va, payload, execute):
    return [0x20050017, va & 0xFFFFFFFF, va >> 32, payload & 0xFFFFFFFF, payload >> 32, execute]


RELEASE_64_WFI, RELEASE_64_WFI_TIME = 0x01100001, 0x03100001


# In seconds; long enough on a busy machine.
SOON = 60


def wait(condition, seconds=SOON):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
    return True


# ---- the steps of section 7 ----

def characteristics(gpu):
    data = ctypes.create_string_buffer(328)
    size, _ = call(gpu.ctrl, GET_CHARACTERISTICS, "QQ", 328, ctypes.addressof(data))
    same(size, 328, "the size of the characteristics")
    same(struct.unpack_from("III", data, 0), (0x170, 0xB, 0xA1), "arch, impl, rev")
    same(struct.unpack_from("6I", data, 72), (0x902D, 0xC797, COMPUTE, 0xC76F, 0xA140, COPY),
         "the classes")
    same(struct.unpack_from("II", data, 100), (0x807, 0x806), "SM and SPA version")


def zcull(gpu):
    same(call(gpu.ctrl, ZCULL_GET_CTX_SIZE, "I", 0)[0], 164352, "the zcull context's size")
    size = ctypes.c_uint32()
    same(libc.ioctl(gpu.ctrl, ctypes.c_ulong(ZCULL_GET_CTX_SIZE), ctypes.byref(size)), 0, "ioctl")
    same(size.value, 164352, "the size by the C library's ioctl")


def heaps(gpu):
    same(call(gpu.nvmap, NVMAP_HEAPS, "Q", 0)[0], 0x10000004, "the heap mask")


def first_heap(gpu):
    _, handle = call(gpu.nvmap, NVMAP_CREATE, "II", PAGE, 0)
    fails_with(errno.ENOMEM, fcntl.ioctl, gpu.nvmap, NVMAP_ALLOC,
               struct.pack("IIIIi", handle, 1 << 31, TAG, PAGE, 0))
    fcntl.ioctl(gpu.nvmap, NVMAP_ALLOC,
                struct.pack("IIIIi", handle, HEAP_IOVMM, WRITE_COMBINE | TAG, PAGE, 0))
    gpu.first_fd, _ = call(gpu.nvmap, NVMAP_GET_FD, "II", 0, handle)
    fails_with(errno.EPERM, mmap.mmap, gpu.nvmap, PAGE)


def address_space(gpu):
    form, start, end = "IiIIQQQ24x", 0x200000, 0xFFFFE00000
    for big_page, first, last in (0x10000, start, end), (0, 0, end), (0, start, 0), (0, start + PAGE, end):
        fails_with(errno.EINVAL, call, gpu.ctrl, ALLOC_AS, form, big_page, 0, 2, 0, first, last, 0)
    gpu.address_space = call(gpu.ctrl, ALLOC_AS, form, 0, 0, 2, 0, start, end, 0)[1]


def map_buffer(gpu):
    same(gpu.map(gpu.first_fd), 0xFFFFA00000, "the first address")


def channel(gpu):
    gpu.tsg = call(gpu.ctrl, OPEN_TSG, "IIQQ", 0, 0, 0, 0)[0]
    gpu.veid = call(gpu.tsg, CREATE_SUBCONTEXT, "IiII", 1, gpu.address_space, 0, 0)[2]
    same(gpu.veid, 1, "the first subcontext")
    for window in 0xFD00000000, 0xFE00000000:
        call(gpu.address_space, ALLOC_SPACE, "QIIQ8x", 1 << 18, PAGE, 1, window)
    gpu.compute = Channel(gpu, COMPUTE)
    same(gpu.compute.token, FIRST_TOKEN, "the first token")
    same(gpu.compute.syncpoint[:2], (0xFFFFE10000, 17), "the syncpoint's window and number")


def write_read_back(gpu):
    """Uses mmap.mmap, which reads the fd's size and maps a duplicate of it."""
    buffer = Buffer(gpu, PAGE, WRITE_COMBINE)
    with mmap.mmap(buffer.fd, PAGE) as memory:
        for pattern in 0, 0xFFFFFFFF, 0xDEADBEEF, 0x55AA55AA:
            memory[:] = struct.pack("I", pattern) * (PAGE // 4)
            same(memory[:], struct.pack("I", pattern) * (PAGE // 4), "what was written")
    buffer.free()


def coherence(gpu):
    buffer = Buffer(gpu, 2 * PAGE, INNER_CACHEABLE)
    second = raw_mmap(buffer.fd, 2 * PAGE)
    word(buffer.cpu + PAGE, 0xCAFE)
    same(word(second + PAGE), 0xCAFE, "the second mapping's word")
    data = ctypes.create_string_buffer(b"through nvmap".ljust(64), 64)
    form = "QI4xQQQQQ"
    arguments = ctypes.addressof(data), buffer.handle, 128, 64, 64, 64, 1
    fcntl.ioctl(gpu.nvmap, NVMAP_WRITE, bytearray(struct.pack(form, *arguments)))
    same(ctypes.string_at(second + 128, 13), b"through nvmap", "what nvmap wrote")
    ctypes.memmove(second + 128, b"THROUGH", 7)
    fcntl.ioctl(gpu.nvmap, NVMAP_READ, bytearray(struct.pack(form, *arguments)))
    same(data.raw[:13], b"THROUGH nvmap", "what nvmap reads")
    libc.munmap(second, 2 * PAGE)
    buffer.free()


def sizes(gpu):
    for size in 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20:
        buffer = Buffer(gpu, size, INNER_CACHEABLE)
        assert 0 < buffer.va < 1 << 40
        word(buffer.cpu, 0x11)
        word(buffer.cpu + size - 4, 0x22)
        same((word(buffer.cpu), word(buffer.cpu + size - 4)), (0x11, 0x22), f"the ends of {size}")
        buffer.free()


def cache_types(gpu):
    for flags in 0, 1, 2, 3, 5:
        Buffer(gpu, 1 << 20, flags).free()


def mappings(gpu):
    gpu.page = raw_mmap(gpu.ctrl, PAGE)
    same(word(gpu.compute.userd.cpu + GP_GET), 0, "GP_GET before the first submission")


def semaphores(gpu):
    ch, buffer = gpu.compute, Buffer(gpu, PAGE, INNER_CACHEABLE)
    words = [0x20012000, COMPUTE, 0x20018000, COPY] + release(buffer.va, 0x42, RELEASE_64_WFI)
    ch.write(words)
    assert not wait(lambda: word(buffer.cpu), 0.5), "GP_PUT alone must do nothing"
    word(gpu.page, ch.token)
    assert not wait(lambda: word(buffer.cpu), 0.2), "a token at offset 0 must do nothing"
    ch.ring_bell()
    assert wait(lambda: word64(buffer.cpu) == 0x42), "no semaphore"
    fails_with(errno.ENOTTY, fcntl.ioctl, ch.fd, SUBMIT_GPFIFO_OLD_SIZE, bytearray(48))
    ch.submit(release(buffer.va + 64, 0xDEADBEEF42, RELEASE_64_WFI_TIME))
    assert wait(lambda: word(buffer.cpu + 64)), "no semaphore"
    assert word64(buffer.cpu + 64) == 0xDEADBEEF42 and word64(buffer.cpu + 72), "payload, then time"
    assert wait(ch.caught_up), "GP_GET"
    buffer.free()


SOURCE = rb"""
extern "C" __global__ void square(float *out) {
  out[threadIdx.x] = float(threadIdx.x) * float(threadIdx.x) + 1.0f;
}"""


def sections(elf):
    offset, = struct.unpack_from("Q", elf, 0x28)
    entry_size, count, names = struct.unpack_from("HHH", elf, 0x3A)
    table = [struct.unpack_from("IIQQQQIIQQ", elf, offset + i * entry_size) for i in range(count)]
    base = table[names][4]
    return {elf[base + s[0]:elf.index(b"\0", base + s[0])].decode(): s for s in table}


def compile_kernel(gpu):
    gpu.cubin, log = Nvrtc(sys.argv[1]).compile(SOURCE, ["--gpu-architecture=sm_87"])
    assert gpu.cubin, log
    text = sections(gpu.cubin)[".text.square"]
    gpu.code_offset, gpu.code_bytes, gpu.registers = text[4], text[5], text[7] >> 24
    same(gpu.code_offset % 128, 0, "the alignment of the code")


def put_bits(qmd, high, low, value):
    number = int.from_bytes(qmd, "little")
    mask = (1 << (high - low + 1)) - 1
    assert value <= mask
    qmd[:] = (number & ~(mask << low) | value << low).to_bytes(len(qmd), "little")


def descriptor(gpu, program, bank):
    """Section 4, column A test 15."""
    qmd = bytearray(256)
    for high, low, value in (
            (133, 128, 0x3F), (134, 134, 1), (189, 186, 0xF), (191, 191, 1),
            (287, 256, program >> 8 & 0xFFFFFFFF), (369, 368, 1), (378, 378, 1), (382, 382, 1),
            (415, 384, 1), (431, 416, 1), (463, 448, 1), (561, 544, 0x400), (567, 562, 9),
            (574, 569, 0x1A), (662, 657, 9), (583, 580, 3), (607, 592, 32), (623, 608, 1),
            (639, 624, 1), (640, 640, 1), (656, 648, max(16, gpu.registers)), (767, 763, 1),
            (1055, 1024, bank & 0xFFFFFFFF), (1072, 1056, bank >> 32), (1074, 1074, 1),
            (1087, 1075, PAGE >> 4), (1567, 1536, program & 0xFFFFFFFF), (1584, 1568, program >> 32),
            (1640, 1632, program >> 40), (1649, 1641, 2), (1663, 1656, 0x87)):
        put_bits(qmd, high, low, value)
    return bytes(qmd)


def launch(gpu):
    ch = gpu.compute
    code = Buffer(gpu, len(gpu.cubin) + PAGE & -PAGE, INNER_CACHEABLE)
    data = Buffer(gpu, 4 * PAGE, INNER_CACHEABLE)  # results, bank 0, QMD, semaphore
    out, bank, qmd, semaphore = range(0, 4 * PAGE, PAGE)
    ctypes.memmove(code.cpu, gpu.cubin, len(gpu.cubin))
    ctypes.memmove(data.cpu + bank + 0x18, struct.pack("QQQ", 0xFE00000000, 0xFD00000000, 0xFFFDC0), 24)
    ctypes.memmove(data.cpu + bank + 0x160, struct.pack("Q", data.va + out), 8)
    ctypes.memmove(data.cpu + qmd, descriptor(gpu, code.va + gpu.code_offset, data.va + bank), 256)
    ch.submit([0x20012000, COMPUTE, 0x200220A8, 0xFE, 0, 0x200221EC, 0xFD, 0, 0x200221E4, 0, 0,
               0x200320B9, 0, 0, 0x100, 0x20012087, 0x1011,
               0x200120AD, data.va + qmd >> 8, 0x200120B0, 9]
              + release(data.va + semaphore, 0xDEAD, RELEASE_64_WFI))
    assert wait(lambda: word(data.cpu + semaphore) == 0xDEAD), "no result"
    results = struct.unpack("32f", ctypes.string_at(data.cpu + out, 128))
    for i, value in enumerate(results):
        assert abs(value - (i * i + 1)) < 0.001, f"out[{i}] is {value}"
    code.free()
    data.free()


# ---- further programs ----

def two_channels(gpu):
    gpu.copy = Channel(gpu, COPY)
    same(gpu.copy.token, FIRST_TOKEN - 1, "the second token")
    source, target = Buffer(gpu, 1 << 20, INNER_CACHEABLE), Buffer(gpu, 1 << 20, INNER_CACHEABLE)
    ctypes.memmove(source.cpu, bytes(range(256)) * 4096, 1 << 20)
    done = Buffer(gpu, PAGE, INNER_CACHEABLE)
    gpu.copy.submit([0x20018000, COPY,
                     0x20048100, source.va >> 32, source.va & 0xFFFFFFFF, target.va >> 32,
                     target.va & 0xFFFFFFFF, 0x20018106, 1 << 20, 0x200180C0, 0x182,
                     0x20038090, done.va >> 32, done.va & 0xFFFFFFFF, 7, 0x200180C0, 0x14])
    gpu.compute.submit(release(done.va + 64, 8, RELEASE_64_WFI))
    assert wait(lambda: word(done.cpu) == 7 and word(done.cpu + 64) == 8), "two channels"
    same(ctypes.string_at(target.cpu, 1 << 20), ctypes.string_at(source.cpu, 1 << 20), "the copy")
    for buffer in source, target, done:
        buffer.free()


def ring_wrap(gpu):
    """1200 submissions through 1024 entries with the same token; waits for every seventh."""
    done = Buffer(gpu, PAGE, INNER_CACHEABLE)
    for i in range(1, 1201):
        gpu.compute.submit(release(done.va, i, RELEASE_64_WFI))
        if i % 7 == 0:
            assert wait(lambda: word(done.cpu) == i), f"submission {i}"
    assert wait(lambda: word(done.cpu) == 1200 and gpu.compute.caught_up()), "the last one"
    done.free()


def after_idleness(gpu):
    """A submission long after the last one is still seen."""
    done = Buffer(gpu, PAGE, INNER_CACHEABLE)
    time.sleep(0.3)
    gpu.compute.submit(release(done.va, 1, RELEASE_64_WFI))
    assert wait(lambda: word(done.cpu) == 1), "the doorbell was not seen"
    done.free()


def no_leak(gpu):
    before = len(os.listdir("/proc/self/fd")), len(open("/proc/self/maps").readlines())
    for _ in range(1000):
        Buffer(gpu, 1 << 20, INNER_CACHEABLE).free()
    after = len(os.listdir("/proc/self/fd")), len(open("/proc/self/maps").readlines())
    assert after[0] - before[0] < 5 and after[1] - before[1] < 5, f"{before}, then {after}"


STEPS = (characteristics, zcull, heaps, first_heap, address_space, map_buffer, channel,
         write_read_back, coherence, sizes, cache_types, mappings, semaphores, compile_kernel, launch,
         two_channels, ring_wrap, after_idleness, no_leak)


def main():
    gpu = Gpu()
    for number, step in enumerate(STEPS, 1):
        start = time.monotonic()
        try:
            step(gpu)
        except (AssertionError, OSError) as error:
            print(f"{number:2} {step.__name__}: {error!r}")
            raise
        print(f"{number:2} {step.__name__}: {1000 * (time.monotonic() - start):.1f} ms")


main()
