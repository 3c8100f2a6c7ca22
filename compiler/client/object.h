/* Compiled objects and libraries: made by clCompileProgram and by links with -create-library,
 * and read by links. Layout in object.c. */
#ifndef TEGRACL_OBJECT_H
#define TEGRACL_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler/compiler.h"

struct object {
  enum cc_binary_kind kind; /* CC_BINARY_OBJECT or CC_BINARY_LIBRARY */
  const char *options;      /* those which the code was compiled with */
  const void *bitcode;      /* LLVM's */
  size_t bitcode_size;
};

/* Writes the object into malloc'ed memory. 0 or -ENOMEM. */
int cc_object_write(const struct object *object, void **bytes, size_t *size);

/* False if bytes are not a valid object. The members of object point into bytes. */
bool cc_object_read(const void *bytes, size_t size, struct object *object);

#endif
