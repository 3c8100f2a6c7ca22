/* SPIR-V modules as words: what the compiler looks at itself. The numbers are those of
 * the SPIR-V specification, sections 2.3 "Physical Layout" and 3 "Binary Form". */
#ifndef TEGRACL_SPIRV_H
#define TEGRACL_SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/compiler.h"
#include "compiler/text.h"

enum {
  SPIRV_MAGIC = 0x07230203,
  SPIRV_VERSION_WORD = 1,
  SPIRV_BOUND_WORD = 3, /* all ids are below */
  SPIRV_SCHEMA_WORD = 4,
  SPIRV_HEADER_WORDS = 5,
  /* Minor numbers of the versions 1.x that are taken: what the LLVM/SPIR-V translator of
   * LLVM 15 reads. */
  SPIRV_MINOR_MAX = CC_IL_MINOR_MAX,
};

/* The first word of an instruction. */
enum { SPIRV_LENGTH_SHIFT = 16, SPIRV_OPCODE_MASK = 0xffff };

/* Whether bytes begin as a module does, in either byte order. No text does. */
bool spirv_is(const void *bytes, size_t size);

/* The minor number of the version of a module. */
unsigned spirv_minor(const uint32_t *words);

/* Whether the device has what the module asks for: memory model and capabilities. The
 * first thing that it lacks is named in log. The module is one that cc_il_read made. */
bool spirv_check(const uint32_t *words, size_t count, struct text *log);

/* Takes out the merge instructions, which in kernels are nothing but hints; gives the
 * new number of words. */
size_t spirv_drop_merges(uint32_t *words, size_t count);

/* Makes all of several sampler types one and the same: the translator of LLVM 15 declares
 * one more for samplers written in the program. Gives the new number of words. */
size_t spirv_join_samplers(uint32_t *words, size_t count);

/* Sorts the blocks of each function: spirv_order.c says why. False: no memory. */
bool spirv_order(uint32_t *words, size_t count);

#endif
