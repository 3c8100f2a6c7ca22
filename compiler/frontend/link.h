/* Links compiled objects and libraries into one LLVM module. */
#ifndef TEGRACL_LINK_H
#define TEGRACL_LINK_H

#include "base/text.h"
#include "compiler/compiler.h"
#include "compiler/frontend/options.h"

/* Links the job's sources, which are objects or libraries, into bitcode. options are the options
 * of the link; the options of the objects are added to them. Errors are written to log. */
enum cc_status link_objects(const struct cc_job *job, struct text *bitcode, struct options *options,
                            struct text *log);

#endif
