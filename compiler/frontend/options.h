/* OpenCL build options (OpenCL 3.0 API, section 5.8.6 "Compiler Options", and
 * NVIDIA's cl_nv_compiler_options): checked, and sorted into what clang, NVRTC
 * and the printer need. */
#ifndef TEGRACL_OPTIONS_H
#define TEGRACL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* What options are for, as bits: clLinkProgram takes fewer (section 5.8.7 "Linker Options")
 * than other builds, and two more for links that make a library. */
enum { OPTIONS_BUILD = 1, OPTIONS_LINK = 2, OPTIONS_LIBRARY = 4 };

enum option_effect {
  OPTION_CONTRACT = 1, /* multiply and add may be joined across statements */
  OPTION_FTZ = 2,      /* denormals may be taken for zeros */
  OPTION_EXACT = 4,    /* correctly rounded float division and square root */
  OPTION_FAST = 8,     /* approximate functions are good enough */
  OPTION_NO_OPT = 16,
  OPTION_ARG_INFO = 32, /* keep argument names and types */
  OPTION_VERBOSE = 64,
  OPTION_ENABLE_LINK = 128, /* links may change what the library computes */
};

/* Effects that a linked program has only if all of its parts have them. */
enum { OPTIONS_SHARED = OPTION_CONTRACT | OPTION_FTZ | OPTION_FAST | OPTION_ENABLE_LINK };

/* The beginning of an argument for clang that names a folder for #include. */
#define OPTIONS_FOLDER "-I"

struct options {
  char **clang; /* arguments for clang -cc1, in order */
  size_t clang_count;
  size_t clang_capacity;
  unsigned effects;       /* enum option_effect */
  unsigned c_version;     /* 100, 110, 120, 200, 300 or 310; for C++ that of its OpenCL C */
  const char *cxx;        /* C++ for OpenCL, as clang names it; NULL: C */
  unsigned opt_level;     /* 0 to 3, of clang */
  unsigned max_registers; /* 0: no limit */
};

/* Reads the options in text, each of which must be for one of the purposes. On failure a
 * sentence naming the option is added to log. The options must be given to options_finish in
 * any case. */
bool options_parse(const char *text, unsigned purposes, struct options *options, struct text *log);
/* Joins the options of part to those of all for a link, except those for clang. */
void options_join(struct options *all, const struct options *part);
/* Adds the options that matter after clang. */
void options_write(const struct options *options, struct text *words);
void options_finish(struct options *options);

#endif
