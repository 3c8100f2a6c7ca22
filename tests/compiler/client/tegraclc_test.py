#!/usr/bin/env python3
"""Tests the compiler command: tegraclc_test.py TEGRACLC CL-FOLDER SPIRV-AS.

All sources in the folder must compile to machine code with and without optimisation, the tiled
matrix product to the expected instructions. Messages must contain the user's line numbers, and
options must have the effects that OpenCL specifies."""
import os
import pty
import resource
import struct
import subprocess
import sys
import tempfile

TEGRACLC, FOLDER, SPIRV_AS = sys.argv[1:4]
SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'nvrtc.supp')
os.environ['LSAN_OPTIONS'] = f'suppressions={SUPPRESSIONS}:print_suppressions=0'
# Bits 8:0 of an instruction are the operation; the next three bits are the form of the operands
# (sm87.isa).
OPERATION = 0x1ff
GENERIC_LOAD, GENERIC_STORE, GLOBAL_LOAD, GLOBAL_STORE = 0x180, 0x185, 0x181, 0x186
SHARED_LOAD, LOCAL_LOAD, LOCAL_STORE, FFMA = 0x184, 0x183, 0x187, 0x023
failures = 0


def check(condition, sentence):
    global failures
    print('ok  ' if condition else 'FAIL', sentence)
    failures += not condition


def run(source, *options):
    """Compiles text from standard input. Returns status, output and messages."""
    done = subprocess.run([TEGRACLC, *options, '-'], input=source.encode(), capture_output=True,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr.decode()


def opcodes(cubin):
    """Returns the operations of all instructions in the .text sections."""
    offset, = struct.unpack_from('<Q', cubin, 0x28)
    entry, count, names = struct.unpack_from('<HHH', cubin, 0x3a)
    headers = [struct.unpack_from('<IIQQQQ', cubin, offset + i * entry) for i in range(count)]
    result = []
    for name, _, _, _, start, size in headers:
        at = headers[names][4] + name
        if cubin[at:at + 6] == b'.text.':
            result += [struct.unpack_from('<H', cubin, at)[0] & OPERATION
                       for at in range(start, start + size, 16)]
    return result


def count(codes, *wanted):
    return sum(code in wanted for code in codes)


for name in sorted(os.listdir(FOLDER)):
    version = [f'-cl-std=CL{name[len("version")]}.0'] if name.startswith('version') else []
    with open(os.path.join(FOLDER, name), encoding='utf-8') as file:
        text = file.read()
    for level in ([], ['-cl-opt-disable'], ['-cl-fast-relaxed-math', '-cl-nv-maxrregcount=32']):
        status, output, messages = run(text, '--emit', 'cubin', *version, *level)
        check(status == 0 and output[:4] == b'\x7fELF' and not messages,
              f'{name} {" ".join(level)} {messages[:2000]}')

MATMUL = """#define TILE 16
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul(global const float *a, global const float *b, global float *c, int n) {
  local float at[TILE][TILE], bt[TILE][TILE];
  int col = get_global_id(0), row = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float sum = 0.0f;
  for (int k = 0; k < n; k += TILE) {
    at[ly][lx] = a[row * n + k + lx];
    bt[ly][lx] = b[(k + ly) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; i++)
      sum += at[ly][i] * bt[i][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = sum;
}
"""
codes = opcodes(run(MATMUL, '--emit', 'cubin')[1])
fused = count(codes, FFMA)
check(count(codes, GENERIC_LOAD, GENERIC_STORE) == 0, 'matrix product: no generic access')
check(count(codes, LOCAL_LOAD, LOCAL_STORE) == 0, 'matrix product: nothing in local memory')
check(count(codes, GLOBAL_LOAD) > 0 and count(codes, GLOBAL_STORE) == 1,
      'matrix product: global accesses')
# A row of the first tile takes 4 wide loads and a column of the second 16 narrow ones,
# for 16 multiply-adds and 2 global loads, the same as for CUDA C.
check(fused > 0 and fused == 8 * count(codes, GLOBAL_LOAD),
      f'matrix product: {fused} multiply-adds for {count(codes, GLOBAL_LOAD)} global loads')
check(count(codes, SHARED_LOAD) * 16 == fused * 20, 'matrix product: wide shared loads')

HINTED = """void put(local int *l, global int *g, int n) __attribute__((noinline));
void put(local int *l, global int *g, int n) { l[n] = g[n] + 1; g[n + 1] = l[n]; }
kernel void k(global int *g, local int *l, int n) { put(l, g, n); put(l + 1, g + n, n); }
"""
codes = opcodes(run(HINTED, '--emit', 'cubin')[1])
check(count(codes, GENERIC_LOAD, GENERIC_STORE) == 0, 'pointers of a function: no generic access')

KERNEL = 'kernel void k(global float *a, local int *l, float4 v) { a[0] += v.y + l[0]; }\n'
status, output, _ = run(KERNEL + 'kernel void second(void) {}', '--emit', 'info',
                        '-cl-kernel-arg-info')
info = output.decode()
check('kernel k\n' in info and 'kernel second\n' in info, 'info names the kernels')
check('argument 0 global offset 0 size 8 float* a' in info, 'info: global argument')
check('argument 1 local offset 8 size 4 align 16 int* l' in info, 'info: local argument')
check('argument 2 value offset 16 size 16 float4 v' in info, 'info: vector argument')
check(' a\n' not in run(KERNEL, '--emit', 'info')[1].decode(), 'no names without the option')
SIZED = 'kernel __attribute__((reqd_work_group_size(8, 4, 2))) __attribute__((vec_type_hint(uint4)))'
check('attributes vec_type_hint(uint4) reqd_work_group_size(8,4,2)' in
      run(SIZED + ' void k(void) {}', '--emit', 'info')[1].decode(), 'info: attributes')

status, output, messages = run('kernel void k(global int *a) {\n  a[0] = 1\n}\n')
check(status == 1 and '<program source>:2:11: error: expected' in messages and not output,
      'an error carries line and column')
check('<program source>:1:' in run('#warning beware\nkernel void k(void) {}')[2] and
      run('#warning beware\nkernel void k(void) {}')[0] == 0, 'warnings are in the log')
check(run('#warning beware\nkernel void k(void) {}', '-Werror')[0] == 1, '-Werror')
check(run('#warning beware\nkernel void k(void) {}', '-w')[2] == '', '-w')
check(run('\ufeffkernel void k(void) {}')[0] == 0, 'a byte order mark')
status, _, messages = run('#include <stdlib.h>\nkernel void k(void) {}')
check(status == 1 and "'stdlib.h' file not found" in messages, "no headers of the host's")
OVERLOADS = """__attribute__((overloadable)) float atomic_add(global float *p, float v) { return *p += v; }
__attribute__((overloadable)) int max(int a, int b, int c) { return max(a, max(b, c)); }
kernel void k(global int *a, global float *f) {
  a[1] = atomic_add(a, max(a[1], a[2], 3)) + (int)atomic_add(f, max(f[1], 2.5f));
}
"""
check(run(OVERLOADS, '-Werror')[0] == 0, 'functions beside built-in ones of the same name')
for option in ('-cl-std=CL9.9', '-foo', '-cl-nv-maxrregcount=none', '-D=3'):
    status, _, messages = run(KERNEL, option)
    check(status == 1 and option in messages, f'bad option {option} is named')
check(run('kernel void k(global int *a) { a[0] = N; }', '-D', 'N=3 + 4')[0] == 0, '-D with blanks')
check(run('kernel void k(global int *a) { a[0] = A B; }', '-DA=1', '-DB=+2')[0] == 0, '-Dname=text')
check(run('#pragma OPENCL EXTENSION cl_khr_subgroup_rotate : enable\nkernel void k(void) {}',
          '-Werror')[0] == 0, 'a pragma for an extension that needs none')
status, _, messages = run('#pragma OPENCL EXTENSION cl_made_up : enable\nkernel void k(void) {}',
                          '-Werror')
check(status == 1 and "'cl_made_up' [-Werror]" in messages, 'a pragma for no extension at all')
check(b' i32 21,' in run('kernel void k(global int *a) { a[0] = A(2); }', '--emit', 'ir', '-Werror', '-DA=1',
                        '-D', 'A(x)=x ## 1')[1], 'of two definitions the last one counts')
for name in ('class', 'mix', 'threadIdx'):
    with open(os.path.join(FOLDER, 'names.cl'), encoding='utf-8') as file:
        check(f'kernel {name}\n' in run(file.read(), '--emit', 'info')[1].decode(), f'a kernel {name}')
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(os.path.join(folder, 'with blank'))
    with open(os.path.join(folder, 'with blank', 'h.h'), 'w', encoding='utf-8') as file:
        file.write('#define VALUE 5\n')
    check(run('#include "h.h"\nkernel void k(global int *a) { a[0] = VALUE; }', '-I',
              os.path.join(folder, 'with blank'))[0] == 0, '-I of a folder with a blank')
for version, number in (('CL1.0', 100), ('CL1.1', 110), ('CL1.2', 120), ('CL2.0', 200),
                        ('CL3.0', 300), ('CL3.1', 310)):
    check(run(f'#if __OPENCL_C_VERSION__ != {number}\n#error wrong\n#endif\n'
              'kernel void k(void) {}', f'-cl-std={version}')[0] == 0, f'-cl-std={version}')

LINES = KERNEL + '#line 7 "other.clh"\nkernel void m(global int *a) { a[0] = 1; }\n'
cuda = run(LINES, '--emit', 'cuda')[1].decode()
check('#line 1 "/opencl/<program source>"' in cuda and '#line 7 "/opencl/other.clh"' in cuda,
      'CUDA C names the lines of the source')
check(b'.debug_line\0' in run(LINES)[1] and b'.visible .entry' not in run(LINES)[1],
      'a program binary has the line table, and no PTX')

for source, name in (
        ('int missing(int);\nkernel void k(global int *a) { a[0] = missing(1); }', 'missing'),
        ('kernel void k(global int *a) { a[0] = __nvvm_read_ptx_sreg_tid_x(); }',
         'llvm.nvvm.read.ptx.sreg.tid.x'),
        ('kernel void k(global int *a) { local int s[20000]; s[get_local_id(0)] = 1;\n'
         '  barrier(CLK_LOCAL_MEM_FENCE); a[0] = s[a[1]]; }', 'exceed the local memory of the device'),
        ('int g(int);\nint f(int n) { return n < 2 ? 1 : n * g(n - 1); }\n'
         'int g(int n) { return n < 3 ? 2 : f(n - 2) + f(n - 3); }\n'
         'kernel void k(global int *a) { a[0] = f(a[1]); }', "'f' calls itself"),
        ('int missing(int);\nkernel void k(global int *a) {\n a[0] = missing(1); }', 'line 3'),
        ('struct s { constant struct s *p; };\nextern constant struct s b;\n'
         'constant struct s a = {&b}, b = {&a};\n'
         'kernel void k(global long *o) { *o = (long)(*o ? &a : &b)->p; }', 'its own address'),
        ('struct __attribute__((packed)) s { char c; constant int *p; };\nconstant int i = 1;\n'
         'constant struct s t[2] = {{1, &i}, {2, 0}};\n'
         'kernel void k(global int *a) { a[1] = *t[a[0]].p; }', "byte 1 of 't'"),
        ('struct s {};\nkernel void k(global int *a, struct s s) { a[0] = 1; }',
         'argument 1 is an empty struct'),
        ('kernel void k$(void) {}', "name 'k$' contains characters"),
        ('kernel void über(void) {}', "name 'über' contains characters"),
        ('kernel void k(global long *o, ' + ', '.join(f'long16 a{i}' for i in range(260)) + ') {}',
         "arguments exceed the maximum size")):
    status, _, messages = run(source)
    check(status == 1 and name in messages and 'error: ' in messages, f'{name} is refused by name')

# OpenCL C does not allow a part of an address in an initial value; SPIR-V does.
PART_OF_ADDRESS = """OpCapability Addresses
OpCapability Kernel
OpCapability Int8
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %kernel "k"
%void = OpTypeVoid
%number = OpTypeInt BITS 0
%long = OpTypeInt 64 0
INT32
%zero = OpConstant %long 0
%count = OpConstant %long 64
%array = OpTypeArray %number %count
%from_number = OpTypePointer UniformConstant %number
%from_array = OpTypePointer UniformConstant %array
%to = OpTypePointer CrossWorkgroup %number
%function = OpTypeFunction %void %to %long
%seven = OpConstant %number 7
%target = OpVariable %from_number UniformConstant %seven
%part = OpSpecConstantOp %number ConvertPtrToU %target
%values = OpConstantComposite %array VALUES
%table = OpVariable %from_array UniformConstant %values
%kernel = OpFunction %void None %function
%out = OpFunctionParameter %to
%n = OpFunctionParameter %long
%entry = OpLabel
%place = OpInBoundsPtrAccessChain %from_number %table %zero %n
%value = OpLoad %number %place Aligned 1
OpStore %out %value Aligned 1
OpReturn
OpFunctionEnd
"""
for bits in (8, 32):
    for first in ('%part', '%seven'):
        text = PART_OF_ADDRESS.replace('BITS', str(bits)).replace(
            'INT32', '' if bits == 32 else '%uint = OpTypeInt 32 0').replace(
            'VALUES', first + ' %part' * 63)
        module = subprocess.run([SPIRV_AS, '--target-env', 'spv1.2', '-', '-o', '-'], check=True,
                                input=text.encode(), capture_output=True).stdout
        done = subprocess.run([TEGRACLC, '-'], input=module, capture_output=True, timeout=120)
        place = f'an address of {bits // 8} bytes at byte {0 if first == "%part" else bits // 8} of'
        check(done.returncode == 1 and place in done.stderr.decode(),
              f'{place} an initial value is refused {done.stderr[:200]}')

check(run('int größe(int x) { return x + 1; }\n'
          'kernel void k(global int *ä) { ä[0] = größe(ä[1]); }', '-cl-opt-disable')[0] == 0,
      'names of functions and variables in any script')
for body, words in (('write_only pipe int p) { write_pipe(p, o); }', "'pipe int'"),
                    (') { queue_t q = get_default_queue(); *o = q == 0; }', 'device-side queues')):
    comma = ', ' if 'pipe' in body else ''
    status, _, messages = run(f'kernel void k(global int *o{comma}{body}', '-cl-std=CL2.0')
    check(status == 1 and words in messages, f'{words} is refused by name {messages[:200]}')
for form, good in (('%4095d', True), ('%.4095f', True), ('%4096d', False), ('%.4096f', False),
                   ('%65535v16lx', False), ('%-0+ #5000x', False), ('%%5000 5000', True),
                   ('%99999999999999999999d', False), ('%5.5000s', False), ('100% %5000d', False)):
    for how in ('printf("FORM", 1)', 'printf(*o ? "FORM" : "%d", 1)',
                'printf(*o == 1 ? "%f" : *o == 2 ? "%d" : "FORM", 1)'):
        call = how.replace('FORM', form)
        status, _, messages = run(f'kernel void k(global int *o) {{ {call}; }}', '-w')
        check(status != good and ('must be at most 4095' in messages) != good,
              f'{call} {messages[:200]}')
status, _, messages = run(KERNEL, '-DLONG=' + 'x' * 100000, '-DSUM=' + '1+' * 50000 + '1')
check(status == 0, f'long options {messages[:200]}')

for stage, options, start in (
        ('ir', [], b'; ModuleID'), ('cuda', [], b'#define OCL_UNIFORM\n#include "tegracl.cuh"'),
        ('cuda', ['-cl-std=CL3.0', '-cl-uniform-work-group-size'], b'#define OCL_UNIFORM\n'),
        ('cuda', ['-cl-std=CL3.0'], b'#include "tegracl.cuh"')):
    check(run(KERNEL, '--emit', stage, *options)[1].startswith(start),
          ' '.join(['--emit', stage, *options]))
# On a terminal the stages are shown and then erased.
terminal, side = pty.openpty()
done = subprocess.run([TEGRACLC, '-'], input=KERNEL.encode(), stdout=subprocess.PIPE, stderr=side)
os.close(side)
shown = b''
try:
    while chunk := os.read(terminal, 4096):
        shown += chunk
except OSError:  # the other side is closed
    pass
os.close(terminal)
check(done.returncode == 0 and b'tegraclc: front end\r' in shown and b'tegraclc: NVRTC\r' in shown
      and shown.endswith(b'\r\x1b[K'), f'progress on a terminal {shown}')
check(run(KERNEL)[2] == '', 'no progress elsewhere')
check(run(KERNEL, '--emit', 'nothing')[0] == 1, 'an unknown stage')
check(subprocess.run([TEGRACLC], capture_output=True).returncode == 1, 'no file')
check(subprocess.run([TEGRACLC, '/nonexistent.cl'], capture_output=True).returncode == 1,
      'a file that is not there')
done = subprocess.run([TEGRACLC, '-'], input=KERNEL.encode(), capture_output=True,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
check(done.returncode == 1 and b'File too large' in done.stderr,
      f'a limit on files {done.returncode} {done.stderr[:200]}')
environment = dict(os.environ, TEGRACL_NVRTC='/nonexistent')
done = subprocess.run([TEGRACLC, '-'], input=KERNEL.encode(), capture_output=True, env=environment)
check(done.returncode == 1 and b'NVRTC' in done.stderr and b'install' in done.stderr,
      'missing NVRTC is explained')

print(f'{failures} failed')
sys.exit(failures != 0)
