/* OpenCL build options (OpenCL 3.0 API, section 5.8.6 "Compiler
 * Options", and NVIDIA's cl_nv_compiler_options). Checks them, and sorts
 * them into what clang, NVRTC and the printer need. */
#ifndef TEGRACL_OPTIONS_H
#define TEGRACL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* The commands that accept an option, as bits. clLinkProgram accepts fewer options than other
 * builds (section 5.8.7 "Linker Options"), and two more with -create-library. */
enum { OPTIONS_BUILD = 1, OPTIONS_LINK = 2, OPTIONS_LIBRARY = 4 };

enum option_effect {
  OPTION_CONTRACT = 1, /* multiplications and additions may be contracted across statements */
  OPTION_FTZ = 2,      /* denormals may be treated as zeros */
  OPTION_EXACT = 4,    /* float division and square root are correctly rounded */
  OPTION_FAST = 8,     /* approximate functions are accurate enough */
  OPTION_NO_OPT = 16,
  OPTION_ARG_INFO = 32, /* keep the names and types of arguments */
  OPTION_VERBOSE = 64,
  OPTION_ENABLE_LINK = 128, /* link options may change the code of the library */
};

/* Effects that a linked program has only if all of its parts have them. */
enum { OPTIONS_SHARED = OPTION_CONTRACT | OPTION_FTZ | OPTION_FAST | OPTION_ENABLE_LINK };

/* Prefix of clang's option for an #include folder. */
#define OPTIONS_FOLDER "-I"

struct options {
  char **clang; /* arguments for clang -cc1, in order */
  size_t clang_count;
  size_t clang_capacity;
  unsigned effects;       /* enum option_effect */
  unsigned c_version;     /* 100, 110, 120, 200, 300 or 310; in C++, the version of the underlying
                             OpenCL C */
  const char *cxx;        /* clang's name of C++ for OpenCL; NULL for C */
  unsigned opt_level;     /* 0 to 3, of clang */
  unsigned max_registers; /* 0: no limit */
};

/* Parses the options in text. Each must be valid for one of the purposes. On failure adds a
 * message with the name of the option to log. The caller calls options_finish in any case. */
bool options_parse(const char *text, unsigned purposes, struct options *options, struct text *log);
/* Merges the options of an object to link into all, except those for clang. */
void options_join(struct options *all, const struct options *part);
/* Appends the options that later stages than clang need. */
void options_write(const struct options *options, struct text *words);
void options_finish(struct options *options);

#endif
