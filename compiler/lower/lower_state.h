/* What the files of the printer (lower*.c) share. An LLVM value of any first-
 * class type is a list of leaves: the scalars it consists of, in memory order.
 * Each leaf is a C expression: a local variable, assigned where the value is
 * defined, or a constant; taking a vector apart or together only passes these
 * expressions on. All integers are kept in unsigned variables; those of odd
 * widths (i24) with zero bits above. */
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

/* Of SCALAR_U1024, and of any integer. */
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
  bool needs_hidden; /* it or a callee asks for the launch block */
  bool asks_lanes;   /* it or a callee asks which lanes are together */
  bool prints;       /* it or a callee calls printf */
  unsigned kernel;   /* its number, or NO_KERNEL */
  bool called;       /* by another function */
  bool reached;
  bool open; /* its callees are being looked at */
};

enum progress { UNTOUCHED, OPEN, DONE };

struct global {
  enum progress progress;
  bool used;       /* by what is printed */
  unsigned number; /* in the source */
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
  bool in_units;                     /* the source is one of several for the module */
  unsigned first_kernel, end_kernel; /* in units: what it is of */
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
  struct text arrays; /* allocas and other declarations */
  unsigned line;      /* of the source, as the last #line says; 0: none yet */
  const char *file;   /* its name, as LLVM owns it */
  struct text body;
};

/* lower.c */
void lower_fail(struct lower *lower, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct function *lower_function(struct lower *lower, LLVMValueRef ref);
/* Reads the module, which is to be closed if that went well. */
bool lower_open(struct lower *lower, const char *bytes, size_t size);
void lower_close(struct lower *lower);
/* Lists the functions of the module; false without memory. */
bool lower_list_functions(struct lower *lower);
/* Marks a function and what it calls, and counts their instructions. */
void lower_reach(struct lower *lower, struct function *function);
/* Prints the source, and frees all but the module. */
void lower_whole(struct lower *lower);
/* Whether the character may stand in a name of CUDA C; clang takes $ and all of Unicode. */
bool lower_in_names(char c);
/* Text that is added to out from here on is of the line of value, an instruction or
 * a function: a #line directive if that is another line than before. So the
 * statements of one line of the source must stand in one line; lower_join_lines
 * makes them from start on. */
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
uint64_t lower_size(struct lower *lower, LLVMTypeRef type); /* in an array */
/* "" or " & 0xffffffu" for odd widths. */
const char *lower_mask(struct lower *lower, const struct leaf *leaf);
/* expression as a signed value of at least 32 bits. */
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
void lower_forget(struct lower *lower);
/* lower_global.c */
const char *lower_global_address(struct lower *lower, LLVMValueRef variable);
/* The alignment to give an array: enough for the widest accesses, which the
 * optimiser makes of narrow ones where it may. */
unsigned lower_array_align(unsigned align, uint64_t size);
/* Before functions are looked at: makes the list. */
void lower_list_globals(struct lower *lower);
/* Takes in the global variables that an operand is made of. */
void lower_use_globals(struct lower *lower, LLVMValueRef operand);
/* Declares every global variable that is used. */
void lower_globals(struct lower *lower);
const char *lower_float_text(struct lower *lower, enum scalar kind, uint64_t bits);

/* lower_expression.c: pure operations, of instructions and constants alike. */
bool lower_is_pure(LLVMOpcode opcode);
const char *lower_expression(struct lower *lower, LLVMValueRef value, LLVMOpcode opcode,
                             unsigned leaf);
/* Bits of the leaves of a value seen as another type of the same size. */
const char *lower_reinterpret(struct lower *lower, const struct leaf *from, const struct leaf *to,
                              const char *expression);

/* lower_half.c: prints what the instruction does to the halfs of a vector, two at
 * once, and returns how many leaves it did: none, if there is no such operation.
 * function is the counterpart in lower.cuh of a call, else "". */
unsigned lower_half_pairs(struct lower *lower, LLVMValueRef instruction, const char *function);

/* lower_memory.c */
void lower_load(struct lower *lower, LLVMValueRef instruction);
void lower_store(struct lower *lower, LLVMValueRef instruction);
void lower_atomic(struct lower *lower, LLVMValueRef instruction);
void lower_fence(struct lower *lower, LLVMValueRef instruction);
/* The pointer operand for an access, its address space made known to NVRTC. */
const char *lower_pointer(struct lower *lower, LLVMValueRef pointer, unsigned leaf);
/* A pointer that came out of nowhere (memory, an integer, a caller). */
const char *lower_space_hint(struct lower *lower, LLVMValueRef value, const struct leaf *leaf);

/* lower_call.c */
void lower_call(struct lower *lower, LLVMValueRef instruction);
/* The C type of a function's result: a scalar, or a struct of its leaves. */
const char *lower_result_type(struct lower *lower, const struct function *function);
bool lower_call_needs_hidden(const char *symbol);
bool lower_call_asks_lanes(const char *symbol);

/* lower_printf.c */
bool lower_is_printf(const char *symbol);
void lower_printf(struct lower *lower, LLVMValueRef call);

/* lower_image.c: images and samplers, which clang passes as pointers. */
/* VALUE: neither of them. *image: the type of an image. */
enum kernel_arg_kind lower_handle_kind(const char *type, uint32_t *image);
/* True if the pointer is an image or a sampler, which the functions that use it show. */
bool lower_is_handle(struct lower *lower, LLVMValueRef value);
/* Finds images and samplers. Call it before lower_is_handle. */
void lower_find_handles(struct lower *lower);
/* Prints the parameter of a kernel, of the kind that arg says; fills in its size. */
void lower_handle_parameter(struct lower *lower, unsigned number, LLVMValueRef argument,
                            struct binary_arg *arg);
/* What a function of the device library takes for the value; NULL: the type is neither
 * image nor sampler. */
const char *lower_handle_argument(struct lower *lower, const struct mangle_type *type,
                                  LLVMValueRef value);
bool lower_type_is_handle(const struct mangle_type *type);
/* A sampler written in the program; false: the call is another one. */
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
