/* The fake runtime. See fake_runtime.h. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/debug/timeline.h"
#include "tests/icd/fakes/alloc_fail.h"
#include "tests/icd/fakes/fake_runtime.h"

#define NS 1000000000ull
/* makes GPU times differ from CPU times, so that a test notices if they are confused */
#define CLOCK_LEAD_NS (12345 * NS)

enum work_kind { LAUNCH, MARKER, BEGINNING, ENDING, ACQUIRE, REPLAY };

struct work {
  struct work *next;
  enum work_kind kind;
  struct rt_launch launch;
  struct rt_times *times;
  struct rt_queue *other; /* ACQUIRE */
  uint64_t other_point, point;
  struct rt_recording *recording; /* REPLAY */
  unsigned char params[];
};

struct rt_device {
  struct rt_device_info info;
};

struct rt_context {
  struct rt_device *device;
  _Atomic(const char *) fault;
  /* destroyed queues, whose points acquires in other queues may still read */
  struct rt_queue *dead;
};

struct rt_module {
  const struct module_code *code;
  /* read by each launch, so that a sanitizer reports a module that was destroyed too early */
  int *alive;
};

struct rt_queue {
  struct rt_context *context;
  struct rt_queue *next_dead;
  pthread_t thread;
  struct work *first, *last;
  _Atomic uint64_t submitted;
  _Atomic uint64_t completed;
  _Atomic int users; /* detects concurrent calls, because the caller must hold a lock */
  bool stop;
};

/* A command of a recording. They are executed one after another. */
struct step {
  enum { STEP_LAUNCH, STEP_COPY, STEP_FILL } kind;
  struct rt_launch launch;
  struct rt_copy copy;
  struct rt_fill fill;
  unsigned char *data; /* parameters or pattern */
};

struct rt_recording {
  struct rt_context *context;
  struct step *steps;
  size_t count;
  bool ended;
  _Atomic int in_flight;
};

struct times {
  struct rt_times times;
  _Atomic bool pending;
};

struct fake_buffer {
  struct rt_buffer buffer; /* must be the first member, because the user has a pointer to it */
  enum { OWN, IMPORTED, HOSTS } kind;
};

/* One lock for everything, which is slow but simple. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool paused, held;
static int passes, failures;
static _Atomic int live;
static _Atomic int buffers, most_buffers;
struct fake_launch fake_last_launch;
static _Thread_local char message[256] = "no failure yet";

static void say(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(message, sizeof message, format, values);
  va_end(values);
}

static void broken(const char *rule) {
  fprintf(stderr, "fake runtime: rule broken: %s\n", rule);
  abort();
}

/* Timelines are not supported. */
bool rt_timeline_is_on;

bool rt_timeline_begin(void) {
  return false;
}

void rt_timeline_put(const struct rt_timeline_event *event) {
  (void)event;
  broken("nothing is put on a timeline that is not there");
}

void rt_timeline_span(const char *category, const char *name, uint64_t begin_ns,
                      const struct rt_timeline_detail *details, size_t detail_count) {
  (void)category, (void)name, (void)begin_ns, (void)details, (void)detail_count;
  broken("nothing is put on a timeline that is not there");
}

const char *rt_last_message(void) {
  return message;
}

int fake_live(void) {
  return live;
}

void fake_fail_after(int skip, int n) {
  pthread_mutex_lock(&lock);
  passes = skip;
  failures = n;
  pthread_mutex_unlock(&lock);
}

void fake_memory(int most) {
  most_buffers = most;
}

static bool fails(void) {
  pthread_mutex_lock(&lock);
  const bool pass = passes > 0;
  passes -= pass;
  const bool fail = !pass && failures > 0;
  failures -= fail;
  pthread_mutex_unlock(&lock);
  if (fail)
    say("the test wants a failure");
  return fail;
}

void fake_pause(void) {
  pthread_mutex_lock(&lock);
  paused = true;
  pthread_mutex_unlock(&lock);
}

void fake_resume(void) {
  pthread_mutex_lock(&lock);
  paused = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

void fake_hold(void) {
  pthread_mutex_lock(&lock);
  held = true;
  pthread_mutex_unlock(&lock);
}

void fake_let_end(void) {
  pthread_mutex_lock(&lock);
  held = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

/* ---- device -------------------------------------------------------------------- */

static uint64_t cpu_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

static uint64_t gpu_clock(void) {
  return (cpu_clock() + CLOCK_LEAD_NS) & ~31ull;
}

int rt_device_open(struct rt_device **device) {
  *device = __real_calloc(1, sizeof **device);
  (*device)->info = (struct rt_device_info){.chip = "ga10b",
                                            .board = "Test Board",
                                            .emulated = true,
                                            .shared_addresses = true,
                                            .sm_count = 4,
                                            .tpc_count = 2,
                                            .sm_version = 0x807,
                                            .max_clock_mhz = 1000,
                                            .warp_size = 32,
                                            .blocks_per_sm = 16,
                                            .max_threads_per_block = 1024,
                                            .max_block = {1024, 1024, 64},
                                            .max_grid = {2147483647, 65535, 65535},
                                            .registers_per_sm = 65536,
                                            .shared_bytes_per_block = 49152,
                                            .l2_bytes = 4 << 20,
                                            .memory_bytes = 1ull << 32,
                                            .max_buffer_bytes = 1ull << 30,
                                            .max_param_bytes = 4352,
                                            .timer_step_ns = 32};
  return 0;
}

void rt_device_close(struct rt_device *device) {
  free(device);
}

void rt_device_forked(struct rt_device *device) {}

int rt_device_reopen(struct rt_device *device) {
  return 0;
}

const struct rt_device_info *rt_device_info(const struct rt_device *device) {
  return &device->info;
}

int rt_device_time(struct rt_device *device, uint64_t *gpu_ns, uint64_t *cpu_ns) {
  *cpu_ns = cpu_clock();
  *gpu_ns = (*cpu_ns + CLOCK_LEAD_NS) & ~31ull;
  return 0;
}

int rt_device_warp_instructions(struct rt_device *device, uint64_t *count) {
  *count = 0;
  return 0;
}

/* ---- context, buffers, modules --------------------------------------------------- */

int rt_context_create(struct rt_device *device, struct rt_context **context) {
  if (fails())
    return -ENOMEM;
  *context = __real_calloc(1, sizeof **context);
  (*context)->device = device;
  live++;
  return 0;
}

void rt_context_destroy(struct rt_context *context) {
  while (context->dead) {
    struct rt_queue *next = context->dead->next_dead;
    free(context->dead);
    context->dead = next;
  }
  free(context);
  live--;
}

const char *rt_context_fault(struct rt_context *context) {
  return context->fault;
}

int rt_buffer_create(struct rt_context *context, uint64_t size, enum rt_memory_type type,
                     struct rt_buffer **buffer) {
  if (fails() || (most_buffers && buffers >= most_buffers))
    return -ENOMEM;
  buffers++;
  *buffer = __real_calloc(1, sizeof(struct fake_buffer));
  (*buffer)->cpu = __real_calloc(1, size);
  (*buffer)->gpu = (uint64_t)(uintptr_t)(*buffer)->cpu;
  (*buffer)->size = size;
  live++;
  return 0;
}

int rt_buffer_allocate(struct rt_context *context, uint64_t size, struct rt_buffer **buffer) {
  return rt_buffer_create(context, size, RT_MEMORY_CACHED, buffer);
}

/* Accepts any file that can be mapped as a dma-buf. */
int rt_buffer_import(struct rt_context *context, int fd, struct rt_buffer **buffer) {
  if (fails())
    return -ENOMEM;
  const off_t size = lseek(fd, 0, SEEK_END);
  void *cpu =
      size > 0 ? mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (cpu == MAP_FAILED) {
    say("not a dma-buf");
    return -EINVAL;
  }
  *buffer = __real_calloc(1, sizeof(struct fake_buffer));
  ((struct fake_buffer *)*buffer)->kind = IMPORTED;
  **buffer = (struct rt_buffer){.gpu = (uintptr_t)cpu, .cpu = cpu, .size = (uint64_t)size};
  live++;
  return 0;
}

int rt_buffer_import_host(struct rt_context *context, void *pages, uint64_t size,
                          struct rt_buffer **buffer) {
  if (fails())
    return -ENOMEM;
  if ((uintptr_t)pages % 4096 || size % 4096)
    broken("rt_buffer_import_host of what is not whole pages");
  *buffer = __real_calloc(1, sizeof(struct fake_buffer));
  **buffer = (struct rt_buffer){.gpu = (uintptr_t)pages, .cpu = pages, .size = size};
  ((struct fake_buffer *)*buffer)->kind = HOSTS;
  live++;
  return 0;
}

int rt_context_renew_host(struct rt_context *context) {
  (void)context;
  return 0;
}

void rt_buffer_destroy(struct rt_buffer *buffer) {
  if (!buffer)
    return;
  switch (((struct fake_buffer *)buffer)->kind) {
  case OWN:
    free(buffer->cpu);
    buffers--;
    break;
  case IMPORTED:
    munmap(buffer->cpu, buffer->size);
    break;
  case HOSTS:
    break;
  }
  free(buffer);
  live--;
}

void rt_buffer_note(const struct rt_buffer *buffer, enum rt_buffer_news news) {}

void rt_buffer_note_written(const struct rt_buffer *buffer, const void *at, uint64_t size) {}

void rt_texture_check(struct rt_context *context) {}

bool rt_texture_may_read(const struct rt_device *device) {
  return false;
}

bool rt_texture_needs_code(const struct rt_device *device) {
  return false;
}

int rt_texture_create(struct rt_context *context, const struct kernel_image *image,
                      enum kernel_arg_image type, uint32_t *texture) {
  *texture = 0;
  return 0;
}

void rt_texture_destroy(struct rt_context *context, const struct kernel_image *image) {}

int rt_module_create(struct rt_context *context, const struct module_code *code,
                     struct rt_module **module) {
  if (fails())
    return -ENOMEM;
  *module = __real_calloc(1, sizeof **module);
  (*module)->code = code;
  (*module)->alive = __real_malloc(sizeof(int));
  *(*module)->alive = 1;
  live++;
  return 0;
}

void rt_module_destroy(struct rt_module *module) {
  if (!module)
    return;
  free(module->alive);
  free(module);
  live--;
}

const void *rt_module_data(const struct rt_module *module, uint64_t address, uint64_t *size) {
  return NULL;
}

/* ---- queues --------------------------------------------------------------------------- */

/* Whether the first work may start. The caller holds the lock. */
static bool ready(struct rt_queue *queue) {
  if (!queue->first || (paused && !queue->stop))
    return false;
  if (queue->first->kind == ACQUIRE)
    return queue->first->other->completed >= queue->first->other_point || queue->context->fault;
  return true;
}

static void copy_box(const struct rt_copy *copy) {
  for (size_t z = 0; z < copy->region[2]; z++)
    for (size_t y = 0; y < copy->region[1]; y++)
      memcpy((char *)(uintptr_t)copy->target + z * copy->target_slice_bytes +
                 y * copy->target_row_bytes,
             (char *)(uintptr_t)copy->source + z * copy->source_slice_bytes +
                 y * copy->source_row_bytes,
             copy->region[0]);
}

static void fill_box(const struct rt_fill *fill) {
  for (size_t z = 0; z < fill->region[2]; z++)
    for (size_t y = 0; y < fill->region[1]; y++)
      for (size_t x = 0; x < fill->region[0]; x += fill->pattern_size)
        memcpy((char *)(uintptr_t)fill->target + z * fill->slice_bytes + y * fill->row_bytes + x,
               fill->pattern, fill->pattern_size);
}

static bool launch_now(const struct rt_launch *launch, const unsigned char *params) {
  if (!*launch->module->alive)
    broken("module destroyed before its launch ran");
  return fake_find_kernel(launch->module->code->kernels[launch->kernel].name)(params, launch);
}

static bool run_steps(const struct rt_recording *recording) {
  bool good = true;
  for (size_t i = 0; i < recording->count && good; i++) {
    const struct step *step = &recording->steps[i];
    if (step->kind == STEP_LAUNCH)
      good = launch_now(&step->launch, step->data);
    else if (step->kind == STEP_COPY)
      copy_box(&step->copy);
    else
      fill_box(&step->fill);
  }
  return good;
}

static void *run(void *data) {
  struct rt_queue *queue = data;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!ready(queue) && !(queue->stop && !queue->first))
      pthread_cond_wait(&changed, &lock);
    struct work *work = queue->first;
    if (!work)
      break;
    const bool dead = queue->context->fault;
    pthread_mutex_unlock(&lock);

    if (work->times && work->kind != ENDING)
      __atomic_store_n(&work->times->start_ns, gpu_clock(), __ATOMIC_RELAXED);
    bool good = !dead;
    if (work->kind == LAUNCH && !dead)
      good = launch_now(&work->launch, work->params);
    else if (work->kind == REPLAY && !dead)
      good = run_steps(work->recording);
    pthread_mutex_lock(&lock);
    while (held && !queue->stop)
      pthread_cond_wait(&changed, &lock);
    if (work->kind == LAUNCH) {
      memcpy(fake_last_launch.grid, work->launch.grid, sizeof work->launch.grid);
      memcpy(fake_last_launch.block, work->launch.block, sizeof work->launch.block);
      fake_last_launch.dynamic_shared_bytes = work->launch.dynamic_shared_bytes;
    }
    queue->first = work->next;
    if (work->times && work->kind != BEGINNING)
      work->times->end_ns = gpu_clock() + 32;
    if (work->times)
      ((struct times *)work->times)->pending = false;
    /* After this, other threads may change or destroy objects that the work has used. */
    if (work->recording)
      work->recording->in_flight--;
    if (good && !dead)
      queue->completed = work->point;
    else if (!queue->context->fault)
      queue->context->fault = "kernel fault read unmapped memory";
    free(work);
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

int rt_queue_create(struct rt_context *context, enum rt_priority priority,
                    struct rt_queue **queue) {
  if (fails())
    return -ENOMEM;
  *queue = __real_calloc(1, sizeof **queue);
  (*queue)->context = context;
  live++;
  return -pthread_create(&(*queue)->thread, NULL, run, *queue);
}

void rt_queue_destroy(struct rt_queue *queue) {
  if (!queue)
    return;
  pthread_mutex_lock(&lock);
  queue->stop = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(queue->thread, NULL);
  pthread_mutex_lock(&lock);
  queue->next_dead = queue->context->dead;
  queue->context->dead = queue;
  pthread_mutex_unlock(&lock);
  live--;
}

int rt_times_get(struct rt_context *context, struct rt_times **times) {
  if (fails())
    return -ENOMEM;
  *times = __real_calloc(1, sizeof(struct times));
  live++;
  return 0;
}

void rt_times_put(struct rt_context *context, struct rt_times *times) {
  if (((struct times *)times)->pending && !context->fault)
    broken("rt_times_put before the launch has completed");
  if (!((struct times *)times)->pending)
    free(times); /* if the context has faulted, the queue still uses it, and it leaks */
  live--;
}

int rt_launch_check(const struct rt_context *context, const struct rt_launch *launch) {
  const struct kernel_code *kernel = &launch->module->code->kernels[launch->kernel];
  const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
  if (threads > rt_kernel_max_threads(context, kernel)) {
    say("the block is too large");
    return -EINVAL;
  }
  if (launch->dynamic_shared_bytes + kernel->shared_bytes >
      context->device->info.shared_bytes_per_block) {
    say("shared memory does not fit");
    return -E2BIG;
  }
  return 0;
}

void rt_kernel_max_grid(const struct rt_context *context, const struct kernel_code *kernel,
                        uint32_t max[3]) {
  max[0] = max[1] = max[2] = context->device->info.max_grid[0];
  if (kernel->hidden_offset == UINT32_MAX)
    max[1] = max[2] = context->device->info.max_grid[1];
}

uint32_t rt_kernel_max_threads(const struct rt_context *context, const struct kernel_code *kernel) {
  return kernel->max_threads ? kernel->max_threads : 1024;
}

uint32_t rt_kernel_local_bytes(const struct kernel_code *kernel) {
  return kernel->stack_bytes;
}

size_t rt_shape_bytes(const struct kernel_code *kernel) {
  return sizeof(struct rt_shape) + kernel->param_bytes;
}

void *rt_shape_params(struct rt_shape *shape, const struct kernel_code *kernel) {
  return shape->words;
}

static int submit_for(struct rt_queue *queue, enum work_kind kind, const struct rt_launch *launch,
                      struct rt_recording *recording, struct rt_times *times,
                      struct rt_queue *other, uint64_t other_point, uint64_t *point) {
  if (queue->users++)
    broken("two threads in one queue");
  if (queue->context->fault) {
    say("%s", queue->context->fault);
    queue->users--;
    return -EIO;
  }
  const size_t bytes = launch ? launch->module->code->kernels[launch->kernel].param_bytes : 0;
  struct work *work = __real_calloc(1, sizeof *work + bytes);
  work->kind = kind;
  work->times = times;
  work->other = other;
  work->other_point = other_point;
  work->recording = recording;
  if (recording)
    recording->in_flight++;
  if (launch) {
    work->launch = *launch;
    memcpy(work->params, launch->params, bytes);
  }
  if (times)
    ((struct times *)times)->pending = true;
  pthread_mutex_lock(&lock);
  if (kind != ACQUIRE)
    queue->submitted++;
  work->point = queue->submitted;
  /* An acquire has the same point as the work before it. */
  if (queue->first)
    queue->last->next = work;
  else
    queue->first = work;
  queue->last = work;
  if (point)
    *point = work->point;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  queue->users--;
  return 0;
}

static int submit(struct rt_queue *queue, enum work_kind kind, const struct rt_launch *launch,
                  struct rt_times *times, struct rt_queue *other, uint64_t other_point,
                  uint64_t *point) {
  return submit_for(queue, kind, launch, NULL, times, other, other_point, point);
}

uint64_t rt_launch_grids(const struct rt_context *context, const struct rt_launch *launch) {
  return 1;
}

int rt_queue_launch(struct rt_queue *queue, const struct rt_launch *launch, uint64_t *point) {
  const int error = rt_launch_check(queue->context, launch);
  return error ? error : submit(queue, LAUNCH, launch, launch->times, NULL, 0, point);
}

int rt_queue_marker(struct rt_queue *queue, struct rt_times *times, uint64_t *point) {
  return submit(queue, MARKER, NULL, times, NULL, 0, point);
}

int rt_queue_timestamp(struct rt_queue *queue, struct rt_times *times, bool end) {
  return submit(queue, end ? ENDING : BEGINNING, NULL, times, NULL, 0, NULL);
}

int rt_queue_acquire(struct rt_queue *queue, struct rt_queue *other, uint64_t point) {
  pthread_mutex_lock(&lock);
  if (point > other->submitted)
    broken("acquire of a point that was not submitted");
  pthread_mutex_unlock(&lock);
  return submit(queue, ACQUIRE, NULL, NULL, other, point, NULL);
}

_Atomic int fake_looks;

uint64_t rt_queue_completed(const struct rt_queue *queue) {
  fake_looks++;
  return queue->completed;
}

uint64_t rt_queue_submitted(const struct rt_queue *queue) {
  return queue->submitted;
}

int rt_queue_wait(struct rt_queue *queue, uint64_t point, uint64_t timeout_ns) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  if (timeout_ns != UINT64_MAX) {
    const uint64_t ns = (uint64_t)until.tv_nsec + timeout_ns;
    until.tv_sec += (time_t)(ns / NS);
    until.tv_nsec = (long)(ns % NS);
  }
  int result = 0;
  pthread_mutex_lock(&lock);
  while (queue->completed < point && !result) {
    if (queue->context->fault)
      result = -EIO;
    else if (timeout_ns == UINT64_MAX)
      pthread_cond_wait(&changed, &lock);
    else
      result = -pthread_cond_timedwait(&changed, &lock, &until);
  }
  pthread_mutex_unlock(&lock);
  if (result == -EIO)
    say("%s", queue->context->fault);
  return result;
}

/* ---- recordings ------------------------------------------------------------------------- */

int rt_recording_create(struct rt_context *context, struct rt_recording **recording) {
  if (fails())
    return -ENOMEM;
  *recording = __real_calloc(1, sizeof **recording);
  (*recording)->context = context;
  live++;
  return 0;
}

bool rt_recording_in_flight(const struct rt_recording *recording) {
  return recording->in_flight && !recording->context->fault;
}

void rt_recording_reset(struct rt_recording *recording) {
  if (rt_recording_in_flight(recording))
    broken("a recording is changed while it is in flight");
  for (size_t i = 0; i < recording->count; i++)
    free(recording->steps[i].data);
  recording->count = 0;
  recording->ended = false;
}

void rt_recording_destroy(struct rt_recording *recording) {
  if (!recording)
    return;
  rt_recording_reset(recording);
  free(recording->steps);
  free(recording);
  live--;
}

static int add_step(struct rt_recording *recording, struct step step, const void *data,
                    size_t bytes) {
  struct step *steps = realloc(recording->steps, (recording->count + 1) * sizeof *steps);
  if (steps)
    recording->steps = steps;
  if (!steps || fails())
    return -ENOMEM;
  step.data = __real_malloc(bytes + 1);
  if (bytes)
    memcpy(step.data, data, bytes);
  step.fill.pattern = step.data;
  steps[recording->count++] = step;
  return 0;
}

int rt_recording_launch(struct rt_recording *recording, const struct rt_launch *launch) {
  const size_t bytes = launch->module->code->kernels[launch->kernel].param_bytes;
  const int error = rt_launch_check(recording->context, launch);
  return error ? error
               : add_step(recording, (struct step){.kind = STEP_LAUNCH, .launch = *launch},
                          launch->params, bytes);
}

int rt_recording_copy(struct rt_recording *recording, const struct rt_copy *copy) {
  return add_step(recording, (struct step){.kind = STEP_COPY, .copy = *copy}, NULL, 0);
}

int rt_recording_fill(struct rt_recording *recording, const struct rt_fill *fill) {
  return add_step(recording, (struct step){.kind = STEP_FILL, .fill = *fill}, fill->pattern,
                  fill->pattern_size);
}

void rt_recording_wait(struct rt_recording *recording) {}

int rt_recording_end(struct rt_recording *recording) {
  recording->ended = true;
  return fails() ? -ENOMEM : 0;
}

int rt_queue_replay(struct rt_queue *queue, struct rt_recording *recording, struct rt_times *times,
                    uint64_t *point) {
  if (!recording->ended)
    broken("a replay of a recording that was not ended");
  if (times && fails()) { /* the replay itself, after its first time */
    submit(queue, BEGINNING, NULL, times, NULL, 0, NULL);
    return -ENOMEM;
  }
  return submit_for(queue, REPLAY, NULL, recording, times, NULL, 0, point);
}

/* Waits for the point, and returns a file descriptor that is already signalled. */
int rt_queue_fence(struct rt_queue *queue, uint64_t point, int *fd) {
  const int result = rt_queue_wait(queue, point, UINT64_MAX);
  *fd = result ? -1 : eventfd(1, EFD_CLOEXEC);
  return result;
}
