/* The compiler as the OpenCL API sees it: sources in, program binaries out,
 * program binaries read into plain data. Nothing here loads LLVM or NVRTC: a
 * build is a disk-cache hit or the work of a helper process (tegraclc).
 * All functions may be called from several threads at once.
 */
#ifndef TEGRACL_COMPILER_H
#define TEGRACL_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/cubin/kernel_code.h"

enum cc_status {
  CC_OK = 0,
  CC_BUILD_FAILURE,   /* the source is at fault; see the log */
  CC_INVALID_OPTIONS, /* an option is at fault; the log names it */
  CC_NOT_AVAILABLE,   /* clang or NVRTC missing; the log says what to install */
  CC_INVALID_BINARY,  /* cc_module_read: truncated, damaged or foreign */
  CC_WRONG_DEVICE,    /* cc_module_read: valid, but for another SM */
  CC_OUT_OF_MEMORY,
  CC_INTERNAL_ERROR, /* the helper crashed or timed out; see the log */
  CC_CANCELLED,      /* by cc_background_cancel */
};

/* What the device offers, derived once by the caller from the device; becomes
 * predefined macros and clang's -cl-ext list. */
struct cc_device {
  unsigned sm;            /* 87 */
  unsigned version;       /* of OpenCL: 300, 310 */
  const char *extensions; /* CL_DEVICE_EXTENSIONS, blank-separated */
  const char *c_features; /* OpenCL C feature macros, blank-separated */
  unsigned long long local_mem_bytes;
};

struct cc_source {
  const char *text; /* need not end in NUL */
  size_t size;
};

struct cc_header {
  const char *name; /* as written in #include */
  const char *text;
};

/* What cc_build makes: a program binary, except by CC_COMPILE (an object) and
 * CC_LINK_LIBRARY (a library). CC_BUILD_OBJECT is a link that takes the options of builds. */
enum cc_action {
  CC_BUILD,
  CC_COMPILE,
  CC_BUILD_OBJECT,
  CC_LINK,
  CC_LINK_LIBRARY,
  CC_BUILD_UNIT, /* the client's own: one unit of a program, its source what a plan says */
};

static inline bool cc_links(enum cc_action action) {
  return action >= CC_BUILD_OBJECT;
}

struct cc_job {
  enum cc_action action;
  const struct cc_device *device;
  const struct cc_source *sources; /* concatenated, as OpenCL says; or one SPIR-V
                                    * module; links: the objects and libraries */
  size_t source_count;
  const struct cc_header *headers;
  size_t header_count;
  const char *options; /* as given to clBuildProgram and its like; NULL = "" */
  /* Between the client and a helper: */
  bool may_plan;       /* the answer may be a plan: how to build the program in units */
  uint64_t memory_mib; /* that the helper may use; 0: its own limit */
};

/* What a build does, one after the other, and when it did: CLOCK_MONOTONIC in ns, 0 and 0 if
 * not at all. */
enum cc_stage {
  CC_STAGE_LINK,      /* objects are joined */
  CC_STAGE_FRONT_END, /* clang; for SPIR-V spirv-val and llvm-spirv */
  CC_STAGE_OPTIMISER, /* LLVM's */
  CC_STAGE_LOWER,     /* LLVM IR to CUDA C */
  CC_STAGE_NVRTC,
  CC_STAGES,
};
struct cc_span {
  uint64_t begin_ns, end_ns;
};

static inline const char *cc_stage_name(enum cc_stage stage) {
  static const char *const names[CC_STAGES] = {
      [CC_STAGE_LINK] = "link",           [CC_STAGE_FRONT_END] = "front end",
      [CC_STAGE_OPTIMISER] = "optimiser", [CC_STAGE_LOWER] = "LLVM IR to CUDA C",
      [CC_STAGE_NVRTC] = "NVRTC",
  };
  return names[stage];
}

struct cc_result {
  char *log;    /* NUL-terminated, never NULL after cc_build */
  void *binary; /* program binary, NULL unless CC_OK */
  size_t binary_size;
  bool from_cache;
  /* For the cache: the files that the build depends on beside the job (places.h). NULL:
   * unknown, or none. */
  char *places;
  size_t places_size;
  struct cc_span stages[CC_STAGES];
  /* Of a program that was built in units: */
  unsigned units, units_cached;
  uint64_t *unit_ns;    /* time that each took; 0: it was in the cache */
  bool short_of_memory; /* it failed, and perhaps for lack of memory */
  void *plan;           /* a helper's answer in place of a binary (client/units.c); else NULL */
  size_t plan_size;
};

/* Builds a program. Blocks until done. The result must be given to
 * cc_result_finish whatever the status. */
enum cc_status cc_build(const struct cc_job *job, struct cc_result *result);
void cc_result_finish(struct cc_result *result);

/* A build in the background. The units of a program are known, and accepted
 * as far as they can be refused, long before all are built (docs/architecture.md, "Units"). */
struct cc_background;

struct cc_planned_kernel {
  const char *name;
  unsigned unit, index; /* the kernel's in its unit */
};

/* The build of a job without headers, whose sources and options are copied, with one reference
 * to it. NULL: no memory. */
struct cc_background *cc_background_create(const struct cc_job *job);
/* As cc_build, for one thread, which then calls cc_background_end: the others get the result. */
enum cc_status cc_background_build(struct cc_background *background,
                                   const struct cc_result **result);
void cc_background_end(struct cc_background *background);
void cc_background_hold(struct cc_background *background);
/* NULL is fine. Does not end the build. */
void cc_background_drop(struct cc_background *background);
/* The helpers at work for it are ended, and no more is built. Units that are done stay in the
 * cache. */
void cc_background_cancel(struct cc_background *background);

/* Waits until the program is accepted (true) or its build has ended. *log is the front end's log,
 * which lives as long as the build. */
bool cc_background_accepted(struct cc_background *background, const char **log);
/* Of an accepted program: all its kernels, in their order. */
const struct cc_planned_kernel *cc_background_kernels(const struct cc_background *background,
                                                      size_t *count);
/* Waits for the unit, which is built before the others, and makes a program binary of it, to be
 * freed by the caller. CC_OUT_OF_MEMORY, or why the unit was not built. */
enum cc_status cc_background_unit(struct cc_background *background, unsigned unit, void **binary,
                                  size_t *size);

bool cc_background_has_ended(struct cc_background *background);
/* Waits for the end. The result belongs to the build; one caller at a time may take out of it. */
enum cc_status cc_background_wait(struct cc_background *background, struct cc_result **result);

/* True if a build could succeed here (clang and NVRTC found); used for
 * CL_DEVICE_COMPILER_AVAILABLE. Cheap: starts no process. */
bool cc_available(void);

/* SPIR-V of the versions 1.0 to 1.x, as the source of CC_BUILD and CC_COMPILE: one
 * module, whole. */
enum { CC_IL_MINOR_MAX = 6 };

/* As cc_available, for SPIR-V: SPIRV-Tools and the LLVM/SPIR-V translator as well. */
bool cc_il_available(void);

/* What modules may declare and import (cl_khr_spirv_queries). */
const uint32_t *cc_il_capabilities(size_t *count);
const char *const *cc_il_extensions(size_t *count);
const char *const *cc_il_instruction_sets(size_t *count);

/* Checks the structure of a module in either byte order. On CC_OK *words is a copy in
 * this machine's order, to be freed by the caller; else *why is a sentence. */
enum cc_status cc_il_read(const void *il, size_t size, uint32_t **words, const char **why);

/* The size in bytes of the specialization constant with the SpecId; 0: there is none.
 * words as cc_il_read made them; count is of words. */
size_t cc_il_constant_size(const uint32_t *words, size_t count, uint32_t id);
/* Gives it the value. */
void cc_il_specialize(uint32_t *words, size_t count, uint32_t id, const void *value);

/* What the bytes are. Objects and libraries are checked, program binaries only by their
 * beginning: cc_module_read checks them. */
enum cc_binary_kind {
  CC_BINARY_UNKNOWN,
  CC_BINARY_PROGRAM,
  CC_BINARY_OBJECT,
  CC_BINARY_LIBRARY,
};
enum cc_binary_kind cc_binary_kind(const void *binary, size_t size);

/* Reads a program binary (our container, or a raw sm_80/86/87 CUBIN). On CC_OK
 * *module is owned by the caller until cc_module_free. The binary's bytes are
 * copied. On failure a sentence is left in error. */
enum cc_status cc_module_read(const void *binary, size_t size, struct module_code **module,
                              char *error, size_t error_size);
void cc_module_free(struct module_code *module);

/* Whether binary, which module was read from, is the bare CUBIN of an OpenCL program
 * (tegraclc --emit cubin): it does not say what the kernels' arguments are. */
bool cc_is_bare_cubin(const void *binary, size_t size, const struct module_code *module);

/* Reading of print records (kernel_code.h). */
struct cc_print_reader {
  void *data; /* for the functions */
  /* The string at a GPU address, NUL-terminated; NULL if there is none. */
  const char *(*string)(void *data, uint64_t address);
  /* Gets the output of one or more calls, or a piece of the output of a long one. */
  void (*emit)(void *data, const char *text, size_t size);
};

/* Formats the records as OpenCL C's printf does, whatever the locale. A malformed record is
 * skipped; if its size is malformed, so are all after it. False if output is missing for lack
 * of memory. */
bool cc_print(const struct cc_print_reader *reader, const void *records, size_t size);

#endif
