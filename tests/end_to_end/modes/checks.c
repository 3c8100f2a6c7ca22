/* TEGRACL_EMULATOR=check through the loader. Each case is a kernel with one mistake. The report
 * must state the kernel, the work-item and the cause.
 */
#include "tests/end_to_end/opencl.h"

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

enum { REPORT_BYTES = 1 << 16 };

/* A kernel with one mistake, or without one if expected is empty. */
struct fault_case {
  const char *name;
  const char *options; /* NULL: check */
  const char *source;  /* signature: kernel void k(global int *p, ulong n, global int *q) */
  cl_ulong n;
  size_t global, local; /* the driver chooses the local size if it is 0 */
  size_t buffer;        /* bytes of p and q */
  bool ends;            /* whether the mistake makes the context unusable */
  const char *expected[5];
  cl_mem_flags flags; /* of p */
  bool unwritten;     /* p and q; else zeros */
  unsigned launches;  /* one if 0 */
};

static const struct fault_case cases[] = {
    {"padding",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { p[get_global_id(0)] = (int)n; }",
     7,
     26,
     26,
     100,
     true,
     {"kernel k +0x", "STG", "work-item (25,0,0) of group (0,0,0)",
      "0 bytes past the end of buffer 1 of 100 bytes", "argument 0"}},
    {"padding in a full warp", /* whose instructions need no check but for the parameter */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { p[get_global_id(0)] = (int)n; }",
     7,
     32,
     32,
     100,
     true,
     {"kernel k +0x", "STG", "work-item (25,0,0) of group (0,0,0)",
      "0 bytes past the end of buffer 1 of 100 bytes", "argument 0"}},
    {"out of bounds",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { p[n] = 1; }",
     1 << 28,
     1,
     1,
     100,
     true,
     {"kernel k +0x", "STG", "not mapped", "past the end of buffer 1 of 100 bytes"}},
    {"misaligned",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { *(global int *)((global char *)p + n) "
     "= 1; }",
     1,
     1,
     1,
     100,
     true,
     {"kernel k +0x", "STG", "misaligned address: not a multiple of 4", "work-item (0,0,0)"}},
    {"local range",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64]; s[get_local_id(0)] = "
     "1;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); p[0] = s[n]; }",
     100000,
     64,
     64,
     100,
     true,
     {"kernel k +0x", "LDS", "in local memory is out of range: the work-group has 256 bytes"}},
    {"private range",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int a[64]; for (int i = 0; i < 64; "
     "i++) a[i] = i;\n"
     "  a[n] = 1; p[0] = a[p[1] & 63]; }",
     1 << 21,
     1,
     1,
     100,
     true,
     {"kernel k +0x", "STL", "in private memory is out of range: a work-item has "}},
    {"local never written",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64]; if (n) "
     "s[get_local_id(0)] = 1;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = s[63 - get_local_id(0)]; }",
     0,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "STG", "uninitialised local memory", "work-item ("}},
    {"unwritten through local",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64]; s[get_local_id(0)] = "
     "q[get_local_id(0)];\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = s[63 - get_local_id(0)]; }",
     0,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "STG", "uninitialised global memory, read at kernel k +0x", "line 1"},
     .unwritten = true},
    {"unwritten through private",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int a[64]; for (int i = 0; i < 64; "
     "i++) a[i] = q[i];\n"
     "  p[get_global_id(0)] = a[n & 63]; }",
     5,
     2,
     2,
     256,
     false,
     {"kernel k +0x", "STG", "uninitialised global memory, read at kernel k +0x", "line 1"},
     .unwritten = true},
    {"unwritten through short copy",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[4];\n"
     "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 16, 4; cp.async.wait_all;\"\n"
     "    :: \"r\"((uint)(ulong)s), \"l\"(q + n) : \"memory\"); p[0] = s[0]; }",
     0,
     1,
     1,
     256,
     false,
     {"kernel k +0x", "STG", "uninitialised global memory, read at kernel k +0x"},
     .unwritten = true},
    {"private never written",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int a[64]; for (int i = 0; i < n; "
     "i++) a[i] = i;\n"
     "  p[get_global_id(0)] = a[(p[1] + 7) & 63]; }",
     5,
     2,
     2,
     256,
     false,
     {"kernel k +0x", "STG", "uninitialised private memory", "work-item (0,0,0)"}},
    {"private row never written",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int a[64]; for (int i = 0; i < n; "
     "i++) a[i] = i;\n"
     "  p[get_global_id(0)] = a[(q[1] + 7) & 63]; }",
     5,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "STG", "uninitialised private memory", "work-item (0,0,0)"}},
    {"race of half a warp",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i == 21) p[16] = n;\n"
     "  asm volatile(\"\" ::: \"memory\"); q[i] = p[i / 16 * 16] + i; }",
     5,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "data race on global memory"}},
    {"register never written",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int x;\n"
     "  asm volatile(\"{ .reg .u32 u, v; .reg .pred q; setp.ne.u64 q, %1, 0; @q mov.u32 u, 5;\"\n"
     "    \" bar.warp.sync 0xffffffff; add.u32 %0, u, 1; }\" : \"=r\"(x) : \"l\"(n));\n"
     "  p[get_global_id(0)] = x; }",
     0,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "uninitialised register"}},
    {"race",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64]; int i = "
     "get_local_id(0);\n"
     "  s[i] = i + n; p[get_global_id(0)] = s[63 - i]; }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on local memory", "not ordered after the write by work-item"}},
    {"race of a write",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64]; int i = "
     "get_local_id(0);\n"
     "  s[i] = i + n; barrier(CLK_LOCAL_MEM_FENCE); int x = s[63 - i]; s[i] = x * 3 + 1;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = s[i]; }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on local memory",
      "this write is not ordered after the read by work-item (63,0,0)"}},
    {"two writes",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[1]; s[0] = "
     "get_local_id(0) + n;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = s[0]; }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on local memory", "write by work-item",
      "not ordered after the write"}},
    {"race in a warp",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[32];\n"
     "  int i = get_local_id(0); s[i] = i + n; p[i] = s[31 - i]; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "LDS", "data race on local memory", "not ordered after the write by"}},
    {"race of the last reader",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  int x = p[n]; if (i == n) p[n] = x + 1; else q[i] = x; }",
     31,
     32,
     32,
     256,
     false,
     {"data race on global memory",
      "this write is not ordered after the read by work-item (0,0,0)"}},
    {"race of the first reader",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  int x = p[n]; q[i] = x; if (i == n) p[n] = *(volatile global int *)(p + n) + 1; }",
     0,
     32,
     32,
     256,
     false,
     {"data race on global memory",
      "this write is not ordered after the read by other work-items of its sub-group"}},
    {"global race in a warp",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  p[i] = i + n; q[i] = p[31 - i]; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "LDG", "data race on global memory", "not ordered after the write by"}},
    {"part of a row",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  p[i] = i + n; if (i == 0) q[0] = p[17]; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "LDG", "work-item (0,0,0) of group (0,0,0)",
      "this read is not ordered after the write by work-item (17,0,0)"}},
    {"shifted row",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  p[i] = i + n; q[i] = p[i + 4]; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "LDG", "work-item (0,0,0) of group (0,0,0)",
      "this read is not ordered after the write by work-item (4,0,0)"}},
    {"rows of two sizes",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  vstore4((int4)(i + n), i, p); q[i] = p[i]; }",
     3,
     32,
     32,
     1024,
     false,
     {"kernel k +0x", "LDG", "work-item (1,0,0) of group (0,0,0)",
      "this read is not ordered after the write by work-item (0,0,0)"}},
    {"race at the end of a prime size",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  const ulong i = get_global_id(0); p[i == n ? 5 : i] = (int)i; }",
     4098,
     4099,
     0,
     4 * 4099,
     false,
     {"kernel k +0x", "STG", "data race on global memory at 0x", "this write is not ordered"}},
    {"rows of two groups",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  p[get_local_id(0)] = get_global_id(0) + n; }",
     3,
     128,
     64,
     1024,
     false,
     {"kernel k +0x", "STG", "work-item (0,0,0) of group (", "data race on global memory at 0x",
      "this write is not ordered after the write by work-item (0,0,0) of group ("}},
    {"rows of one work-item",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  volatile global int4 *v = (volatile global int4 *)q;\n"
     "  v[i] = (int4)(i + n); v[i] = v[i] + 1; p[i] = p[i] + 1;\n"
     "  ((volatile global int *)p)[i] += i; }",
     3,
     32,
     32,
     1024,
     false,
     {NULL}},
    {"row with unwritten bytes",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i < 8) p[i] = i + n;\n"
     "  barrier(CLK_GLOBAL_MEM_FENCE); q[i] = p[i]; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "STG", "work-item (8,0,0) of group (0,0,0)",
      "what is written to memory is undefined: it comes from uninitialised global memory, read"},
     .unwritten = true},
    {"unwritten row",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i < 16) p[i] = i + n;\n"
     "  barrier(CLK_GLOBAL_MEM_FENCE); q[i] = p[i]; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "STG", "work-item (16,0,0) of group (0,0,0)",
      "what is written to memory is undefined: it comes from uninitialised global memory, read"},
     .unwritten = true},
    {"written rows",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  p[i] = i + n; barrier(CLK_GLOBAL_MEM_FENCE); q[i] = p[63 - i]; }",
     3,
     64,
     64,
     256,
     false,
     {NULL},
     .unwritten = true},
    {"atomic in a row",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  p[i] = i + n; if (i == 3) atomic_add(p + i + 2, 1); }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "work-item (3,0,0) of group (0,0,0)", "data race on global memory",
      "this write is not ordered after the write by work-item (5,0,0)"}},
    {"row after a part",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  volatile global int *v = p; if (i == 3) p[20] = n; v[i] = i + 2 * n; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "STG", "work-item (20,0,0) of group (0,0,0)",
      "this write is not ordered after the write by work-item (3,0,0)"}},
    {"one word for all",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i == 5) p[0] = n; asm volatile(\"\" ::: \"memory\"); q[i] = p[0] + i; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "LDG", "work-item (0,0,0) of group (0,0,0)",
      "this read is not ordered after the write by work-item (5,0,0)"}},
    {"own word for all",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i == 0) p[0] = n; asm volatile(\"\" ::: \"memory\"); q[i] = p[0] + i; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "LDG", "work-item (1,0,0) of group (0,0,0)",
      "this read is not ordered after the write by work-item (0,0,0)"}},
    {"own row for both halves", /* the first half's reads are ordered, the second's are not */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i < 16) p[i] = n + i; asm volatile(\"\" ::: \"memory\"); q[i] = p[i & 15] + i; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "LDG", "work-item (16,0,0) of group (0,0,0)",
      "this read is not ordered after the write by work-item (0,0,0)"}},
    {"byte of a row",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i == 3) ((global char *)p)[6] = n; asm volatile(\"\" ::: \"memory\");\n"
     "  q[i] = ((global char *)p)[i] + i; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "LDG", "work-item (6,0,0) of group (0,0,0)",
      "this read is not ordered after the write by work-item (3,0,0)"}},
    {"write after bytes of a row",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  q[i] = ((global uchar *)p)[i & 31] + i; asm volatile(\"\" ::: \"memory\");\n"
     "  if (i == 40) ((global uchar *)p)[7] = n; }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "STG", "work-item (40,0,0) of group (0,0,0)",
      "this write is not ordered after the read by work-item (39,0,0)"}},
    {"unwritten bytes of a row",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  p[i & 3] = n; barrier(CLK_GLOBAL_MEM_FENCE); q[i] = ((global char *)p)[i]; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "STG", "work-item (16,0,0) of group (0,0,0)",
      "uninitialised global memory, read"},
     .unwritten = true},
    {"atomic on unwritten local memory",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64];\n"
     "  int i = get_local_id(0); if (i < 40) s[i] = 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  q[i] = atomic_add(s + (i ^ 1), n); }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "STG", "work-item (40,0,0) of group (0,0,0)",
      "uninitialised local memory, read"}},
    {"same value before an atomic",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64];\n"
     "  int i = get_local_id(0); s[i] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (i % 32 == 0) s[0] = n; if (i == 0) atomic_add(s, 1);\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); q[i] = s[0]; }",
     3,
     64,
     64,
     256,
     false,
     {NULL}},
    {"local race after a barrier",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[32];\n"
     "  int i = get_local_id(0); s[i] = i + n; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  int x = s[31 - i]; s[i] = x; p[i] = x + s[i]; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "STS", "work-item (0,0,0) of group (0,0,0)", "data race on local memory at",
      "this write is not ordered after the read by work-item (31,0,0)"}},
    {"local race of columns",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[32 * 33];\n"
     "  int i = get_local_id(0); s[i * 33] = i + n; p[i] = s[(31 - i) * 33]; }",
     3,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "LDS", "work-item (0,0,0) of group (0,0,0)", "data race on local memory at",
      "this read is not ordered after the write by work-item (31,0,0)"}},
    {"local phases",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64 * 4], t[64 * 33];\n"
     "  int i = get_local_id(0), x = i + n;\n"
     "  for (int k = 0; k < 20; k++) {\n"
     "    t[i * 33] = x; ((local int4 *)s)[i] = (int4)x; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    x += s[(63 - i) * 4 + k % 4] + t[(63 - i) * 33]; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    ((local uchar *)s)[i] = x; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    for (int j = 0; j < 64; j++) x += ((local uchar *)s)[j];\n"
     "    barrier(CLK_LOCAL_MEM_FENCE); }\n"
     "  p[i] = x; }",
     3,
     64,
     64,
     256,
     false,
     {NULL}},
    {"local race after own accesses",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64];\n"
     "  int i = get_local_id(0); s[i] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  s[i] += n; s[i] *= n; p[i] = s[i ^ 32]; }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on local memory at",
      "is not ordered after the write by work-item ("}},
    {"local own accesses",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[128], t[64 * 5];\n"
     "  int i = get_local_id(0); s[i] = i; s[i + 64] = n; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  for (int k = 64; k; k /= 2) { if (i < k) s[i] += s[i + k]; barrier(CLK_LOCAL_MEM_FENCE); "
     "}\n"
     "  t[i * 5] = s[0]; t[i * 5] += n; t[i * 5] *= n; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  p[i] = t[(63 - i) * 5]; }",
     3,
     64,
     64,
     256,
     false,
     {NULL}},
    {"warp barrier",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[32];\n"
     "  int i = get_local_id(0); s[i] = i + n;\n"
     "  for (int d = 16; d; d /= 2) { asm volatile(\"bar.warp.sync 0xffffffff;\" ::: \"memory\");\n"
     "    if (i < d) s[i] += s[i + d]; }\n"
     "  asm volatile(\"bar.warp.sync 0xffffffff;\" ::: \"memory\"); p[i] = s[0]; }",
     3,
     32,
     32,
     256,
     false,
     {NULL}},
    {"barrier not reached by all",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { if (get_local_id(0) >= n) return;\n"
     "  p[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); p[get_global_id(0)] += p[0]; }",
     48,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "BAR", "16 of the 64 work-items", "without reaching this barrier"}},
    {"two barriers",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i < n) { p[i] = 2; barrier(CLK_LOCAL_MEM_FENCE); p[i] += 5; }\n"
     "  else { p[i] = 3; barrier(CLK_LOCAL_MEM_FENCE); p[i] *= 5; } }",
     32,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "BAR", "waits at this barrier, but work-item"}},
    {"warp mask",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i < 8) asm volatile(\"bar.warp.sync %0;\" : : \"r\"((int)n + (i >> 3)));\n"
     "  p[i] = i; }",
     0x7f,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "lane 7 executes this with the mask 0x0000007f",
      "which does not include it"}},
    {"matrix lanes",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  int8 c = i;\n"
     "  if (i < n) c = tegracl_matrix_mad_i8((char16)1, (char16)(char)i, c);\n"
     "  p[i] = c.s0; }",
     4,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "IMMA", "4 of 32 lanes execute this together", "work-item (0,0,0)"}},
    {"absent lane",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0), x = i;\n"
     "  if (i >= n) asm volatile(\"shfl.sync.idx.b32 %0, %0, 0, 31, 0xfffffff0;\" : \"+r\"(x));\n"
     "  p[i] = x; }",
     4,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "STG", "a lane that does not participate", "work-item (4,0,0)"}},
    {"last of a buffer",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  global int *r = n & 1 ? p : q; r[1023 - get_global_id(0)] = q[n] + p[1023]; }",
     17,
     16,
     16,
     4096,
     false,
     {NULL}},
    {"race after a repeated read", /* one sub-group reads twice; the other's read still counts */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64];\n"
     "  int i = get_local_id(0), x = 0; s[i] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  for (int j = 0; j < (i < 32 ? 1 : n); j++) x += s[n + j * q[j]];\n"
     "  asm volatile(\"bar.warp.sync 0xffffffff;\" ::: \"memory\"); if (i == 32) s[n] = 5; p[i] = "
     "x; }",
     7,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on local memory", "not ordered after the read by work-item ("}},
    {"pointer of a sub-group",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[256];\n"
     "  int i = get_local_id(0); global int *r = i / 32 == n ? p : q; s[i] = i; r[i] = i;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); r[i] = s[255 - i]; }",
     3,
     256,
     256,
     1024,
     false,
     {NULL}},
    {"lanes after others ended", /* fewer in each sub-group, of which one has run alone */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[256];\n"
     "  int i = get_local_id(0), w = i / 32, x = 0, v;\n"
     "  for (int j = 0; j < w; j++) { x = x * 3 + p[j]; s[i] = x; }\n"
     "  int u = w == 0 ? q[1000 + i] : 1; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (i % 32 >= 4 * w + 4) return;\n"
     "  asm volatile(\"shfl.sync.bfly.b32 %0, %1, 16, 31, -1;\" : \"=r\"(v) : \"r\"(x) : "
     "\"memory\");\n"
     "  if (w == 7) p[i] = v; asm volatile(\"\" ::: \"memory\"); p[i + 256] = u; }",
     96,
     256,
     256,
     8192,
     false,
     {NULL}},
    {"difference of pointers",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { ulong d = (ulong)q - (ulong)p;\n"
     "  for (int i = 0; i < 8; i++) *(global int *)((ulong)(p + i * n) + d) = i; }",
     2,
     1,
     1,
     64,
     false,
     {NULL}},
    {"read only",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { p[n] = q[n] + 1; }",
     3,
     1,
     1,
     64,
     false,
     {"kernel k +0x", "STG", "write of 4 bytes at", "in a buffer that kernels may only read"},
     CL_MEM_READ_ONLY},
    {"read only atomic",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { atomic_add(p + n, 2); }",
     3,
     1,
     1,
     64,
     false,
     {"kernel k +0x", "write of 4 bytes at", "in a buffer that kernels may only read"},
     CL_MEM_READ_ONLY},
    {"write only",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { q[n] = p[n] + 1; }",
     3,
     1,
     1,
     64,
     false,
     {"kernel k +0x", "LDG", "read of 4 bytes at", "in a buffer that kernels may only write"},
     CL_MEM_WRITE_ONLY},
    {"read of read only",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { q[n] = p[n] + 1; }",
     3,
     1,
     1,
     64,
     false,
     {NULL},
     CL_MEM_READ_ONLY},
    {"global never written",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { if (get_global_id(0) < n)\n"
     "    p[get_global_id(0)] = 5; q[get_global_id(0)] = p[get_global_id(0)]; }",
     5,
     8,
     8,
     64,
     false,
     {"kernel k +0x", "STG", "uninitialised global memory", "work-item (5,0,0)"},
     0,
     true},
    {"global written",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_global_id(0);\n"
     "  if (i < n) p[i] = 5; int x = p[i]; if (i < n) q[i] = x; }",
     5,
     8,
     8,
     64,
     false,
     {NULL},
     0,
     true},
    {"global race in a group",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_global_id(0);\n"
     "  p[i] = i + n; q[i] = p[63 - i]; }",
     3,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the", "work-item ("}},
    {"global race of groups",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_global_id(0);\n"
     "  p[i] = i + n; barrier(CLK_GLOBAL_MEM_FENCE); q[i] = p[255 - i]; }",
     3,
     256,
     64,
     1024,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the", "of group ("}},
    {"global race of counters",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { p[0] += n; }",
     3,
     256,
     64,
     64,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the",
      "; 0 bytes into buffer 1 of "}},
    {"atomic and plain",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { atomic_add(p, (int)n);\n"
     "  q[get_global_id(0)] = p[0]; }",
     3,
     256,
     64,
     1024,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the"}},
    {"global without a race",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int i = get_global_id(0), l = get_local_id(0);\n"
     "  p[i] = i + n; barrier(CLK_GLOBAL_MEM_FENCE); q[i] = p[i - l + 63 - l];\n"
     "  atomic_add(p + 256, 1); q[256] = 7; }",
     3,
     256,
     64,
     2048,
     false,
     {NULL}},
    {"rows of another group",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), i = get_global_id(0);\n"
     "  p[i] = i + n; if (g > 0) q[i] = p[i - 64]; }",
     3,
     256,
     64,
     1024,
     false,
     {"kernel k +0x", "LDG", "data race on global memory",
      "this read is not ordered after the write", "of group ("}},
    {"part of the row of another group",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), i = get_global_id(0);\n"
     "  if (g == 0 && l == 3) p[l] = n; barrier(CLK_GLOBAL_MEM_FENCE);\n"
     "  if (g == 1) q[i] = p[l]; }",
     3,
     256,
     64,
     1024,
     false,
     {"kernel k +0x", "LDG", "data race on global memory",
      "this read is not ordered after the write", "of group ("}},
    {"rows of several warps",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), i = get_global_id(0);\n"
     "  q[l] = p[l]; if (l == 0) p[100] = n; }",
     3,
     128,
     128,
     512,
     false,
     {"kernel k +0x", "data race on global memory", "this write is not ordered after the read",
      "by work-item (100,0,0)"}},
    {"rows of warps with different clocks",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), i = get_global_id(0);\n"
     "  if (l < 32) sub_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); q[l] = p[l]; barrier(CLK_GLOBAL_MEM_FENCE); if (l == 0) "
     "p[40] = n; }",
     3,
     64,
     64,
     256,
     false,
     {NULL}},
    {"local write after a read by all warps",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), i = get_global_id(0);\n"
     "  local int s[128]; s[l] = l; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  int x = s[l & 31]; if (l == 5) s[l] = x + n; q[l] = x; }",
     3,
     128,
     128,
     512,
     false,
     {"kernel k +0x", "STS", "data race on local memory",
      "this write is not ordered after the read by work-item (101,0,0)"}},
    {"local write after a barrier of some warps", /* others have read the word before it */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  local int s[256]; int l = get_local_id(0); s[l] = l; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  int x = s[n]; if (l < 64) asm volatile(\"bar.sync 1, 64;\" ::: \"memory\");\n"
     "  if (l == 0) s[n] = 9; q[l] = x; }",
     3,
     256,
     256,
     1024,
     false,
     {"kernel k +0x", "STS", "data race on local memory",
      "this write is not ordered after the read by work-item (224,0,0)"}},
    {"private column never written",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), i = get_global_id(0);\n"
     "  int a[64]; for (int j = 0; j < n; j++) a[j] = j;\n"
     "  p[i] = a[(p[i + 64] + (l & 1) * 40) & 63]; }",
     32,
     64,
     64,
     512,
     false,
     {"kernel k +0x", "STG", "uninitialised private memory", "work-item (1,0,0)"}},
    {"unwritten through private of full warps",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), i = get_global_id(0);\n"
     "  int a[64]; for (int j = 0; j < n; j++) a[j] = q[j];\n"
     "  p[i] = a[(n - 3) & 63]; }",
     20,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "STG", "uninitialised global memory, read at kernel k +0x"},
     .unwritten = true},
    {"last group",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  local int last; int g = get_group_id(0), groups = get_num_groups(0);\n"
     "  if (get_local_id(0) == 0) { p[g] = g + n; asm volatile(\"membar.gl;\" ::: \"memory\");\n"
     "    last = atomic_inc(p + 256) == groups - 1; }\n"
     "  barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (last) { int s = 0; for (int i = 0; i < groups; i++) s += p[i];\n"
     "    if (get_local_id(0) == 0) q[0] = s; } }",
     3,
     512,
     64,
     2048,
     false,
     {NULL}},
    {"write of rows that all groups read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  int s = p[l]; q[get_global_id(0)] = s; barrier(CLK_GLOBAL_MEM_FENCE);\n"
     "  if (g == end) p[l] = s + n; }",
     3,
     4096,
     64,
     16384,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read", "of group ("}},
    {"write of a word that all groups read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  int s = 0; for (int j = 0; j < 16; j++) s += p[j];\n"
     "  q[get_global_id(0)] = s; if (g == end && l == 5) p[n] = s + 1; }",
     3,
     4096,
     64,
     16384,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read", "of group ("}},
    {"write of a byte that all groups read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  int s = p[l]; q[get_global_id(0)] = s; if (g == end && l == 5) ((global char *)p)[n] = 1; "
     "}",
     7,
     4096,
     64,
     16384,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read", "of group ("}},
    {"atomic on a word that all groups read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  int s = p[l]; q[get_global_id(0)] = s; if (g == end && l == 5) atomic_add(p + n, 1); }",
     7,
     4096,
     64,
     16384,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read", "of group ("}},
    {"write of rows that all groups have read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  local int last; int s = p[l]; q[get_global_id(0)] = s; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (l == 0) { asm volatile(\"membar.gl;\" ::: \"memory\");\n"
     "    last = atomic_inc(p + 256) == end; }\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); if (last) p[l] = s + n; }",
     3,
     4096,
     64,
     16384,
     false,
     {NULL}},
    {"write of rows that not all groups have released", /* the first two read at the same time */
     NULL,
     "#define WAIT(at, count) for (int j = 0; j < 100000 && *(volatile global int *)(at) < count; "
     "j++)\n"
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  local int turn; int l = get_local_id(0), end = get_num_groups(0) - 1;\n"
     "  if (l == 0) turn = atomic_inc(q + n);\n"
     "  barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (turn == 8) WAIT(q + n + 2, 2);\n"
     "  if (turn == end) WAIT(q + n + 3, 1);\n"
     "  q[get_global_id(0)] = turn < 2 || turn == 8 ? p[l & 31] : 0;\n"
     "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
     "  if (turn < 2) {\n"
     "    if (l == 0) atomic_inc(q + n + 1);\n"
     "    WAIT(q + n + 1, 2);\n"
     "    asm volatile(\"membar.gl;\" ::: \"memory\");\n"
     "    if (l == 0) atomic_inc(q + n + 2); }\n"
     "  if (turn == 8 && l == 0) atomic_inc(q + n + 3);\n"
     "  if (turn == end && l < 32) p[l] = 1; }",
     4096,
     4096,
     64,
     4100 * 4,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read", "of group ("}},
    {"write of rows that another group reads", /* before the write */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0);\n"
     "  int s = p[l & 31]; q[get_global_id(0)] = s;\n"
     "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
     "  if (g > 0) atomic_add(q + n, 1);\n"
     "  for (int j = 0; j < 100000 && !*(volatile global int *)(q + n); j++);\n"
     "  if (g == 0 && l < 32) p[l] = 1; }",
     512,
     512,
     256,
     513 * 4,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the", "of group ("}},
    {"write of rows that an earlier grid has read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  local int turn; int l = get_local_id(0), groups = get_num_groups(0);\n"
     "  if (l == 0) turn = atomic_inc(q + n);\n"
     "  barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (turn <= groups) q[get_global_id(0)] = p[l & 31];\n"
     "  if (turn == 2 * groups - 1 && l < 32) p[l] = 1; }",
     4096,
     4096,
     64,
     4097 * 4,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read", "of group ("},
     .launches = 2},
    {"write of a word in a row that all groups read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  q[get_global_id(0)] = g < end / 2 ? p[0] : g < end ? p[n] : 0;\n"
     "  if (g == end && l == 0) p[n] = 1; }",
     5,
     4096,
     64,
     16384,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read", "of group ("}},
    {"write of a row after one that all groups read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  q[get_global_id(0)] = g < end / 2 ? p[l & 15] : g < end ? p[8 + (l & 15)] : 0;\n"
     "  if (g == end && l == 0) p[n] = 1; }",
     20,
     4096,
     64,
     16384,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read", "of group ("}},
    {"write of a column after a row that all groups read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  q[get_global_id(0)] = g < end / 2 ? p[l & 15] : g < end ? p[(l & 15) * 16] : 0;\n"
     "  if (g == end && l == 0) p[n] = 1; }",
     48,
     4096,
     64,
     16384,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read", "of group ("}},
    {"atomic on rows with volatile reads",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  int s = g < 3 ? *(volatile global int *)(p + l) : g == end / 2 ? p[l] : 0;\n"
     "  q[get_global_id(0)] = s; if (g == end) atomic_add(p + l, 1); }",
     3,
     16384,
     64,
     65536,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the read",
      "of group (127,0,0)"}},
    {"read of rows that some groups have acquired",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  if (g == 0) { p[l] = 1; asm volatile(\"membar.gl;\" ::: \"memory\");\n"
     "    barrier(CLK_GLOBAL_MEM_FENCE); if (l == 0) atomic_inc(q + n); }\n"
     "  if (g > end - 9 && g < end)\n"
     "    for (int j = 0; j < 100000 && !*(volatile global int *)(q + n); j++);\n"
     "  if (g > end - 9) q[get_global_id(0)] = p[l & 31]; }",
     16384,
     16384,
     64,
     16385 * 4,
     false,
     {"kernel k +0x", "LDG", "data race on global memory", "is not ordered after the write",
      "of group (0,0,0)"}},
    {"unwritten rows that all groups read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  int s; asm volatile(\"ld.global.b32 %0, [%1];\" : \"=r\"(s) : \"l\"(p + l));\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); if (g == end) q[l] = s; }",
     3,
     4096,
     64,
     16384,
     false,
     {"kernel k +0x", "uninitialised global memory", "of group (63,0,0)"},
     .unwritten = true},
    {"unwritten words that all groups read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  int l = get_local_id(0), g = get_group_id(0), end = get_num_groups(0) - 1;\n"
     "  int s = 0, t; for (int j = 0; j < 16; j++) {\n"
     "    asm volatile(\"ld.global.b32 %0, [%1];\" : \"=r\"(t) : \"l\"(p + j)); s += t; }\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); if (g == end) q[l] = s; }",
     3,
     4096,
     64,
     16384,
     false,
     {"kernel k +0x", "uninitialised global memory", "of group (63,0,0)"},
     .unwritten = true},
    {"lock",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) {\n"
     "  for (int done = 0; !done;) if (atomic_cmpxchg(q, 0, 1) == 0) {\n"
     "    p[0] += n; asm volatile(\"membar.gl;\" ::: \"memory\"); atomic_xchg(q, 0);\n"
     "    done = 1; } }",
     3,
     128,
     64,
     64,
     false,
     {NULL}},
    {"barrier of 33",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int c = (int)n;\n"
     "  asm volatile(\"bar.sync 1, %0;\" : : \"r\"(c)); p[get_global_id(0)] = 1; }",
     33,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "BAR", "barrier 1 is for 33 work-items, which is not a multiple of 32"}},
    {"barriers of sub-groups", /* in one batch, with two counts */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int c = get_local_id(0) < 32 ? 64 : n;"
     "\n"
     "  asm volatile(\"bar.sync 1, %0;\" : : \"r\"(c)); p[get_global_id(0)] = 1; }",
     96,
     128,
     128,
     512,
     true,
     {"kernel k +0x", "BAR", "barrier 1 is for ", "work-items here, but for "}},
    {"race beside a barrier", /* opened by the first half of a batch */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[256];\n"
     "  int i = get_local_id(0); s[i] = i + n; asm volatile(\"bar.sync 1, 128;\" ::: \"memory\");\n"
     "  p[i] = s[i ^ 128]; }",
     3,
     256,
     256,
     1024,
     false,
     {"kernel k +0x", "data race on local memory", "is not ordered after the write by"}},
    {"two values", /* the second store is of the value that memory has before the first */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[1]; int i = "
     "get_local_id(0);\n"
     "  if (i == 0) s[0] = 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (i % 32 == 0) s[0] = i < n; barrier(CLK_LOCAL_MEM_FENCE); p[i] = s[0]; }",
     32,
     256,
     256,
     1024,
     false,
     {"kernel k +0x", "data race on local memory", "this write is not ordered after the write by"}},
    {"two values in rows",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  p[i % 32] = i < n ? i + 1 : 0; }",
     32,
     256,
     256,
     1024,
     false,
     {"kernel k +0x", "data race on global memory",
      "this write is not ordered after the write by"}},
    {"repeated value after an atomic", /* the record of an earlier store has the same value */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int c, h; int i = "
     "get_local_id(0);\n"
     "  if (i == 0) h = 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (i == 0) c = 0; atomic_inc(&h); barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  atomic_inc(&c); barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  int x = c; if (i == 0) c = 0; p[i] = x; }",
     64,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on local memory", "is not ordered after the"}},
    {"partly repeated values", /* some of the words have the value already */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0) % 32;\n"
     "  p[i] = i % 3 ? n : 0; }",
     3,
     256,
     256,
     256,
     false,
     {NULL}},
    {"partly repeated values after a read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  q[i] = i < 32 ? p[i] : 3; p[i % 32] = i % 3 ? n : 0; }",
     3,
     96,
     96,
     512,
     false,
     {"kernel k +0x", "data race on global memory", "is not ordered after the"}},
    {"partly repeated values after a sub-group barrier",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  int v = i < 32 ? p[i] : 3; sub_group_barrier(0);\n"
     "  p[i % 32] = i % 32 % 3 ? n : 0; q[i] = v; }",
     3,
     256,
     256,
     1024,
     false,
     {"kernel k +0x", "data race on global memory", "this write is not ordered after the"}},
    {"strong stores by both halves of a sub-group",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  if (i < 32) { asm volatile(\"st.relaxed.gpu.global.u32 [%0], %1;\"\n"
     "    :: \"l\"(p + i % 16), \"r\"((int)n) : \"memory\");\n"
     "  if (i >= 16) p[i % 16] = 2; } }",
     3,
     256,
     256,
     1024,
     false,
     {"kernel k +0x", "data race on global memory", "this write is not ordered after the"}},
    {"repeated value after a read",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int f; int i = "
     "get_local_id(0);\n"
     "  if (i == 0) f = 1; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (i == 0) p[9] = f; f = 5; }",
     64,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "data race on local memory",
      "is not ordered after the read by work-item (0"}},
    {"repeated value",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int f;\n"
     "  f = n; q[0] = n + 2; barrier(CLK_LOCAL_MEM_FENCE); p[get_local_id(0)] = f; }",
     64,
     64,
     64,
     256,
     false,
     {NULL}},
    {"atomic on unwritten memory",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int i = get_local_id(0);\n"
     "  q[i] = atomic_inc(&p[i]); }",
     0,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "what is written to memory is undefined", "uninitialised global memory"},
     0,
     true},
    {"atomic on an undefined value", /* in local memory, all of which was written before */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[32];\n"
     "  int i = get_local_id(0), x = q[i]; s[i] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  atomic_inc(&s[31 - i]); barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (i == 3) s[i] = x; barrier(CLK_LOCAL_MEM_FENCE); p[i] = atomic_inc(&s[31 - i]); }",
     0,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "work-item (28,0,0)", "what is written to memory is undefined",
      "uninitialised global memory"},
     0,
     true},
    {"undefined in some lanes", /* the others overwrite it, in instructions with a guard */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int4 s[64];\n"
     "  int i = get_local_id(0); if (n > 100) s[i] = (int4)(i); barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  int4 v = s[i ^ 1]; asm(\"{ .reg .pred p; setp.lt.s32 p, %3, 7; @p xor.b32 %0, %3, 5;\"\n"
     "    \" @p xor.b32 %1, %3, 9; @p xor.b32 %2, %3, 11; }\"\n"
     "    : \"+r\"(v.x), \"+r\"(v.y), \"+r\"(v.z) : \"r\"(i));\n"
     "  p[i] = v.x ^ v.y ^ v.z; }",
     0,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "work-item (7,0,0) of group (0,0,0)",
      "what is written to memory is undefined", "uninitialised local memory"}},
    {"undefined where a loop was skipped",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int4 s[64];\n"
     "  int i = get_local_id(0); if (n > 100) s[i] = (int4)(i); barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  int4 v = s[i ^ 1]; for (int j = 0; j < i; j++)\n"
     "    asm volatile(\"xor.b32 %0, %3, 5; xor.b32 %1, %3, 9; xor.b32 %2, %3, 11;\"\n"
     "      : \"=r\"(v.x), \"=r\"(v.y), \"=r\"(v.z) : \"r\"(i));\n"
     "  p[i] = v.x ^ v.y ^ v.z; }",
     0,
     32,
     32,
     256,
     false,
     {"kernel k +0x", "work-item (0,0,0) of group (0,0,0)",
      "what is written to memory is undefined", "uninitialised local memory"}},
    {"repeated bytes", /* two bytes of one word, in several groups */
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[1];\n"
     "  int i = get_local_id(0); ((global char *)q)[(i & 3) == 2] = 7;\n"
     "  ((local char *)s)[(i & 3) == 2] = n; q[3] = n; p[9] = n; }",
     5,
     1024,
     64,
     256,
     false,
     {NULL}},
    {"atomic on write only",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { atomic_inc(&p[get_local_id(0) % 7]); "
     "}",
     64,
     64,
     64,
     256,
     false,
     {"kernel k +0x", "RED", "read of 4 bytes at", "in a buffer that kernels may only write"},
     CL_MEM_WRITE_ONLY},
    {"barrier of too many",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int c = (int)n;\n"
     "  asm volatile(\"bar.sync 1, %0;\" : : \"r\"(c)); p[get_global_id(0)] = 1; }",
     96,
     64,
     64,
     256,
     true,
     {"kernel k +0x", "BAR", "barrier 1 is for 96 work-items, but the group has 64"}},
    {"barrier of half",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int c = (int)n;\n"
     "  if (get_local_id(0) < 32) asm volatile(\"bar.sync 1, %0;\" : : \"r\"(c));\n"
     "  p[get_global_id(0)] = 1; }",
     32,
     64,
     64,
     256,
     false,
     {NULL}},
    {"local without a race",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { local int s[64];\n"
     "  int i = get_local_id(0); s[i] = i + n; barrier(CLK_LOCAL_MEM_FENCE); int x = s[63 - i];\n"
     "  barrier(CLK_LOCAL_MEM_FENCE); s[i] = x; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  p[get_global_id(0)] = s[63 - i]; }",
     3,
     64,
     64,
     256,
     false,
     {NULL}},
    {"private written",
     NULL,
     "kernel void k(global int *p, ulong n, global int *q) { int a[64];\n"
     "  for (int i = 0; i < n; i++) a[i] = i;\n"
     "  p[get_global_id(0)] = a[(q[1] + 7) & 63]; }",
     64,
     2,
     2,
     256,
     false,
     {NULL}},
    {"constant range",
     NULL,
     "constant int table[4] = {1, 5, 9, 22};\n"
     "kernel void k(global int *p, ulong n, global int *q) { p[0] = table[n + p[1]]; }",
     1 << 12,
     1,
     1,
     256,
     false,
     {"kernel k +0x", "LDC", "constant bank 3, which has"}},
    {"endless in a batch", /* it uses up the limit amid a sequence that executes as one */
     "check:watchdog=130",
     "kernel void k(global int *p, ulong n, global int *q) { volatile global int *v = p; while "
     "(v[0] != 1); }",
     0,
     1024,
     1024,
     256,
     true,
     {"kernel k", "executed 130 warp instructions", "group (0,0,0)"}},
    {"endless",
     "check:watchdog=100000",
     "kernel void k(global int *p, ulong n, global int *q) { volatile global int *v = p; while "
     "(v[0] != 1); }",
     0,
     32,
     32,
     256,
     true,
     {"kernel k", "executed 100000 warp instructions", "group (0,0,0)"}},
};

static char text[REPORT_BYTES];

static FILE *divert(void) {
  FILE *file = tmpfile();
  CHECK(file);
  CHECK(dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
  return file;
}

static void read_back(FILE *file) {
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  printf("%s", text);
  fclose(file);
}

static void expect(const char *what) {
  if (strstr(text, what))
    return;
  printf("the report lacks \"%s\"\n", what);
  exit(1);
}

static void expect_none(void) {
  if (!strstr(text, "tegracl: check: "))
    return;
  printf("a program that is right is reported\n");
  exit(1);
}

/* Each line of a report states the place, the access and the work-item. */
static void expect_complete(void) {
  static const char *const parts[] = {"kernel k +0x", ", line ",
                                      " of the program source: ", ": work-item (", ") of group ("};
  for (char *line = strstr(text, "tegracl: check: "); line;) {
    char *next = strchr(line, '\n');
    if (next)
      *next++ = 0;
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
      if (!strstr(line, parts[k])) {
        printf("a report lacks \"%s\": %s\n", parts[k], line);
        exit(1);
      }
    line = next ? strstr(next, "tegracl: check: ") : NULL;
  }
}

static cl_mem make_buffer(const struct opencl *opencl, const struct fault_case *c,
                          cl_mem_flags flags) {
  const cl_int zero = 0;
  cl_int error;
  cl_mem buffer = clCreateBuffer(opencl->context, flags, c->buffer, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  if (!c->unwritten)
    CHECK_CL(
        clEnqueueFillBuffer(opencl->queue, buffer, &zero, sizeof zero, 0, c->buffer, 0, NULL, NULL),
        CL_SUCCESS);
  return buffer;
}

static void run(const struct fault_case *c) {
  struct opencl opencl;
  setenv("TEGRACL_EMULATOR", c->options ? c->options : "check", 1);
  FILE *file = divert();
  opencl_open(&opencl);
  cl_kernel kernel = opencl_kernel(&opencl, c->source, "k");
  cl_mem p = make_buffer(&opencl, c, c->flags), q = make_buffer(&opencl, c, 0);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof p, &p), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof c->n, &c->n), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof q, &q), CL_SUCCESS);
  for (unsigned k = 0; k == 0 || k < c->launches; k++)
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &c->global,
                                    c->local ? &c->local : NULL, 0, NULL, NULL),
             CL_SUCCESS);
  const cl_int error = clFinish(opencl.queue);
  CHECK_CL(clReleaseMemObject(p), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(q), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  opencl_close(&opencl);
  read_back(file);
  for (size_t k = 0; k < sizeof c->expected / sizeof c->expected[0] && c->expected[k]; k++)
    expect(c->expected[k]);
  if ((error != CL_SUCCESS) != c->ends) {
    printf("clFinish gives %d\n", error);
    exit(1);
  }
  if (!c->expected[0])
    expect_none();
  expect_complete();
}

static void launch_one(const struct opencl *opencl, cl_kernel kernel) {
  const size_t one = 1;
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
}

/* Returns the address of a buffer in kernels. */
static cl_ulong address_of(const struct opencl *opencl, cl_mem buffer) {
  cl_int error;
  cl_ulong address = 0;
  cl_kernel tell = opencl_kernel(
      opencl, "kernel void k(global int *p, global ulong *at) { *at = (ulong)p; }", "k");
  cl_mem at = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, sizeof address, NULL, &error);
  CHECK_CL(clSetKernelArg(tell, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(tell, 1, sizeof at, &at), CL_SUCCESS);
  launch_one(opencl, tell);
  CHECK_CL(
      clEnqueueReadBuffer(opencl->queue, at, CL_TRUE, 0, sizeof address, &address, 0, NULL, NULL),
      CL_SUCCESS);
  CHECK_CL(clReleaseKernel(tell), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(at), CL_SUCCESS);
  return address;
}

/* A kernel gets the address of a released buffer. */
static void freed(void) {
  struct opencl opencl;
  cl_int error;
  setenv("TEGRACL_EMULATOR", "check", 1);
  FILE *file = divert();
  opencl_open(&opencl);
  cl_kernel use =
      opencl_kernel(&opencl, "kernel void k(ulong at) { *(global int *)(at + 8) = 1; }", "k");
  cl_mem gone = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, 5000, NULL, &error);
  const cl_ulong address = address_of(&opencl, gone);
  CHECK_CL(clReleaseMemObject(gone), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(use, 0, sizeof address, &address), CL_SUCCESS);
  launch_one(&opencl, use);
  CHECK(clFinish(opencl.queue) != CL_SUCCESS);
  CHECK_CL(clReleaseKernel(use), CL_SUCCESS);
  opencl_close(&opencl);
  read_back(file);
  expect("kernel k +0x");
  expect("8 bytes into the freed buffer 1 of 5000 bytes");
  expect_complete();
}

/* An index into one buffer exceeds it and addresses another buffer. That is reported unless it is
 * unknown to which buffer the address belongs. */
static void adjacent_buffer(const char *source, bool is_reported) {
  struct opencl opencl;
  cl_int error;
  cl_mem buffers[2];
  enum { FIRST = 4096, SECOND = 8000 };
  setenv("TEGRACL_EMULATOR", "check", 1);
  FILE *file = divert();
  opencl_open(&opencl);
  cl_kernel use = opencl_kernel(&opencl, source, "k");
  for (int i = 0; i < 2; i++)
    buffers[i] =
        clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, i ? SECOND : FIRST, NULL, &error);
  const cl_long apart =
      (cl_long)(address_of(&opencl, buffers[1]) - address_of(&opencl, buffers[0])) / 4 + 6;
  CHECK_CL(clSetKernelArg(use, 0, sizeof buffers[0], &buffers[0]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(use, 1, sizeof apart, &apart), CL_SUCCESS);
  launch_one(&opencl, use);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(use), CL_SUCCESS);
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseMemObject(buffers[i]), CL_SUCCESS);
  opencl_close(&opencl);
  read_back(file);
  if (is_reported) {
    expect("bytes past the end of buffer 1 of 4096 bytes");
    expect(", argument 0; 24 bytes into buffer 2 of 8000 bytes");
  } else {
    expect_none();
  }
  expect_complete();
}

/* Check mode does not know to which buffer a pointer from memory belongs, but the memory after
 * the buffer is not mapped. */
static void stored_pointer(void) {
  struct opencl opencl;
  cl_int error;
  setenv("TEGRACL_EMULATOR", "check", 1);
  FILE *file = divert();
  opencl_open(&opencl);
  cl_kernel use = opencl_kernel(
      &opencl, "kernel void k(global ulong *p, ulong n) { ((global int *)p[0])[n] = 1; }", "k");
  cl_mem at = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, 4096, NULL, &error);
  cl_mem next = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, 4096, NULL, &error);
  const cl_ulong address = address_of(&opencl, at), n = 4096 / sizeof(cl_int);
  CHECK_CL(
      clEnqueueWriteBuffer(opencl.queue, at, CL_TRUE, 0, sizeof address, &address, 0, NULL, NULL),
      CL_SUCCESS);
  CHECK_CL(clSetKernelArg(use, 0, sizeof at, &at), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(use, 1, sizeof n, &n), CL_SUCCESS);
  launch_one(&opencl, use);
  CHECK(clFinish(opencl.queue) != CL_SUCCESS);
  CHECK_CL(clReleaseKernel(use), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(at), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(next), CL_SUCCESS);
  opencl_close(&opencl);
  read_back(file);
  expect("not mapped, or mapped read-only; 0 bytes past the end of buffer 1 of 4096 bytes");
  expect_complete();
}

/* Memory that the host has written in any way counts as initialised. */
static void host_writes(void) {
  struct opencl opencl;
  cl_int error;
  enum { WAYS = 6, BYTES = 4 };
  const cl_int five = 5, zeros[WAYS] = {0};
  size_t items = WAYS;
  setenv("TEGRACL_EMULATOR", "check", 1);
  FILE *file = divert();
  opencl_open(&opencl);
  cl_kernel use =
      opencl_kernel(&opencl,
                    "kernel void k(global int *p, global int *q) { int i = get_global_id(0);\n"
                    "  q[i] = p[i] + 1; }",
                    "k");
  cl_mem p = clCreateBuffer(opencl.context, 0, sizeof zeros, NULL, &error);
  cl_mem q = clCreateBuffer(opencl.context, CL_MEM_WRITE_ONLY, sizeof zeros, NULL, &error);
  cl_mem from =
      clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, sizeof zeros, (void *)zeros, &error);
  const size_t origin[3] = {2 * BYTES, 0, 0}, none[3] = {0}, region[3] = {BYTES, 1, 1};
  CHECK_CL(clEnqueueWriteBuffer(opencl.queue, p, CL_TRUE, 0, BYTES, &five, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueFillBuffer(opencl.queue, p, &five, BYTES, BYTES, BYTES, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueWriteBufferRect(opencl.queue, p, CL_TRUE, origin, none, region, 0, 0, 0, 0,
                                    &five, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueCopyBuffer(opencl.queue, from, p, 0, 3 * BYTES, BYTES, 0, NULL, NULL),
           CL_SUCCESS);
  cl_int *mapped = clEnqueueMapBuffer(opencl.queue, p, CL_TRUE, CL_MAP_WRITE, 4 * BYTES, 2 * BYTES,
                                      0, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  mapped[0] = mapped[1] = five;
  CHECK_CL(clEnqueueUnmapMemObject(opencl.queue, p, mapped, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(use, 0, sizeof p, &p), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(use, 1, sizeof q, &q), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, use, 1, NULL, &items, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(use), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(p), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(q), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(from), CL_SUCCESS);
  opencl_close(&opencl);
  read_back(file);
  expect_none();
}

/* Executes kernels k, of the given size, and visit, of 64 work-items, at the same time. */
static void two_grids(const char *source, size_t items, const char *const expected[2]) {
  static const cl_int zeros[1024] = {0};
  const size_t group = 64;
  struct opencl opencl;
  cl_int error;
  cl_kernel kernels[2];
  cl_mem buffers[3];
  setenv("TEGRACL_EMULATOR", "check", 1);
  FILE *file = divert();
  opencl_open(&opencl);
  cl_command_queue other =
      clCreateCommandQueueWithProperties(opencl.context, opencl.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (int i = 0; i < 3; i++)
    buffers[i] = clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, sizeof zeros,
                                (void *)(uintptr_t)zeros, &error);
  for (int k = 0; k < 2; k++) {
    kernels[k] = opencl_kernel(&opencl, source, k ? "visit" : "k");
    for (cl_uint i = 0; i < 3; i++)
      CHECK_CL(clSetKernelArg(kernels[k], i, sizeof buffers[i], &buffers[i]), CL_SUCCESS);
  }
  for (int k = 0; k < 2; k++) {
    cl_command_queue queue = k ? other : opencl.queue;
    CHECK_CL(clEnqueueNDRangeKernel(queue, kernels[k], 1, NULL, k ? &group : &items, &group, 0,
                                    NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clFlush(queue), CL_SUCCESS);
  }
  CHECK_CL(clFinish(other), CL_SUCCESS);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  for (int k = 0; k < 2; k++)
    CHECK_CL(clReleaseKernel(kernels[k]), CL_SUCCESS);
  for (int i = 0; i < 3; i++)
    CHECK_CL(clReleaseMemObject(buffers[i]), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(other), CL_SUCCESS);
  opencl_close(&opencl);
  read_back(file);
  expect(expected[0]);
  expect(expected[1]);
  expect_complete();
}

/* A grid of another queue reads the whole row while the kernel waits between a write of a word or
 * of the row, and a read that races with it. */
static void another_grid(const char *write) {
  char source[1024];
  snprintf(source, sizeof source,
           "kernel void k(global int *p, volatile global int *go, global int *out) {\n"
           "  int i = get_local_id(0), gone = 0;\n"
           "  %s;\n"
           "  if (i == 21) { while (!gone) gone = *go; out[0] = p[19 + gone]; }\n"
           "}\n"
           "kernel void visit(global int *p, volatile global int *go, global int *out) {\n"
           "  int i = get_local_id(0);\n"
           "  out[i] = p[i];\n"
           "  if (i == 0) *go = 1;\n"
           "}\n",
           write);
  two_grids(
      source, 64,
      (const char *const[]){"data race on global memory",
                            "this read is not ordered after the write by work-item (20,0,0)"});
}

/* It reads rows that several groups of the kernel have read, before others read them. */
static void another_grid_reads(void) {
  two_grids(
      "#define WAIT(at, n) for (int j = 0; j < 1000000 && *(volatile global int *)(at) < n; j++)\n"
      "kernel void k(global int *p, global int *turns, global int *out) {\n"
      "  local int turn; int i = get_local_id(0), end = get_num_groups(0) - 1;\n"
      "  if (i == 0) turn = atomic_inc(turns);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  if (turn >= 4) WAIT(turns + 1, 1);\n"
      "  if (turn == end) WAIT(turns + 2, end);\n"
      "  if (turn < end) {\n"
      "    out[get_global_id(0)] = p[i & 31]; barrier(CLK_GLOBAL_MEM_FENCE);\n"
      "    if (i == 0) atomic_inc(turns + 2);\n"
      "  } else if (i < 32) p[i] = 1;\n"
      "}\n"
      "kernel void visit(global int *p, global int *turns, global int *out) {\n"
      "  int i = get_local_id(0); WAIT(turns + 2, 4);\n"
      "  p[i + 64] = p[i & 31]; barrier(CLK_GLOBAL_MEM_FENCE);\n"
      "  if (i == 0) atomic_inc(turns + 1);\n"
      "}\n",
      1024,
      (const char *const[]){"data race on global memory",
                            "this write is not ordered after the read"});
}

/* An unknown word in TEGRACL_EMULATOR causes one message, and no device is found. */
static void unknown(void) {
  cl_platform_id platform;
  cl_uint count = 0;
  setenv("TEGRACL_EMULATOR", "check,prefile", 1);
  FILE *file = divert();
  if (clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS)
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
  read_back(file);
  expect("\"prefile\" is none of check");
  if (count) {
    printf("there is a device\n");
    exit(1);
  }
}

/* Checks that the build runs all cases. */
static int check_list(char *const *listed, int count) {
  int missing = 0;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    int n = 0;
    while (n < count && strcmp(listed[n], cases[k].name))
      n++;
    if (n == count)
      fprintf(stderr, "meson.build does not list \"%s\"\n", cases[k].name);
    missing += n == count;
  }
  return missing != 0;
}

int main(int argc, char **argv) {
  const char *name = argc == 2 ? argv[1] : "";
  if (argc > 2 && !strcmp(argv[1], "listed"))
    return check_list(argv + 2, argc - 2);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    if (!strcmp(name, cases[k].name)) {
      run(&cases[k]);
      return 0;
    }
  if (!strcmp(name, "freed"))
    freed();
  else if (!strcmp(name, "adjacent buffer"))
    adjacent_buffer("kernel void k(global int *p, long n) { p[n] = n; }", true);
  else if (!strcmp(name, "private index"))
    adjacent_buffer("kernel void k(global int *p, long n) {\n"
                    "  long a[32]; for (int i = 0; i < 32; i++) a[i] = i;\n"
                    "  a[n & 31] = n; p[a[(n ^ get_global_id(0)) & 31]] = n; }",
                    true);
  else if (!strcmp(name, "stored pointer"))
    stored_pointer();
  else if (!strcmp(name, "kept difference"))
    adjacent_buffer("kernel void k(global int *p, long n) { long x;\n"
                    "  asm volatile(\"st.u64 [%1], %2; ld.u64 %0, [%1];\"\n"
                    "    : \"=l\"(x) : \"l\"(p), \"l\"(-4 * n) : \"memory\");\n"
                    "  *(global int *)((global char *)p - x) = n; }",
                    false);
  else if (!strcmp(name, "host writes"))
    host_writes();
  else if (!strcmp(name, "another grid"))
    another_grid("if (i == 20) p[i] = 7");
  else if (!strcmp(name, "another grid and rows"))
    another_grid("p[i] = i + 7");
  else if (!strcmp(name, "another grid reads"))
    another_grid_reads();
  else if (!strcmp(name, "unknown word"))
    unknown();
  else
    return 2;
  return 0;
}
