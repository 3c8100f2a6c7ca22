/* The machine code of a program and the properties of its kernels, as plain data. The CUBIN reader
 * (gpu/cubin/cubin.c) fills in these structs; runtime/ loads the code and launches the kernels. No
 * types of OpenCL, LLVM or the kernel driver are used here. */
#ifndef TEGRACL_KERNEL_CODE_H
#define TEGRACL_KERNEL_CODE_H

#include <stdint.h>

#define MODULE_NO_SECTION UINT32_MAX

/* A part of the module that is placed in GPU memory. */
enum module_section_kind {
  MODULE_TEXT,   /* code of one kernel and of the functions it calls */
  MODULE_GLOBAL, /* .nv.global and .nv.global.init */
  MODULE_BANK2,  /* .nv.constant2.<kernel>: compiler constants */
  MODULE_BANK3,  /* .nv.constant3: user __constant__ variables */
  MODULE_BANK4,  /* .nv.constant4: addresses, filled by relocation */
};

struct module_section {
  enum module_section_kind kind;
  uint64_t size;    /* bytes in GPU memory */
  uint64_t align;   /* power of two, at least 1 */
  const void *data; /* size bytes, owned by the module; NULL if all are zero */
};

/* Kinds of relocations, numbered as in docs/hardware/cubin.md section 4. */
enum module_reloc_kind {
  MODULE_RELOC_ABS32,    /* 32-bit S + A */
  MODULE_RELOC_ABS64,    /* 64-bit S + A */
  MODULE_RELOC_LO32_32,  /* instruction bits 63:32 = low word of S + A */
  MODULE_RELOC_HI32_32,  /* instruction bits 63:32 = high word of S + A */
  MODULE_RELOC_ABS47_34, /* instruction bits 80:34 = (S + A) >> 2 */
};

/* Writes sections[target]'s address plus value (S + A) into sections[section] at offset (bytes).
 * The reader has checked that both sections exist and that the location is inside the section. */
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
  KERNEL_ARG_CONSTANT, /* like GLOBAL, but reported as constant in OpenCL's queries */
  KERNEL_ARG_LOCAL,    /* 32-bit byte offset into dynamic shared memory */
  KERNEL_ARG_IMAGE,    /* struct kernel_image */
  KERNEL_ARG_SAMPLER,  /* 32-bit word of enum kernel_sampler */
};

/* An image as kernels see it, in linear memory. The device library declares the same struct. Texel
 * (x, y, z) is at base + (z * slice_rows + y) * row_pitch + (x << texel_shift), where z is the
 * slice or the array layer. */
struct kernel_image {
  uint64_t base; /* GPU address */
  uint32_t width;
  uint16_t height, depth;
  uint32_t row_pitch;  /* bytes */
  uint32_t slice_rows; /* rows from one slice or layer to the next */
  uint32_t format;     /* composed of enum kernel_image_format */
  uint32_t texture;    /* composed of enum kernel_texture; 0 if the texture units cannot read it */
};

/* Lowest bits of the fields in kernel_image.texture. Combined with the bits of a sampler it is a
 * texture handle; it selects the header of the first slice or layer. */
enum kernel_texture {
  KERNEL_TEXTURE_HEADER = 0,   /* index of the header, 20 bits */
  KERNEL_TEXTURE_SAMPLER = 20, /* enum kernel_sampler, 6 bits; 0 in kernel_image.texture */
  KERNEL_TEXTURE_BORDER = 26,  /* enum kernel_border, 2 bits */
  KERNEL_TEXTURE_FLAT = 28,    /* 1: the image has one dimension */
  KERNEL_TEXTURE_STORES = 29,  /* 1: typed stores write the format as OpenCL demands */
  KERNEL_TEXTURE_FILTERS = 30, /* 1: linear filters are right, or the format cannot be filtered */
  KERNEL_TEXTURE_VARIES = 31,  /* 1: threads of a warp may have different handles */
  KERNEL_TEXTURE_SAMPLERS = 1 << 12,
};

/* Alpha of the border colour; the other components are 0. */
enum kernel_border { KERNEL_BORDER_0, KERNEL_BORDER_FLOAT_1, KERNEL_BORDER_INTEGER_1 };

/* Lowest bits of the 8-bit fields in kernel_image.format. */
enum kernel_image_format {
  KERNEL_IMAGE_ORDER = 0,        /* channel order minus CL_R */
  KERNEL_IMAGE_TYPE = 8,         /* channel type minus CL_SNORM_INT8 */
  KERNEL_IMAGE_TEXEL_SHIFT = 16, /* log2 of the texel size in bytes */
};

/* Bits of a sampler: CLK_* of clang's opencl-c-base.h. */
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

enum kernel_arg_image { /* in the order of CL_MEM_OBJECT_*, from IMAGE2D on */
                        KERNEL_ARG_IMAGE_2D,
                        KERNEL_ARG_IMAGE_3D,
                        KERNEL_ARG_IMAGE_2D_ARRAY,
                        KERNEL_ARG_IMAGE_1D,
                        KERNEL_ARG_IMAGE_1D_ARRAY,
                        KERNEL_ARG_IMAGE_1D_BUFFER,
                        KERNEL_ARG_IMAGE_TYPES,
                        KERNEL_ARG_IMAGE_DEPTH = 8, /* flag of depth images */
};

enum kernel_arg_qualifier { /* bit flags with the values of CL_KERNEL_ARG_TYPE_* */
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
  uint32_t size;  /* size in the parameter area: 8 for pointers, 4 for LOCAL and SAMPLER, for VALUE
                     the size passed to clSetKernelArg */
  uint32_t align; /* for LOCAL: alignment of the block, a power of two */
  uint32_t image; /* for IMAGE: enum kernel_arg_image */
};

/* Hidden parameters of each OpenCL kernel, which follow the user's arguments
 * (kernel_code.hidden_offset). The device library declares the same struct. Its layout is part of
 * the format of program binaries.
 *
 * All work-groups of a grid have the same size, and there are at most 65535 of them in y and z. If
 * a launch is larger, or its last work-groups are smaller, the runtime splits it into several
 * grids. Each grid gets the index of its first work-group (first_group) and a global_offset that
 * includes the work-items before it. */
struct kernel_hidden {
  uint64_t global_offset[3]; /* of the first work-item in the grid */
  uint64_t global_size[3];   /* size of the launch in work-items */
  uint32_t work_dim;
  uint32_t first_group[3]; /* x is 0 if the kernel is uniform */
  uint64_t print_buffer;   /* GPU address of a struct print_buffer, or 0 */
  uint16_t group_size[4];  /* size of a full work-group; the fourth value is unused */
};

/* The output buffer of printf: this struct, followed by a record for each call. The device library
 * (device/printf.cuh) writes the records, and the host reads them after the launch. A call reserves
 * its record with an atomic addition, so calls of the same work-item stay in order. A record that
 * does not fit is dropped. */
struct print_buffer {
  uint64_t reserved; /* bytes of all records, including dropped ones */
  uint64_t dropped;  /* number of dropped records */
  uint64_t capacity; /* bytes for records */
  uint64_t unused;
};

/* A record: this struct, then a byte for each argument (type and number of lanes), then the
 * arguments. Each part is aligned to PRINT_ALIGN bytes. */
struct print_record {
  uint32_t size; /* size of the whole record; 0 if it has not been written */
  uint32_t arg_count;
  uint64_t format; /* GPU address of the format string, a constant of the program */
};

enum {
  PRINT_ALIGN = 8,
  PRINT_LANES = 8 /* an argument's byte is type + lanes * PRINT_LANES */
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

/* Number of sub-groups in the largest work-group. */
enum { KERNEL_SUB_GROUPS_MAX = 32 };

struct kernel_code {
  const char *name;
  uint32_t text;          /* index of the section with its code */
  uint32_t entry;         /* byte offset of the entry point in that section */
  uint32_t registers;     /* EIATTR_REGCOUNT */
  uint32_t barriers;      /* EIATTR_NUM_BARRIERS, 0 if none */
  uint32_t shared_bytes;  /* static shared memory */
  uint32_t stack_bytes;   /* EIATTR_MIN_STACK_SIZE */
  uint32_t frame_unknown; /* 1 if recursion or indirect calls require a stack reserve */
  uint32_t bank0_bytes;   /* size of constant bank 0: driver's words + parameters */
  uint32_t param_offset;  /* offset of the parameter area in bank 0 (0x160 or 0x1a80) */
  uint32_t param_bytes;
  uint32_t hidden_offset;  /* offset of struct kernel_hidden in the parameter area; UINT32_MAX for
                              CUBINs from nvcc, which lack it */
  uint32_t prints;         /* 1 if it calls printf and needs a print buffer */
  uint32_t uniform;        /* 1 if all work-groups must have the same size */
  uint32_t ignores_groups; /* 1 if it cannot notice which work-items form a work-group */
  uint32_t bank2;          /* section index, or MODULE_NO_SECTION */
  uint32_t bank3;          /* likewise; shared by all kernels of a CUBIN */
  uint32_t bank4;
  uint32_t max_threads;       /* launch bound, 0 = none */
  uint32_t required_block[3]; /* reqd_work_group_size; 0 if absent */
  uint32_t hinted_block[3];   /* work_group_size_hint; 0 if absent */
  uint32_t sub_groups;        /* maximum size of a work-group; 0 if unlimited */
  const char *attributes;     /* text for CL_KERNEL_ATTRIBUTES */
  const struct kernel_arg *args;
  uint32_t arg_count;
  uint32_t args_known; /* 0 for a raw CUBIN, which has only sizes and offsets */
};

/* The source line of the code from offset (bytes) in a section to the offset of the next element.
 * Sorted by section and offset. */
struct module_line {
  uint32_t section;
  uint32_t offset;
  uint32_t line; /* from 1; 0: not known */
  uint32_t file; /* index in module_code.files */
};

struct module_code {
  const struct module_section *sections;
  const struct module_reloc *relocs;
  const struct kernel_code *kernels;
  uint32_t section_count;
  uint32_t reloc_count;
  uint32_t kernel_count;
  const struct module_line *lines;
  const char *const *files; /* file names; "" is the program source itself */
  uint32_t line_count;
  uint32_t file_count;
  uint32_t global_bytes; /* CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE */
  uint64_t cubin_bytes;  /* size of the original CUBIN */
  void *storage;         /* owner of all strings and arrays above */
};

#endif
