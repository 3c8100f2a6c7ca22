/* Compiled objects and libraries. clCompileProgram and links with -create-library
 * make them; links read them. object.c describes the layout. */
#ifndef TEGRACL_OBJECT_H
#define TEGRACL_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler/compiler.h"

struct object {
  enum cc_binary_kind kind; /* CC_BINARY_OBJECT or CC_BINARY_LIBRARY */
  const char *options;      /* options of the compilation */
  const void *bitcode;      /* LLVM's */
  size_t bitcode_size;
};

/* Writes the object into malloc'ed memory. Returns 0 or -ENOMEM. */
int cc_object_write(const struct object *object, void **bytes, size_t *size);

/* Parses an object. Returns false if bytes are not valid. The
 * members of object point into bytes. */
bool cc_object_read(const void *bytes, size_t size, struct object *object);

#endif
