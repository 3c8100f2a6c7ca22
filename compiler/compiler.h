/* The compiler's interface for the OpenCL API: compiles sources to program binaries, and reads
 * program binaries into plain data. Nothing here loads LLVM or NVRTC: a build is a hit in the disk
 * cache or the work of a helper process (tegraclc). All functions are thread-safe.
 */
#ifndef TEGRACL_COMPILER_H
#define TEGRACL_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/cubin/kernel_code.h"

enum cc_status {
  CC_OK = 0,
  CC_BUILD_FAILURE,   /* error in the source; see the log */
  CC_INVALID_OPTIONS, /* error in an option; the log names it */
  CC_NOT_AVAILABLE,   /* clang or NVRTC is missing; the log says what to install */
  CC_INVALID_BINARY,  /* cc_module_read: truncated, damaged or not a program binary */
  CC_WRONG_DEVICE,    /* cc_module_read: valid, but for another SM */
  CC_OUT_OF_MEMORY,
  CC_INTERNAL_ERROR, /* the helper crashed or timed out; see the log */
  CC_CANCELLED,      /* by cc_background_cancel */
};

/* The features of the device, for predefined macros and clang's -cl-ext list. */
struct cc_device {
  unsigned sm;            /* 87 */
  unsigned version;       /* of OpenCL: 300, 310 */
  const char *extensions; /* CL_DEVICE_EXTENSIONS, separated by blanks */
  const char *c_features; /* OpenCL C feature macros, separated by blanks */
  unsigned long long local_mem_bytes;
  bool textures; /* the texture units may read images, so kernels get code for them as well */
};

struct cc_source {
  const char *text; /* does not need a terminating NUL */
  size_t size;
};

struct cc_header {
  const char *name; /* as written in #include */
  const char *text;
};

/* The kinds of builds. They produce program binaries, except for CC_COMPILE (an object) and
 * CC_LINK_LIBRARY (a library). CC_BUILD_OBJECT is a link that accepts the options of builds. */
enum cc_action {
  CC_BUILD,
  CC_COMPILE,
  CC_BUILD_OBJECT,
  CC_LINK,
  CC_LINK_LIBRARY,
  CC_BUILD_UNIT, /* internal: one unit of a program; the source is a part of a plan */
};

static inline bool cc_links(enum cc_action action) {
  return action >= CC_BUILD_OBJECT;
}

struct cc_job {
  enum cc_action action;
  const struct cc_device *device;
  const struct cc_source *sources; /* OpenCL C sources to be concatenated, or one SPIR-V module; for
                                      links: objects and libraries */
  size_t source_count;
  const struct cc_header *headers;
  size_t header_count;
  const char *options; /* as passed to clBuildProgram and similar calls; NULL means "" */
  const char *folder;  /* directory of relative file names; NULL means the current one */
  /* Set by the client for a helper: */
  bool may_plan;       /* the answer may be a plan for a build in units */
  uint64_t memory_mib; /* memory limit of the helper; 0 means its default */
  bool unattended;     /* no thread waits for the result */
};

/* The stages of a build in their order. Their begin and end times are
 * CLOCK_MONOTONIC in ns; both are 0 if the stage did not run. */
enum cc_stage {
  CC_STAGE_LINK,      /* objects are joined */
  CC_STAGE_FRONT_END, /* clang, or spirv-val and llvm-spirv for SPIR-V */
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
  char *log;    /* NUL-terminated; not NULL after cc_build */
  void *binary; /* program binary; NULL unless CC_OK */
  size_t binary_size;
  bool from_cache;
  /* For the cache: the files that the build depends on besides the job
   * (places.h). NULL if unknown or if there are none. */
  char *places;
  size_t places_size;
  struct cc_span stages[CC_STAGES];
  /* For programs that were built in units: */
  unsigned units, units_cached;
  uint64_t *unit_ns;    /* build time of each unit; 0 if it was in the cache */
  bool short_of_memory; /* the build failed, possibly for lack of memory */
  void *plan;           /* a helper's answer instead of a binary (client/units.c); otherwise NULL */
  size_t plan_size;
};

/* Builds a program and waits for the end of the build. The caller
 * calls cc_result_finish in any case. */
enum cc_status cc_build(const struct cc_job *job, struct cc_result *result);
void cc_result_finish(struct cc_result *result);

/* A background build. The units of the program are known, and those that may be refused are
 * accepted, long before all units are built (docs/architecture.md, "Units"). */
struct cc_background;

struct cc_planned_kernel {
  const char *name;
  unsigned unit; /* number of the unit */
};

/* Creates the background build of a job without headers, with a reference count of 1. Copies
 * the job's sources and options. Returns NULL if out of memory. */
struct cc_background *cc_background_create(const struct cc_job *job);
/* Like cc_build. The thread that calls it must then call cc_background_end,
 * which passes the result to the waiting threads. */
enum cc_status cc_background_build(struct cc_background *background,
                                   const struct cc_result **result);
void cc_background_end(struct cc_background *background);
void cc_background_hold(struct cc_background *background);
/* Drops a reference; the build continues. Ignores NULL. */
void cc_background_drop(struct cc_background *background);
/* Kills the helpers of the build and builds nothing more. Finished units stay in the cache. */
void cc_background_cancel(struct cc_background *background);

/* Waits until the program is accepted or its build has ended. Returns whether it is accepted.
 * Sets *log to the front end's log, which is valid as long as the build. */
bool cc_background_accepted(struct cc_background *background, const char **log);
/* Returns all kernels of an accepted program, in their order. */
const struct cc_planned_kernel *cc_background_kernels(const struct cc_background *background,
                                                      size_t *count);
/* Waits for the unit, which then gets priority, and makes a program binary of it, which the caller
 * frees. Returns CC_OUT_OF_MEMORY, or the reason why the unit was not built, on failure. */
enum cc_status cc_background_unit(struct cc_background *background, unsigned unit, void **binary,
                                  size_t *size);

bool cc_background_has_ended(struct cc_background *background);
/* Waits for the end of the build. The build owns the result; only one
 * caller at a time may take parts out of it. */
enum cc_status cc_background_wait(struct cc_background *background, struct cc_result **result);

/* Whether builds can succeed because clang and NVRTC are installed, for
 * CL_DEVICE_COMPILER_AVAILABLE. Fast; starts no process. */
bool cc_available(void);

/* Newest minor version of SPIR-V 1.x that is accepted. The source of
 * CC_BUILD and CC_COMPILE may be one complete module. */
enum { CC_IL_MINOR_MAX = 6 };

/* Like cc_available, for SPIR-V, which also needs SPIRV-Tools and the LLVM/SPIR-V translator. */
bool cc_il_available(void);

/* Return the capabilities and extensions that modules may use (cl_khr_spirv_queries). matrices is
 * whether cooperative matrices are enabled, which modules may use if CL_DEVICE_EXTENSIONS of their
 * cc_device has CC_MATRIX_EXTENSION. */
#define CC_MATRIX_EXTENSION "cl_khr_cooperative_matrix"
const uint32_t *cc_il_capabilities(bool matrices, size_t *count);
const char *const *cc_il_extensions(bool matrices, size_t *count);
const char *const *cc_il_instruction_sets(size_t *count);

/* Types of the elements of cooperative matrices, with the numbers of the draft
 * cl_khr_cooperative_matrix. */
enum cc_component {
  CC_FP16 = 0,
  CC_FP32 = 1,
  CC_SINT8 = 3,
  CC_SINT32 = 5,
  CC_UINT8 = 7,
  CC_UINT32 = 9,
};

/* A product of cooperative matrices: A (m x k) times B (k x n) plus C gives the result (m x n). */
struct cc_matrix_product {
  unsigned m, n, k;
  enum cc_component a, b, c, result;
  bool saturates; /* the addition of C */
};
/* Returns all products that modules may use. */
const struct cc_matrix_product *cc_il_matrix_products(size_t *count);
/* Alignment in bytes of matrices in memory, and of which strides are multiples. */
enum { CC_MATRIX_ALIGNMENT = 16, CC_MATRIX_STRIDE = 8 };

/* Checks the structure of a module in either byte order. On success *words is a copy in host
 * byte order, which the caller frees; on failure *why is the reason. */
enum cc_status cc_il_read(const void *il, size_t size, uint32_t **words, const char **why);

/* Returns the size in bytes of the specialization constant with this SpecId, or 0 if there
 * is none. words is a module from cc_il_read with count words. */
size_t cc_il_constant_size(const uint32_t *words, size_t count, uint32_t id);
/* Sets the value of a specialization constant. */
void cc_il_specialize(uint32_t *words, size_t count, uint32_t id, const void *value);

/* Returns the kind of a binary. Checks objects and libraries, but only looks at the
 * beginning of program binaries, which cc_module_read checks. */
enum cc_binary_kind {
  CC_BINARY_UNKNOWN,
  CC_BINARY_PROGRAM,
  CC_BINARY_OBJECT,
  CC_BINARY_LIBRARY,
};
enum cc_binary_kind cc_binary_kind(const void *binary, size_t size);

/* Reads a program binary, which is our container or a raw CUBIN for sm_80,
 * sm_86 or sm_87, and copies its bytes. On success the caller frees *module
 * with cc_module_free; on failure error is a message. */
enum cc_status cc_module_read(const void *binary, size_t size, struct module_code **module,
                              char *error, size_t error_size);
void cc_module_free(struct module_code *module);

/* Whether binary, which module was read from, is the bare CUBIN of an OpenCL program (tegraclc
 * --emit cubin), which does not describe the kernels' arguments. */
bool cc_is_bare_cubin(const void *binary, size_t size, const struct module_code *module);

/* Callbacks of cc_print. kernel_code.h describes print records. */
struct cc_print_reader {
  void *data; /* for the functions */
  /* Returns the NUL-terminated string at a GPU address, or NULL if there is none. */
  const char *(*string)(void *data, uint64_t address);
  /* Receives the output of one or more calls, or a part of a long output. */
  void (*emit)(void *data, const char *text, size_t size);
};

/* Formats the records like OpenCL C's printf, independent of the locale. Skips
 * malformed records; if the size of a record is malformed, skips the rest.
 * Returns false if output is missing for lack of memory. */
bool cc_print(const struct cc_print_reader *reader, const void *records, size_t size);

#endif
