/* The compiler itself, as tegraclc and its --serve loop call it. */
#ifndef TEGRACL_COMPILE_H
#define TEGRACL_COMPILE_H

#include "compiler/compiler.h"

/* Compiles one job in this process: clang, lowering, NVRTC. *result is zeroed by
 * the caller; the log is set whatever the status (NULL only without memory), the
 * binary with CC_OK. The caller gives the result to cc_result_finish. */
enum cc_status cc_compile(const struct cc_job *job, struct cc_result *result);

#endif
