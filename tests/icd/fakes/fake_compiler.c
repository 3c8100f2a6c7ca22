/* A compiler that produces the same kernels for every source. The fake runtime executes them as C
 * functions. A source with "#error" fails to build.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/compiler.h"
#include "tests/icd/fakes/fake_runtime.h"

#define BINARY  "fake program"
#define OBJECT  "fake object"
#define LIBRARY "fake library"

#define POINTER(arg_name, at)                                                                      \
  { .name = arg_name, .type_name = "int*", .kind = KERNEL_ARG_GLOBAL, .offset = at, .size = 8 }
#define VALUE(arg_name, at)                                                                        \
  { .name = arg_name, .type_name = "int", .kind = KERNEL_ARG_VALUE, .offset = at, .size = 4 }
#define BLOCK(arg_name, at, bytes)                                                                 \
  {                                                                                                \
    .name = arg_name, .type_name = "int*", .kind = KERNEL_ARG_LOCAL, .offset = at, .size = 4,      \
    .align = bytes                                                                                 \
  }

static const struct kernel_arg add_args[] = {POINTER("in", 0), POINTER("out", 8), VALUE("n", 16)};
static const struct kernel_arg local_args[] = {BLOCK("a", 0, 4), BLOCK("b", 4, 16),
                                               POINTER("out", 8)};
static const struct kernel_arg image_args[] = {{.name = "in",
                                                .type_name = "image2d_t",
                                                .kind = KERNEL_ARG_IMAGE,
                                                .access = KERNEL_ARG_ACCESS_READ_ONLY,
                                                .offset = 0,
                                                .size = 32},
                                               {.name = "out",
                                                .type_name = "image2d_t",
                                                .kind = KERNEL_ARG_IMAGE,
                                                .access = KERNEL_ARG_ACCESS_WRITE_ONLY,
                                                .offset = 32,
                                                .size = 32},
                                               {.name = "sampler",
                                                .type_name = "sampler_t",
                                                .kind = KERNEL_ARG_SAMPLER,
                                                .access = KERNEL_ARG_ACCESS_NONE,
                                                .offset = 64,
                                                .size = 4}};
static const struct kernel_arg number_arg[] = {VALUE("n", 0)};
static const struct kernel_arg one_arg[] = {POINTER("out", 0)};

#define KERNEL(text_name, list, bytes, ...)                                                        \
  {                                                                                                \
    .name = text_name, .args = list, .arg_count = sizeof list / sizeof *list, .args_known = 1,     \
    .hidden_offset = bytes, .param_bytes = bytes + sizeof(struct kernel_hidden), .registers = 16,  \
    .bank2 = MODULE_NO_SECTION, .bank3 = MODULE_NO_SECTION, .bank4 = MODULE_NO_SECTION,            \
    .attributes = "vec_type_hint(int)", .uniform = 1, __VA_ARGS__                                  \
  }

static const struct module_section sections[] = {{.kind = MODULE_TEXT, .size = 128, .align = 128}};
static const struct kernel_code kernels[] = {
    KERNEL("add", add_args, 24, ),
    KERNEL("slow_add", add_args, 24, ),
    KERNEL("locals", local_args, 16, .shared_bytes = 256),
    KERNEL("ids", one_arg, 8, ),
    KERNEL("required", one_arg, 8, .required_block = {8, 4, 1}),
    KERNEL("bounded", one_arg, 8, .max_threads = 64),
    KERNEL("fault", one_arg, 8, ),
    KERNEL("print", number_arg, 8, .prints = 1),
    KERNEL("describe", image_args, 72, ),
};

static uint64_t items(const struct rt_launch *launch) {
  uint64_t count = 1;
  for (int i = 0; i < 3; i++)
    count *= (uint64_t)launch->grid[i] * launch->block[i];
  return count;
}

static bool add(const unsigned char *params, const struct rt_launch *launch) {
  const int *in;
  int *out, n;
  memcpy(&in, params, sizeof in);
  memcpy(&out, params + 8, sizeof out);
  memcpy(&n, params + 16, sizeof n);
  for (uint64_t i = 0; i < items(launch); i++)
    out[i] = in[i] + n;
  return true;
}

static bool slow_add(const unsigned char *params, const struct rt_launch *launch) {
  nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  return add(params, launch);
}

/* Writes the offsets of the blocks of local memory. */
static bool locals(const unsigned char *params, const struct rt_launch *launch) {
  uint32_t *out;
  memcpy(&out, params + 8, sizeof out);
  memcpy(out, params, 8);
  return true;
}

/* Writes the kernel's hidden block. */
static bool ids(const unsigned char *params, const struct rt_launch *launch) {
  void *out;
  memcpy(&out, params, sizeof out);
  memcpy(out, params + 8, sizeof(struct kernel_hidden));
  return true;
}

/* Each work-item prints n. If n is negative, reports a wrong size of the output. */
static bool print(const unsigned char *params, const struct rt_launch *launch) {
  struct print_buffer *buffer = (struct print_buffer *)(uintptr_t)launch->print_buffer;
  uint64_t *records = (uint64_t *)(buffer + 1);
  int n;
  memcpy(&n, params, sizeof n);
  for (uint64_t i = 0; i < items(launch); i++) {
    const uint64_t place = buffer->reserved;
    buffer->reserved += sizeof *records;
    if (buffer->reserved > buffer->capacity)
      buffer->dropped++;
    else
      records[place / sizeof *records] = (uint64_t)n + 1;
  }
  if (n < 0)
    buffer->reserved = UINT64_MAX;
  return true;
}

/* Reads the records that the kernel print writes. */
bool cc_print(const struct cc_print_reader *reader, const void *records, size_t size) {
  for (const uint64_t *record = records; size; record++, size -= sizeof *record) {
    char text[32];
    if (*record)
      reader->emit(reader->data, text,
                   (size_t)snprintf(text, sizeof text, "%d ", (int)(*record - 1)));
  }
  return true;
}

/* Writes the descriptor of the first image and the sampler to the second image. */
static bool describe(const unsigned char *params, const struct rt_launch *launch) {
  struct kernel_image out;
  memcpy(&out, params + sizeof out, sizeof out);
  memcpy((void *)(uintptr_t)out.base, params, sizeof out);
  memcpy((char *)(uintptr_t)out.base + sizeof out, params + 2 * sizeof out, sizeof(uint32_t));
  return true;
}

static bool fault(const unsigned char *params, const struct rt_launch *launch) {
  return false;
}

fake_kernel fake_find_kernel(const char *name) {
  static const struct {
    const char *name;
    fake_kernel kernel;
  } table[] = {{"add", add},     {"slow_add", slow_add}, {"locals", locals},
               {"ids", ids},     {"required", ids},      {"bounded", ids},
               {"fault", fault}, {"print", print},       {"describe", describe}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (!strcmp(name, table[i].name))
      return table[i].kernel;
  abort();
}

bool fake_il;

bool cc_il_available(void) {
  return fake_il;
}

bool cc_available(void) {
  return true;
}

static char *_Atomic folder; /* of the last build */

char *fake_take_folder(void) {
  return atomic_exchange(&folder, NULL);
}

enum cc_status cc_build(const struct cc_job *job, struct cc_result *result) {
  free(atomic_exchange(&folder, job->folder ? strdup(job->folder) : NULL));
  *result = (struct cc_result){.log = strdup("")};
  if (!result->log)
    return CC_OUT_OF_MEMORY;
  for (size_t i = 0; i < job->source_count; i++)
    if (memmem(job->sources[i].text, job->sources[i].size, "#error", 6))
      return CC_BUILD_FAILURE;
  const char *made = job->action == CC_COMPILE        ? OBJECT
                     : job->action == CC_LINK_LIBRARY ? LIBRARY
                                                      : BINARY;
  result->binary = strdup(made);
  result->binary_size = strlen(made) + 1;
  return result->binary ? CC_OK : CC_OUT_OF_MEMORY;
}

/* ---- in the background ------------------------------------------------------------------- */

struct cc_background {
  unsigned references;
  bool cancelled, ended;
  struct cc_result result;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the builds and what follows */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool units_may_finish;
static bool was_cancelled;
static unsigned callers; /* threads in cc_background_unit */

void fake_wait_for_caller(void) {
  pthread_mutex_lock(&lock);
  while (!callers)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void fake_finish_units(void) {
  pthread_mutex_lock(&lock);
  units_may_finish = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

bool fake_was_cancelled(void) {
  pthread_mutex_lock(&lock);
  const bool cancelled = was_cancelled;
  pthread_mutex_unlock(&lock);
  return cancelled;
}

struct cc_background *cc_background_create(const struct cc_job *job) {
  bool in_units = false;
  for (size_t i = 0; i < job->source_count; i++)
    in_units |= memmem(job->sources[i].text, job->sources[i].size, "#units", 6) != NULL;
  struct cc_background *background = in_units ? calloc(1, sizeof(*background)) : NULL;
  if (background) {
    background->references = 1;
    units_may_finish = was_cancelled = false;
  }
  return background;
}

static enum cc_status wait_for_units(const struct cc_background *background) {
  while (!units_may_finish && !background->cancelled)
    pthread_cond_wait(&changed, &lock);
  return background->cancelled ? CC_CANCELLED : CC_OK;
}

enum cc_status cc_background_build(struct cc_background *background,
                                   const struct cc_result **result) {
  pthread_mutex_lock(&lock);
  const enum cc_status status = wait_for_units(background);
  pthread_mutex_unlock(&lock);
  background->result = (struct cc_result){.log = strdup("")};
  if (status == CC_OK) {
    background->result.binary = strdup(BINARY);
    background->result.binary_size = sizeof BINARY;
  }
  *result = &background->result;
  return status;
}

void cc_background_end(struct cc_background *background) {
  pthread_mutex_lock(&lock);
  background->ended = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

void cc_background_hold(struct cc_background *background) {
  pthread_mutex_lock(&lock);
  background->references++;
  pthread_mutex_unlock(&lock);
}

void cc_background_drop(struct cc_background *background) {
  if (!background)
    return;
  pthread_mutex_lock(&lock);
  const bool last = --background->references == 0;
  pthread_mutex_unlock(&lock);
  if (last) {
    cc_result_finish(&background->result);
    free(background);
  }
}

void cc_background_cancel(struct cc_background *background) {
  pthread_mutex_lock(&lock);
  background->cancelled = was_cancelled = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

bool cc_background_accepted(struct cc_background *background, const char **log) {
  (void)background;
  *log = "";
  return true;
}

const struct cc_planned_kernel *cc_background_kernels(const struct cc_background *background,
                                                      size_t *count) {
  static const struct cc_planned_kernel planned[] = {{"add", 0}, {"missing", 1}};
  (void)background;
  *count = sizeof planned / sizeof *planned;
  return planned;
}

enum cc_status cc_background_unit(struct cc_background *background, unsigned unit, void **binary,
                                  size_t *size) {
  (void)unit;
  pthread_mutex_lock(&lock);
  callers++;
  pthread_cond_broadcast(&changed);
  const enum cc_status status = wait_for_units(background);
  callers--;
  pthread_mutex_unlock(&lock);
  *binary = status == CC_OK ? strdup(BINARY) : NULL;
  *size = sizeof BINARY;
  return status;
}

bool cc_background_has_ended(struct cc_background *background) {
  pthread_mutex_lock(&lock);
  const bool ended = background->ended;
  pthread_mutex_unlock(&lock);
  return ended;
}

enum cc_status cc_background_wait(struct cc_background *background, struct cc_result **result) {
  pthread_mutex_lock(&lock);
  while (!background->ended)
    pthread_cond_wait(&changed, &lock);
  const enum cc_status status = background->cancelled ? CC_CANCELLED : CC_OK;
  pthread_mutex_unlock(&lock);
  *result = &background->result;
  return status;
}

void cc_result_finish(struct cc_result *result) {
  free(result->log);
  free(result->binary);
}

enum cc_binary_kind cc_binary_kind(const void *binary, size_t size) {
  static const char *const names[] = {
      [CC_BINARY_PROGRAM] = BINARY, [CC_BINARY_OBJECT] = OBJECT, [CC_BINARY_LIBRARY] = LIBRARY};
  for (int kind = CC_BINARY_PROGRAM; kind <= CC_BINARY_LIBRARY; kind++)
    if (size == strlen(names[kind]) + 1 && !memcmp(binary, names[kind], size))
      return (enum cc_binary_kind)kind;
  return CC_BINARY_UNKNOWN;
}

bool cc_is_bare_cubin(const void *binary, size_t size, const struct module_code *module) {
  (void)binary, (void)size, (void)module;
  return false;
}

enum cc_status cc_module_read(const void *binary, size_t size, struct module_code **module,
                              char *error, size_t error_size) {
  if (size != sizeof BINARY || memcmp(binary, BINARY, size)) {
    error[0] = 0;
    return CC_INVALID_BINARY;
  }
  *module = malloc(sizeof **module);
  if (!*module)
    return CC_OUT_OF_MEMORY;
  **module = (struct module_code){.sections = sections,
                                  .section_count = 1,
                                  .kernels = kernels,
                                  .kernel_count = sizeof kernels / sizeof *kernels};
  return CC_OK;
}

void cc_module_free(struct module_code *module) {
  free(module);
}
