/* The machine code of a program and what is known of its kernels, as plain data. The CUBIN reader
 * (gpu/cubin/cubin.c) fills these structs in, and runtime/ loads and launches them. No types of
 * OpenCL, LLVM or the GPU driver appear here.
 */
#ifndef TEGRACL_KERNEL_CODE_H
#define TEGRACL_KERNEL_CODE_H

#include <stdint.h>

#define MODULE_NO_SECTION UINT32_MAX

/* A piece of the module that needs a GPU address (or, for MODULE_BANK2, a
 * constant bank of one kernel). */
enum module_section_kind {
  MODULE_TEXT,   /* code of one kernel and of functions that it calls */
  MODULE_GLOBAL, /* .nv.global and .nv.global.init */
  MODULE_BANK2,  /* .nv.constant2.<kernel>: compiler constants */
  MODULE_BANK3,  /* .nv.constant3: user __constant__ variables */
  MODULE_BANK4,  /* .nv.constant4: addresses, filled by relocation */
};

struct module_section {
  enum module_section_kind kind;
  uint64_t size;    /* bytes in GPU memory */
  uint64_t align;   /* power of two, at least 1 */
  const void *data; /* size bytes, owned by the module; NULL: all zero */
};

/* Kinds of relocation (numbers of docs/hardware/cubin.md section 4). */
enum module_reloc_kind {
  MODULE_RELOC_ABS32,    /* 32-bit S + A */
  MODULE_RELOC_ABS64,    /* 64-bit S + A */
  MODULE_RELOC_LO32_32,  /* instruction bits 63:32 = low word of S + A */
  MODULE_RELOC_HI32_32,  /* instruction bits 63:32 = high word of S + A */
  MODULE_RELOC_ABS47_34, /* instruction bits 80:34 = (S + A) >> 2 */
};

/* A patch of sections[section] at offset (bytes), with S + A = address of sections[target] + value.
 * The reader has checked that the place is inside the section and that both sections exist. */
struct module_reloc {
  uint32_t section;
  uint32_t target;
  uint64_t offset;
  int64_t value; /* symbol value plus addend */
  enum module_reloc_kind kind;
};

enum kernel_arg_kind {
  KERNEL_ARG_VALUE,    /* size bytes copied into the parameters */
  KERNEL_ARG_GLOBAL,   /* 64-bit GPU address (also __constant pointers) */
  KERNEL_ARG_CONSTANT, /* as GLOBAL, but another answer to OpenCL's queries */
  KERNEL_ARG_LOCAL,    /* 32-bit byte offset into dynamic shared memory */
  KERNEL_ARG_IMAGE,    /* struct kernel_image */
  KERNEL_ARG_SAMPLER,  /* 32-bit word of enum kernel_sampler */
};

/* An image as a kernel sees it: linear memory. The device library declares the same struct. Texel
 * (x, y, z) begins at base + (z * slice_rows + y) * row_pitch + (x << texel_shift); z is the slice,
 * or the layer of an array. */
struct kernel_image {
  uint64_t base; /* GPU address */
  uint32_t width;
  uint16_t height, depth;
  uint32_t row_pitch;  /* bytes */
  uint32_t slice_rows; /* rows from a slice or layer to the next */
  uint32_t format;     /* made of enum kernel_image_format */
  uint32_t texture;    /* made of enum kernel_texture; 0: the texture units cannot read it */
};

/* Parts of kernel_image.texture by their lowest bits. With the bits of a sampler it is a handle of
 * the texture units, whose header is that of the first slice or layer. */
enum kernel_texture {
  KERNEL_TEXTURE_HEADER = 0,   /* index of the header, 20 bits */
  KERNEL_TEXTURE_SAMPLER = 20, /* enum kernel_sampler, 6 bits: 0 in kernel_image.texture */
  KERNEL_TEXTURE_BORDER = 26,  /* enum kernel_border, 2 bits */
  KERNEL_TEXTURE_FLAT = 28,    /* 1: the image has one dimension */
  KERNEL_TEXTURE_SAMPLERS = 1 << 9,
};

/* The alpha of the border's colour, whose other components are 0. */
enum kernel_border { KERNEL_BORDER_0, KERNEL_BORDER_FLOAT_1, KERNEL_BORDER_INTEGER_1 };

/* Parts of kernel_image.format by their lowest bits, 8 bits each. */
enum kernel_image_format {
  KERNEL_IMAGE_ORDER = 0,        /* channel order, less CL_R */
  KERNEL_IMAGE_TYPE = 8,         /* channel type, less CL_SNORM_INT8 */
  KERNEL_IMAGE_TEXEL_SHIFT = 16, /* binary logarithm of a texel's bytes */
};

/* The bits of a sampler: CLK_* of clang's opencl-c-base.h. */
enum kernel_sampler {
  KERNEL_SAMPLER_NORMALIZED = 1,
  KERNEL_SAMPLER_CLAMP_TO_EDGE = 2,
  KERNEL_SAMPLER_CLAMP = 4,
  KERNEL_SAMPLER_REPEAT = 6,
  KERNEL_SAMPLER_MIRRORED_REPEAT = 8,
  KERNEL_SAMPLER_NEAREST = 0x10,
  KERNEL_SAMPLER_LINEAR = 0x20,
};

enum kernel_arg_access { /* in the order of CL_KERNEL_ARG_ACCESS_* */
                         KERNEL_ARG_ACCESS_READ_ONLY,
                         KERNEL_ARG_ACCESS_WRITE_ONLY,
                         KERNEL_ARG_ACCESS_READ_WRITE,
                         KERNEL_ARG_ACCESS_NONE,
};

enum kernel_arg_image { /* in the order of the values from CL_MEM_OBJECT_IMAGE2D on */
                        KERNEL_ARG_IMAGE_2D,
                        KERNEL_ARG_IMAGE_3D,
                        KERNEL_ARG_IMAGE_2D_ARRAY,
                        KERNEL_ARG_IMAGE_1D,
                        KERNEL_ARG_IMAGE_1D_ARRAY,
                        KERNEL_ARG_IMAGE_1D_BUFFER,
                        KERNEL_ARG_IMAGE_TYPES,
                        KERNEL_ARG_IMAGE_DEPTH = 8, /* a bit beside these: a depth image */
};

enum kernel_arg_qualifier { /* bits, as CL_KERNEL_ARG_TYPE_* */
                            KERNEL_ARG_CONST = 1,
                            KERNEL_ARG_RESTRICT = 2,
                            KERNEL_ARG_VOLATILE = 4,
};

struct kernel_arg {
  const char *name; /* "" when unknown */
  const char *type_name;
  enum kernel_arg_kind kind;
  enum kernel_arg_access access;
  uint32_t qualifiers; /* enum kernel_arg_qualifier */
  uint32_t offset;     /* bytes from the start of the parameter area */
  uint32_t size;       /* bytes in the parameter area: 8 for pointers, 4 for LOCAL and
                        * SAMPLER, for VALUE the size that clSetKernelArg takes */
  uint32_t align;      /* LOCAL: alignment of the block, power of two */
  uint32_t image;      /* IMAGE: enum kernel_arg_image */
};

/* Hidden parameters of each OpenCL kernel, after the user's arguments (kernel_code.hidden_offset).
 * The device library declares the same struct. Its offsets are part of the format of program
 * binaries.
 *
 * A grid has at most 65535 work-groups in y and z, and all have the same size. The runtime splits a
 * larger launch, and one whose last work-groups are smaller, into several grids. Each grid gets the
 * number of its first work-group (first_group) and a global_offset that includes the work-items
 * before it. */
struct kernel_hidden {
  uint64_t global_offset[3]; /* of the grid's first work-item */
  uint64_t global_size[3];   /* work-items of the launch, not work-groups */
  uint32_t work_dim;
  uint32_t first_group[3]; /* x: 0 if the kernel is uniform */
  uint64_t print_buffer;   /* GPU address of a struct print_buffer; 0: none */
  uint16_t group_size[4];  /* work-items of a whole work-group; the fourth is unused */
};

/* The buffer that printf writes: this struct, then a record for each call. The device library
 * (device/printf.cuh) writes them, and the host reads them after the launch. A call reserves its
 * record by an atomic addition, which keeps the calls of a work-item in order. A record for which
 * there is no room is dropped. */
struct print_buffer {
  uint64_t reserved; /* bytes of records after this struct, also of dropped ones */
  uint64_t dropped;  /* calls that found no room */
  uint64_t capacity; /* bytes for records */
  uint64_t unused;
};

/* A record: this struct, then a byte for each argument (type and lanes), then the arguments. Each
 * part begins at a multiple of PRINT_ALIGN bytes. */
struct print_record {
  uint32_t size; /* bytes of the whole record; 0: it was not written */
  uint32_t arg_count;
  uint64_t format; /* GPU address of the format string, a constant of the program */
};

enum {
  PRINT_ALIGN = 8,
  PRINT_LANES = 8 /* an argument's byte is its type + its lanes * PRINT_LANES */
};

enum print_type {
  PRINT_I8,
  PRINT_I16,
  PRINT_I32,
  PRINT_I64,
  PRINT_HALF,
  PRINT_FLOAT,
  PRINT_DOUBLE,
  PRINT_POINTER,
};

/* Sub-groups of the largest work-group. */
enum { KERNEL_SUB_GROUPS_MAX = 32 };

struct kernel_code {
  const char *name;
  uint32_t text;          /* section number of its code */
  uint32_t entry;         /* byte offset of the entry in that section */
  uint32_t registers;     /* EIATTR_REGCOUNT */
  uint32_t barriers;      /* EIATTR_NUM_BARRIERS, 0 if none */
  uint32_t shared_bytes;  /* static shared memory */
  uint32_t stack_bytes;   /* EIATTR_MIN_STACK_SIZE */
  uint32_t frame_unknown; /* 1: recursion or indirect calls, add a reserve */
  uint32_t bank0_bytes;   /* size of constant bank 0: driver area + parameters */
  uint32_t param_offset;  /* of the parameter area in bank 0 (0x160 or 0x1a80) */
  uint32_t param_bytes;
  uint32_t hidden_offset; /* of struct kernel_hidden in the parameter area;
                           * UINT32_MAX: none (a raw CUBIN from nvcc) */
  uint32_t prints;        /* 1: it calls printf, and needs a print buffer */
  uint32_t uniform;       /* 1: its work-groups must all have the same size */
  uint32_t bank2;         /* section number or MODULE_NO_SECTION */
  uint32_t bank3;         /* likewise; all kernels of a CUBIN share its banks 3 and 4 */
  uint32_t bank4;
  uint32_t max_threads;       /* launch bound, 0 = none */
  uint32_t required_block[3]; /* reqd_work_group_size, 0 = none */
  uint32_t hinted_block[3];   /* work_group_size_hint, 0 = none */
  uint32_t sub_groups;        /* of each work-group, 0 = any */
  const char *attributes;     /* CL_KERNEL_ATTRIBUTES text */
  const struct kernel_arg *args;
  uint32_t arg_count;
  uint32_t args_known; /* 0: raw CUBIN; sizes and offsets only */
};

/* The source line of the code of a section from offset (bytes) to the offset of the next element.
 * Sorted by section, then offset. */
struct module_line {
  uint32_t section;
  uint32_t offset;
  uint32_t line; /* from 1; 0: not known */
  uint32_t file; /* number in module_code.files */
};

struct module_code {
  const struct module_section *sections;
  const struct module_reloc *relocs;
  const struct kernel_code *kernels;
  uint32_t section_count;
  uint32_t reloc_count;
  uint32_t kernel_count;
  const struct module_line *lines;
  const char *const *files; /* names; "": the program source itself */
  uint32_t line_count;
  uint32_t file_count;
  uint32_t global_bytes; /* CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE */
  uint64_t cubin_bytes;  /* size of the CUBIN it was read from */
  void *storage;         /* owns the strings and arrays above */
};

#endif
