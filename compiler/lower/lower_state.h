/* What the files of the printer (lower*.c) share. An LLVM value of any first-
 * class type is a list of leaves: the scalars it consists of, in memory order.
 * Each leaf is a C expression: a local variable, assigned where the value is
 * defined, or a constant. To split or join vectors prints nothing: the
 * expressions are passed on. Integers are in unsigned variables; those of odd
 * widths (i24) have zeros above. */
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
  SCALAR_U1024, /* what LLVM takes a whole vector for: a class, u1024 of lower.cuh */
  SCALAR_HALF,
  SCALAR_FLOAT,
  SCALAR_DOUBLE,
  SCALAR_POINTER,
  SCALAR_KINDS
};

/* Of an integer: the bits of SCALAR_U1024. */
enum { WIDEST_BITS = 1024 };

/* The address spaces of nvptx64-nvidia-nvcl (clang's NVPTX address space map). */
enum space { SPACE_GENERIC = 0, SPACE_GLOBAL = 1, SPACE_LOCAL = 3, SPACE_CONSTANT = 4 };

struct leaf {
  enum scalar kind;
  unsigned bits;   /* exact width: 24 for i24 in a U32 */
  unsigned space;  /* of a pointer */
  uint64_t offset; /* bytes from the start of the value in memory */
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
  const char *name;  /* of the C function, for calls */
  bool needs_hidden; /* it or a callee takes struct ocl::hidden */
  bool uses_active;  /* its result, or a callee's, depends on which lanes are active */
  bool prints;       /* it or a callee calls printf */
  unsigned kernel;   /* its number, or NO_KERNEL */
  bool called;       /* by another function */
  bool reached;      /* from a kernel that is printed */
  bool open;         /* its callees are being visited */
};

enum progress { UNTOUCHED, OPEN, DONE };

struct global {
  enum progress progress;
  bool used;       /* by what is printed */
  unsigned number; /* in its name in CUDA C */
};

/* A line of the program's source. */
struct place {
  unsigned line, file_number;
  const char *file; /* its name, as LLVM owns it */
};

struct lower {
  LLVMModuleRef module;
  LLVMTargetDataRef layout;
  struct text *log;
  struct lowered *result;
  bool arg_info;
  bool in_units;                     /* this unit is one of several of the module */
  unsigned first_kernel, end_kernel; /* if in_units: the numbers of its kernels */
  bool failed;
  unsigned handle_mark; /* LLVM's number of the metadata that marks images and samplers */

  struct arena arena; /* whole module */
  struct function *functions;
  unsigned function_count;
  unsigned reached_instructions;
  unsigned result_types;   /* structs for multi-leaf results: r0, r1 .. */
  struct text head;        /* variables, types and prototypes */
  struct text code;        /* function bodies */
  struct text includes;    /* #include lines */
  bool *group_used;        /* by number of device file */
  bool has_half;           /* there are values of that type */
  struct global *globals;  /* by number of global variable in the module */
  uint64_t constant_bytes; /* of the constant bank, used so far */
  struct place *places;    /* in units: those that #line has named */
  unsigned place_count;

  /* The function being printed. */
  struct function *function;
  bool in_kernel;
  struct arena names;
  struct value *values; /* hash table, a power of two of slots */
  unsigned value_slots;
  unsigned value_count;
  unsigned next_name;
  struct text locals[SCALAR_KINDS];
  struct text arrays;   /* allocas and other declarations */
  struct text textures; /* of a kernel: whether the texture units can read its read_only images */
  bool reads_images;    /* by its parameters: it is printed for both answers */
  unsigned line;        /* of the source, as the last #line says; 0: none yet */
  const char *file;     /* its name, as LLVM owns it */
  struct text body;
};

/* lower.c */
void lower_fail(struct lower *lower, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct function *lower_function(struct lower *lower, LLVMValueRef ref);
/* Reads the module. On success it must be given to lower_close. */
bool lower_open(struct lower *lower, const char *bytes, size_t size);
void lower_close(struct lower *lower);
/* Lists the functions of the module. False: out of memory. */
bool lower_list_functions(struct lower *lower);
/* Marks a function and what it calls, and counts their instructions. */
void lower_reach(struct lower *lower, struct function *function);
/* Prints the source of the module or unit, and frees all but the module. */
void lower_print_source(struct lower *lower);
/* Whether CUDA C allows the character in a name; clang allows $ and all of Unicode. */
bool lower_is_name_character(char c);
/* Adds a #line directive to out if value, an instruction or a function, is on another
 * line than what was printed before. All statements of a source line must then be on
 * one line: lower_join_lines makes blanks of the newlines from start on. */
void lower_line(struct lower *lower, LLVMValueRef value, struct text *out);
void lower_join_lines(struct text *text, size_t start);
/* Makes the device library's file available to the source. */
void lower_use_group(struct lower *lower, const char *file);

/* lower_type.c */
extern const char *const scalar_names[SCALAR_KINDS];
extern const char *const signed_names[SCALAR_KINDS]; /* of the integers */
bool scalar_is_integer(enum scalar kind);
/* Integers that are wider than any of OpenCL C. */
bool scalar_is_wide(enum scalar kind);
enum scalar scalar_of_bits(unsigned bits);
unsigned scalar_storage_bits(enum scalar kind);
struct leaves lower_leaves(struct lower *lower, LLVMTypeRef type);
unsigned lower_leaf_count(struct lower *lower, LLVMTypeRef type);
/* The number of the first leaf of element index. */
unsigned lower_leaf_of_element(struct lower *lower, LLVMTypeRef type, unsigned index);
LLVMTypeRef lower_element_type(LLVMTypeRef type, unsigned index);
/* Bytes from one element of an array to the next. */
uint64_t lower_size(struct lower *lower, LLVMTypeRef type);
/* "", or " & 0xffffffull" for odd widths. */
const char *lower_mask(struct lower *lower, const struct leaf *leaf);
/* The expression in the signed type of its width, sign-extended if the width is odd. */
const char *lower_signed(struct lower *lower, const struct leaf *leaf, const char *expression);

/* lower_value.c */
const char *lower_print(struct lower *lower, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The expression for a leaf of an operand. */
const char *lower_use(struct lower *lower, LLVMValueRef value, unsigned leaf);
/* Passes an expression on as the leaf of a value, without a variable. */
void lower_alias(struct lower *lower, LLVMValueRef value, unsigned leaf, const char *expression);
/* Gives the leaf a variable and returns its name. */
const char *lower_variable(struct lower *lower, LLVMValueRef value, unsigned leaf,
                           enum scalar kind);
/* A variable that is no LLVM value. */
const char *lower_temporary(struct lower *lower, enum scalar kind);
/* Frees what belongs to the function that was printed. */
void lower_forget(struct lower *lower);
/* The expression as the leaf's C type; floating point needs no cast. */
const char *lower_cast(struct lower *lower, const struct leaf *leaf, const char *expression);

/* lower_global.c */
const char *lower_global_address(struct lower *lower, LLVMValueRef variable);
/* The alignment to give an array: enough for the widest accesses, into which the
 * optimiser may join narrow ones. */
unsigned lower_array_align(unsigned align, uint64_t size);
/* Makes the list. Call it before lower_reach. */
void lower_list_globals(struct lower *lower);
/* Marks the global variables that an operand refers to as used. */
void lower_use_globals(struct lower *lower, LLVMValueRef operand);
/* Declares every global variable that is used. */
void lower_globals(struct lower *lower);
const char *lower_float_text(struct lower *lower, enum scalar kind, uint64_t bits);

/* lower_expression.c: pure operations, of instructions and constants alike. */
bool lower_is_pure(LLVMOpcode opcode);
const char *lower_expression(struct lower *lower, LLVMValueRef value, LLVMOpcode opcode,
                             unsigned leaf);
/* The bits of a leaf as one of another type of the same size. */
const char *lower_reinterpret(struct lower *lower, const struct leaf *from, const struct leaf *to,
                              const char *expression);

/* lower_half.c: prints an operation on a vector of halfs, two elements at once, and
 * returns how many leaves it did: 0 if the operation has no form for pairs.
 * function: the counterpart in lower.cuh if the instruction is a call, else "". */
unsigned lower_half_pairs(struct lower *lower, LLVMValueRef instruction, const char *function);

/* lower_memory.c */
void lower_load(struct lower *lower, LLVMValueRef instruction);
void lower_store(struct lower *lower, LLVMValueRef instruction);
void lower_atomic(struct lower *lower, LLVMValueRef instruction);
void lower_fence(struct lower *lower, LLVMValueRef instruction);
/* The pointer operand of an access, with a hint for NVRTC on its address space. */
const char *lower_pointer(struct lower *lower, LLVMValueRef pointer, unsigned leaf);
/* The name of the hint for a pointer whose origin NVRTC does not see (memory, an
 * integer, a caller), or "". */
const char *lower_space_hint(struct lower *lower, LLVMValueRef value, const struct leaf *leaf);

/* lower_call.c */
void lower_call(struct lower *lower, LLVMValueRef instruction);
/* The C type of a function's result: a scalar, or a struct of its leaves. */
const char *lower_result_type(struct lower *lower, const struct function *function);
bool lower_call_needs_hidden(const char *symbol);
bool lower_call_uses_active(const char *symbol);

/* lower_printf.c */
bool lower_is_printf(const char *symbol);
void lower_printf(struct lower *lower, LLVMValueRef call);

/* lower_image.c: images and samplers, which clang passes as pointers. */
/* KERNEL_ARG_VALUE: the type is neither. *image: the kind of an image. */
enum kernel_arg_kind lower_handle_kind(const char *type, uint32_t *image);
/* True if the pointer is an image or a sampler, as the functions that take it show. */
bool lower_is_handle(struct lower *lower, LLVMValueRef value);
/* Finds images and samplers. Call it before lower_is_handle. */
void lower_find_handles(struct lower *lower);
/* Prints the parameter of a kernel, of the kind that arg says; fills in its size. */
void lower_handle_parameter(struct lower *lower, unsigned number, LLVMValueRef argument,
                            struct binary_arg *arg);
/* The argument of a device library function for the value; NULL: the type is neither
 * an image nor a sampler. */
const char *lower_handle_argument(struct lower *lower, const char *function,
                                  const struct mangle_type *type, LLVMValueRef value);
bool lower_type_is_handle(const struct mangle_type *type);
/* Handles the call that makes a sampler literal; false: it is another call. */
bool lower_call_sampler(struct lower *lower, LLVMValueRef call, const char *symbol);

/* lower_intrinsic.c, lower_asm.c */
void lower_intrinsic(struct lower *lower, LLVMValueRef call, const char *name);
void lower_asm(struct lower *lower, LLVMValueRef call, LLVMValueRef assembly);

/* lower_block.c: instructions and control flow of one function. */
void lower_body(struct lower *lower, LLVMValueRef function);

/* lower_kernel.c: kernel entry points and what OpenCL asks about them. */
bool lower_is_kernel(LLVMValueRef function);
bool lower_is_uniform(LLVMValueRef kernel); /* its work-groups all have one size */
/* Prints the heading, names the parameters, and fills in the description. */
void lower_kernel(struct lower *lower, LLVMValueRef function, struct binary_kernel *kernel);
/* The struct that a pointer argument passes by value, or NULL. */
LLVMTypeRef lower_byval_type(LLVMValueRef function, unsigned argument);
/* The alignment that a pointer argument promises, else that of type. */
uint64_t lower_argument_align(struct lower *lower, LLVMValueRef function, unsigned argument,
                              LLVMTypeRef type);

#endif
