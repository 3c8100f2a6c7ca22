/* Parses the Itanium-mangled names of OpenCL built-in functions and of overloadable user
 * functions. Unlike LLVM IR, the names tell signed from unsigned types. */
#ifndef TEGRACL_MANGLE_H
#define TEGRACL_MANGLE_H

#include <stdbool.h>

enum { MANGLE_ARGS_MAX = 32, MANGLE_NAME_MAX = 128 };

enum mangle_base {
  MANGLE_VOID,
  MANGLE_BOOL,
  MANGLE_CHAR,
  MANGLE_UCHAR,
  MANGLE_SHORT,
  MANGLE_USHORT,
  MANGLE_INT,
  MANGLE_UINT,
  MANGLE_LONG,
  MANGLE_ULONG,
  MANGLE_HALF,
  MANGLE_FLOAT,
  MANGLE_DOUBLE,
  MANGLE_NAMED,    /* an enum, struct, image, sampler or event; see name */
  MANGLE_VARIADIC, /* the three dots */
};

struct mangle_type {
  enum mangle_base base;
  unsigned lanes;    /* number of elements of a vector, otherwise 1 */
  unsigned pointers; /* levels of indirection */
  bool is_const;     /* qualifier of the innermost pointee */
  bool is_volatile;
  bool is_atomic;
  bool is_local;              /* the innermost pointee is in local memory */
  bool is_qualified;          /* has an address space or other qualifiers; used by the parser */
  char name[MANGLE_NAME_MAX]; /* MANGLE_NAMED */
};

struct mangle {
  char base[MANGLE_NAME_MAX];
  struct mangle_type args[MANGLE_ARGS_MAX];
  unsigned arg_count;
};

/* Returns false if symbol is not a mangled function name, or has
 * a form that OpenCL C does not use. */
bool mangle_parse(const char *symbol, struct mangle *out);

#endif
