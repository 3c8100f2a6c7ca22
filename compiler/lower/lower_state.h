/* Internals shared by the files of the printer (lower*.c). A value of any first-class LLVM
 * type is a list of leaves: its scalars, in memory order. Each leaf is a C expression: a
 * constant, or a local variable that is assigned where the value is defined. Splitting or
 * joining vectors prints nothing; the expressions are passed on. Integers are stored in
 * unsigned variables, whose upper bits are zero if the width is odd (i24). */
#ifndef TEGRACL_LOWER_STATE_H
#define TEGRACL_LOWER_STATE_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/lower/lower.h"
#include "compiler/lower/mangle.h"

enum scalar {
  SCALAR_BOOL,
  SCALAR_U8,
  SCALAR_U16,
  SCALAR_U32,
  SCALAR_U64,
  SCALAR_U128,
  SCALAR_U1024, /* the class u1024 of lower.cuh, for LLVM's integers as large as a vector */
  SCALAR_HALF,
  SCALAR_FLOAT,
  SCALAR_DOUBLE,
  SCALAR_POINTER,
  SCALAR_KINDS
};

/* Largest width of an integer, that of SCALAR_U1024. */
enum { WIDEST_BITS = 1024 };

/* The address spaces of the target nvptx64-nvidia-nvcl (clang's NVPTX address space map). */
enum space { SPACE_GENERIC = 0, SPACE_GLOBAL = 1, SPACE_LOCAL = 3, SPACE_CONSTANT = 4 };

struct leaf {
  enum scalar kind;
  unsigned bits;   /* exact width, for example 24 for an i24 in a U32 */
  unsigned space;  /* of a pointer */
  uint64_t offset; /* offset in bytes from the start of the value in memory */
};

struct leaves {
  unsigned count;
  struct leaf *at;
};

struct value {
  LLVMValueRef key; /* NULL: empty slot */
  const char **leaf;
};

#define NO_KERNEL UINT32_MAX

struct function {
  LLVMValueRef ref;
  const char *name;  /* name of the C function */
  bool needs_hidden; /* the function or a callee takes struct ocl::hidden */
  bool
      uses_active; /* the result of the function or of a callee depends on which lanes are active */
  bool prints;     /* the function or a callee calls printf */
  bool sees_groups; /* the function or a callee may depend on which work-items form a work-group */
  unsigned kernel;  /* number of the kernel, or NO_KERNEL */
  bool called;      /* by another function */
  bool reached;     /* a kernel that is printed calls it, directly or not */
  bool open;        /* its callees are being visited */
};

enum progress { UNTOUCHED, OPEN, DONE };

struct global {
  enum progress progress;
  bool used;       /* printed code uses it */
  unsigned number; /* number in the name in CUDA C */
};

/* A line of the program's source. */
struct place {
  unsigned line, file_number;
  const char *file; /* file name, owned by LLVM */
};

struct lower {
  LLVMModuleRef module;
  LLVMTargetDataRef layout;
  struct text *log;
  struct lowered *result;
  struct lower_options options;
  bool in_units;                     /* the module is built in units, and this is one */
  unsigned first_kernel, end_kernel; /* if in_units: range of the unit's kernels */
  bool failed;
  unsigned handle_mark; /* LLVM's metadata kind for marks on images and samplers */

  struct arena arena; /* whole module */
  struct function *functions;
  unsigned function_count;
  unsigned reached_instructions;
  unsigned result_types;   /* number of structs for results with several leaves: r0, r1, ... */
  struct text head;        /* variables, types and prototypes */
  struct text code;        /* function bodies */
  struct text includes;    /* #include lines */
  bool *group_used;        /* indexed by device file */
  bool has_half;           /* the module uses the type half */
  struct global *globals;  /* indexed by global variable of the module */
  uint64_t constant_bytes; /* bytes of the constant bank used so far */
  struct place *places;    /* if in_units: places that #line directives refer to */
  unsigned place_count;

  /* State of the function that is being printed: */
  struct function *function;
  bool in_kernel;
  struct arena names;
  struct value *values; /* hash table with a power-of-two number of slots */
  unsigned value_slots;
  unsigned value_count;
  unsigned next_name;
  struct text locals[SCALAR_KINDS];
  struct text arrays;   /* allocas and other declarations */
  struct text textures; /* condition in a kernel: the texture units can read its images */
  bool reads_images;    /* the kernel reads images that are its parameters */
  struct text samplers; /* bits of its sampler parameters, or-ed */
  bool may_filter;      /* it has other samplers that may be linear */
  unsigned line;        /* source line of the last #line directive; 0 if none */
  const char *file;     /* file name of the last #line directive, owned by LLVM */
  struct text body;
};

/* lower.c */
void lower_fail(struct lower *lower, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct function *lower_function(struct lower *lower, LLVMValueRef ref);
/* Reads the module. After success the caller must call lower_close. */
bool lower_open(struct lower *lower, const char *bytes, size_t size);
void lower_close(struct lower *lower);
/* Lists the functions of the module. Returns false if out of memory. */
bool lower_list_functions(struct lower *lower);
/* Marks a function and all its callees as reached, and counts their instructions. */
void lower_reach(struct lower *lower, struct function *function);
/* Prints the source of the module or unit, and frees everything except the module. */
void lower_print_source(struct lower *lower);
/* Whether names in CUDA C can contain the character. clang also allows $ and all of Unicode. */
bool lower_is_name_character(char c);
/* Adds a #line directive to out if value, an instruction or a function, has another source
 * line than the code printed before. The code of a source line must then be on a single
 * line: lower_join_lines replaces newlines after start by blanks. */
void lower_line(struct lower *lower, LLVMValueRef value, struct text *out);
void lower_join_lines(struct text *text, size_t start);
/* Includes a file of the device library in the source. */
void lower_use_group(struct lower *lower, const char *file);

/* lower_type.c */
extern const char *const scalar_names[SCALAR_KINDS];
extern const char *const signed_names[SCALAR_KINDS]; /* of the integers */
bool scalar_is_integer(enum scalar kind);
/* Whether an integer is wider than any integer type of OpenCL C. */
bool scalar_is_wide(enum scalar kind);
enum scalar scalar_of_bits(unsigned bits);
unsigned scalar_storage_bits(enum scalar kind);
struct leaves lower_leaves(struct lower *lower, LLVMTypeRef type);
unsigned lower_leaf_count(struct lower *lower, LLVMTypeRef type);
/* Returns the first leaf of the element with this index. */
unsigned lower_leaf_of_element(struct lower *lower, LLVMTypeRef type, unsigned index);
LLVMTypeRef lower_element_type(LLVMTypeRef type, unsigned index);
/* Returns the size of an array element in bytes, including padding. */
uint64_t lower_size(struct lower *lower, LLVMTypeRef type);
/* Returns "", or for odd widths a mask such as " & 0xffffffull". */
const char *lower_mask(struct lower *lower, const struct leaf *leaf);
/* Returns the expression in a signed type, sign-extended if its width is odd. */
const char *lower_signed(struct lower *lower, const struct leaf *leaf, const char *expression);

/* lower_value.c */
const char *lower_print(struct lower *lower, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the expression for a leaf of an operand. */
const char *lower_use(struct lower *lower, LLVMValueRef value, unsigned leaf);
/* Uses the expression for the leaf of a value, without a variable. */
void lower_alias(struct lower *lower, LLVMValueRef value, unsigned leaf, const char *expression);
/* Declares a variable for the leaf and returns its name. */
const char *lower_variable(struct lower *lower, LLVMValueRef value, unsigned leaf,
                           enum scalar kind);
/* Declares a variable that has no corresponding LLVM value. */
const char *lower_temporary(struct lower *lower, enum scalar kind);
/* Frees the state of the function that has been printed. */
void lower_forget(struct lower *lower);
/* Returns the expression cast to the leaf's C type. Floating-point values need no cast. */
const char *lower_cast(struct lower *lower, const struct leaf *leaf, const char *expression);

/* lower_global.c */
const char *lower_global_address(struct lower *lower, LLVMValueRef variable);
/* Returns an alignment for an array that allows the widest accesses,
 * because the optimiser may join narrow ones, and matrices are loaded by rows of 16 bytes. An
 * unknown size is UINT64_MAX. */
unsigned lower_array_align(unsigned align, uint64_t size);
/* Lists the global variables of the module. Must be called before lower_reach. */
void lower_list_globals(struct lower *lower);
/* Marks the global variables that an operand refers to as used. */
void lower_use_globals(struct lower *lower, LLVMValueRef operand);
/* Declares all global variables that are used. */
void lower_globals(struct lower *lower);
const char *lower_float_text(struct lower *lower, enum scalar kind, uint64_t bits);

/* lower_expression.c: pure operations in instructions and constants. */
bool lower_is_pure(LLVMOpcode opcode);
const char *lower_expression(struct lower *lower, LLVMValueRef value, LLVMOpcode opcode,
                             unsigned leaf);
/* Returns the bits of a leaf as a leaf of another type with the same size. */
const char *lower_reinterpret(struct lower *lower, const struct leaf *from, const struct leaf *to,
                              const char *expression);

/* lower_half.c: prints an operation on a vector of halves, two elements at a time. Returns how
 * many leaves were printed, 0 if the operation cannot work on pairs. function is the
 * intrinsic's name in lower.cuh if the instruction is a call, else "". */
unsigned lower_half_pairs(struct lower *lower, LLVMValueRef instruction, const char *function);

/* lower_memory.c */
void lower_load(struct lower *lower, LLVMValueRef instruction);
void lower_store(struct lower *lower, LLVMValueRef instruction);
void lower_atomic(struct lower *lower, LLVMValueRef instruction);
void lower_fence(struct lower *lower, LLVMValueRef instruction);
/* Returns the pointer operand of an access, with an address space hint for NVRTC. */
const char *lower_pointer(struct lower *lower, LLVMValueRef pointer, unsigned leaf);
/* Returns the name of the hint for a pointer whose origin NVRTC does not see because it
 * comes from memory, an integer or a caller; otherwise "". */
const char *lower_space_hint(struct lower *lower, LLVMValueRef value, const struct leaf *leaf);

/* lower_call.c */
void lower_call(struct lower *lower, LLVMValueRef instruction);
/* Returns the C type of a function's result: a scalar, or a struct of the leaves. */
const char *lower_result_type(struct lower *lower, const struct function *function);
bool lower_call_needs_hidden(const char *symbol);
bool lower_call_sees_groups(const char *symbol);
bool lower_call_uses_active(const char *symbol);
/* Returns whether the value is a function of device/matrix.cuh. */
bool lower_call_is_matrix(LLVMValueRef callee);

/* lower_printf.c */
bool lower_is_printf(const char *symbol);
void lower_printf(struct lower *lower, LLVMValueRef call);

/* lower_image.c: images and samplers, which clang passes as pointers. */
/* Returns KERNEL_ARG_VALUE if the type is neither an image nor a
 * sampler. Sets *image for an image. */
enum kernel_arg_kind lower_handle_kind(const char *type, uint32_t *image);
/* Whether the pointer is an image or a sampler, because it is
 * passed to a function that takes one. */
bool lower_is_handle(struct lower *lower, LLVMValueRef value);
/* Finds images and samplers. Must be called before lower_is_handle. */
void lower_find_handles(struct lower *lower);
/* Prints the parameter of a kernel for an image or a sampler,
 * according to arg->kind. Sets the size. */
void lower_handle_parameter(struct lower *lower, unsigned number, LLVMValueRef argument,
                            struct binary_arg *arg);
/* Returns the value as an argument of a device library function, or NULL if
 * its type is neither an image nor a sampler. */
const char *lower_handle_argument(struct lower *lower, const char *function,
                                  const struct mangle_type *type, LLVMValueRef value);
bool lower_type_is_handle(const struct mangle_type *type);
/* Returns an argument that is the coordinate of integers of a read with a sampler, for the texture
 * units. Returns NULL if lower_use's expressions are as good. */
const char *lower_coordinate(struct lower *lower, const struct mangle *mangle, unsigned number,
                             LLVMValueRef value);
bool lower_is_sampler_literal(const char *symbol); /* the function that creates it */
/* Handles the call that creates a literal sampler. Returns false for any other call. */
bool lower_call_sampler(struct lower *lower, LLVMValueRef call, const char *symbol);

/* lower_intrinsic.c, lower_asm.c */
void lower_intrinsic(struct lower *lower, LLVMValueRef call, const char *name);
void lower_asm(struct lower *lower, LLVMValueRef call, LLVMValueRef assembly);

/* lower_block.c: the instructions and control flow of a function. */
void lower_body(struct lower *lower, LLVMValueRef function);

/* lower_kernel.c: kernel entry points and the properties that OpenCL reports about them. */
bool lower_is_kernel(LLVMValueRef function);
bool lower_is_uniform(LLVMValueRef kernel); /* all work-groups have the same size */
/* Prints the heading, names the parameters, and fills in the description of the kernel. */
void lower_kernel(struct lower *lower, LLVMValueRef function, struct binary_kernel *kernel);
/* Returns the struct that a pointer argument passes by value, or NULL. */
LLVMTypeRef lower_byval_type(LLVMValueRef function, unsigned argument);
/* Returns the alignment that a pointer argument promises, otherwise that of type. */
uint64_t lower_argument_align(struct lower *lower, LLVMValueRef function, unsigned argument,
                              LLVMTypeRef type);

#endif
