/* OpenCL build options (OpenCL 3.0 API, section 5.8.6 "Compiler Options", and
 * NVIDIA's cl_nv_compiler_options): checked, and sorted into what clang, NVRTC
 * and the printer need. */
#ifndef TEGRACL_OPTIONS_H
#define TEGRACL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler/text.h"

struct options {
  char **clang; /* arguments for clang -cc1, in order */
  size_t clang_count;
  size_t clang_capacity;
  unsigned c_version;     /* 100, 110, 120, 200 or 300 */
  unsigned opt_level;     /* 0 to 3, of clang */
  unsigned max_registers; /* 0: no limit */
  bool arg_info;          /* -cl-kernel-arg-info: keep argument names and types */
  bool contract;          /* multiply and add may be joined across statements */
  bool flush_denormals;
  bool exact_division; /* correctly rounded float division and square root */
  bool fast_math;      /* approximate functions are good enough */
  bool verbose;
};

/* Reads text. On failure a sentence naming the option is added to log. The
 * options must be given to options_finish in any case. */
bool options_parse(const char *text, struct options *options, struct text *log);
void options_finish(struct options *options);

#endif
