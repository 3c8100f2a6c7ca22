/* A complete build in this process, from OpenCL C to a program binary. Only tegraclc links
 * this code; applications use it through cc_build (compiler.h). */
#ifndef TEGRACL_COMPILE_H
#define TEGRACL_COMPILE_H

#include "compiler/compiler.h"

/* The stages after which tegraclc can stop. */
enum compile_stage { COMPILE_IR, COMPILE_CUDA, COMPILE_CUBIN, COMPILE_BINARY };

/* Like cc_build, but in this process and without the cache. */
enum cc_status cc_compile(const struct cc_job *job, struct cc_result *result);

/* Stops after a stage. result->binary is its output: LLVM IR as text,
 * CUDA C, a CUBIN, or the program binary. */
enum cc_status compile_until(const struct cc_job *job, enum compile_stage stage,
                             struct cc_result *result);

/* Sets a function that is called whenever a stage begins; NULL removes it. */
void compile_show_stages(void (*show)(enum cc_stage stage));

#endif
