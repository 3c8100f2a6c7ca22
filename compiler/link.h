/* Compiled objects and libraries into one LLVM module. */
#ifndef TEGRACL_LINK_H
#define TEGRACL_LINK_H

#include "compiler/compiler.h"
#include "compiler/text.h"

/* Links the job's sources, which are objects or libraries. bitcode gets the
 * module; options get those of the objects and of the link, one behind the
 * other, without the ones that concern only the link. What is at fault is added
 * to log. */
enum cc_status link_objects(const struct cc_job *job, struct text *bitcode, struct text *options,
                            struct text *log);

#endif
