/* printf: each launch of a kernel that prints gets a buffer of the context, in which the
 * GPU leaves records (kernel_code.h) and which is printed once the launch has completed,
 * by the first thread that notices, before the application hears of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icd/objects.h"

/* Launches that may print at the same time; further ones wait. */
enum { PENDING_MAX = 8 };

struct icd_print {
  struct icd_print *next;
  struct rt_buffer *buffer;
  cl_command_queue queue; /* its destruction waits and drains */
  uint64_t point;
  struct icd_module *module;      /* held; has the strings */
  const struct kernel_code *code; /* of the kernel */
};

void icd_print_init(cl_context context) {
  struct icd_prints *prints = &context->prints;
  pthread_mutexattr_t recursive; /* the callback may find out that more has completed */
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&prints->output, &recursive);
  pthread_mutexattr_destroy(&recursive);
  pthread_mutex_init(&prints->lock, NULL);
  prints->bytes = ICD_PRINT_BYTES;
  for (const cl_context_properties *p = context->properties; p && *p; p += 2) {
    if (p[0] == CL_PRINTF_CALLBACK_ARM)
      prints->callback = (icd_print_callback)p[1];
    else if (p[0] == CL_PRINTF_BUFFERSIZE_ARM)
      prints->bytes = (size_t)p[1] / PRINT_ALIGN * PRINT_ALIGN;
  }
  if (prints->bytes < ICD_PRINT_BYTES_MIN)
    prints->bytes = ICD_PRINT_BYTES_MIN;
}

/* All queues have gone, so nothing is pending. */
void icd_print_finish(cl_context context) {
  struct icd_prints *prints = &context->prints;
  while (prints->idle) {
    struct icd_print *print = prints->idle;
    prints->idle = print->next;
    rt_buffer_destroy(print->buffer);
    free(print);
  }
  pthread_mutex_destroy(&prints->lock);
  pthread_mutex_destroy(&prints->output);
}

/* ---- launching -------------------------------------------------------------- */

/* A buffer that was used before, or a new one. 0 or -errno. */
static int get(cl_context context, struct icd_print **print) {
  struct icd_prints *prints = &context->prints;
  pthread_mutex_lock(&prints->lock);
  *print = prints->idle;
  if (*print)
    prints->idle = (*print)->next;
  pthread_mutex_unlock(&prints->lock);
  if (*print)
    return 0;
  *print = calloc(1, sizeof **print);
  if (!*print)
    return -ENOMEM;
  const int error = rt_buffer_create(context->rt, sizeof(struct print_buffer) + prints->bytes,
                                     RT_MEMORY_CACHED, &(*print)->buffer);
  if (error) {
    free(*print);
    return error;
  }
  const struct print_buffer head = {.capacity = prints->bytes};
  memcpy((*print)->buffer->cpu, &head, sizeof head);
  return 0;
}

int icd_print_launch(cl_command_queue queue, cl_kernel kernel, const struct rt_launch *launch) {
  struct icd_prints *prints = &queue->context->prints;
  struct rt_launch printing = *launch;
  struct icd_print *print;
  int error = get(queue->context, &print);
  if (error)
    return error;
  printing.print_buffer = print->buffer->gpu;
  error = rt_queue_launch(queue->rt, &printing, NULL);
  icd_module_hold(kernel->owner);
  print->module = kernel->owner;
  print->code = kernel->code;
  print->queue = queue;
  print->point = rt_queue_submitted(queue->rt); /* on failure, too: some grids may run */
  pthread_mutex_lock(&prints->lock);
  print->next = prints->pending;
  prints->pending = print;
  prints->pending_count++;
  atomic_fetch_add(&prints->unwritten, 1);
  pthread_mutex_unlock(&prints->lock);
  return error;
}

void icd_print_wait_for_room(cl_context context) {
  struct icd_prints *prints = &context->prints;
  for (;;) {
    cl_command_queue queue = NULL;
    uint64_t point = 0;
    pthread_mutex_lock(&prints->lock);
    if (prints->pending_count >= PENDING_MAX) {
      struct icd_print *oldest = prints->pending;
      while (oldest->next)
        oldest = oldest->next;
      /* A queue that is about to be destroyed drains by itself. */
      if (icd_object_try_hold(&oldest->queue->object))
        queue = oldest->queue;
      point = oldest->point;
    }
    pthread_mutex_unlock(&prints->lock);
    if (!queue)
      return;
    rt_queue_wait(queue->rt, point, UINT64_MAX);
    icd_print_drain(context);
    icd_queue_drop(queue);
  }
}

/* ---- printing ---------------------------------------------------------------- */

/* Takes those off that have completed, and gives them the oldest first. What a launch
 * depends on was submitted before it; looking at the newest first finds it complete, too. */
static struct icd_print *take_completed(cl_context context) {
  struct icd_prints *prints = &context->prints;
  struct icd_print *completed = NULL;
  const bool dead = rt_context_fault(context->rt);
  pthread_mutex_lock(&prints->lock);
  for (struct icd_print **link = &prints->pending; *link;) {
    struct icd_print *print = *link;
    if (!dead && rt_queue_completed(print->queue->rt) < print->point) {
      link = &print->next;
      continue;
    }
    *link = print->next;
    print->next = completed;
    completed = print;
    prints->pending_count--;
  }
  pthread_mutex_unlock(&prints->lock);
  return completed;
}

/* What cc_print's functions get. */
struct output {
  cl_context context;
  const struct icd_print *print;
};

static const char *find_string(void *data, uint64_t address) {
  const struct output *output = data;
  uint64_t size = 0;
  const char *string = rt_module_data(output->print->module->rt, address, &size);
  return string && memchr(string, 0, size) ? string : NULL;
}

static void emit(void *data, const char *text, size_t size) {
  const struct output *output = data;
  if (output->context->prints.callback)
    output->context->prints.callback(text, size, 0, output->context->notify_data);
  else
    fwrite(text, 1, size, stdout);
}

/* Prints a launch's records and clears them for the next. The GPU is not trusted: it
 * says how much there is, but not how much there can be. */
static void print_launch(cl_context context, const struct icd_print *print) {
  struct icd_prints *prints = &context->prints;
  struct output output = {context, print};
  const struct cc_print_reader reader = {&output, find_string, emit};
  unsigned char *records = (unsigned char *)print->buffer->cpu + sizeof(struct print_buffer);
  struct print_buffer head;
  memcpy(&head, print->buffer->cpu, sizeof head);
  const size_t size = head.reserved < prints->bytes ? head.reserved : prints->bytes;
  const bool whole = cc_print(&reader, records, size);
  if (prints->callback)
    prints->callback("", 0, 1, context->notify_data);
  if (!whole)
    icd_fail(context, CL_OUT_OF_HOST_MEMORY, "printf", "no memory for the output of %s",
             print->code->name);
  if (head.dropped)
    icd_fail(context, CL_OUT_OF_RESOURCES, "printf",
             "%llu calls of %s found no room in the buffer of %zu bytes",
             (unsigned long long)head.dropped, print->code->name, prints->bytes);
  memset(records, 0, size);
  head = (struct print_buffer){.capacity = prints->bytes};
  memcpy(print->buffer->cpu, &head, sizeof head);
}

void icd_print_drain(cl_context context) {
  struct icd_prints *prints = &context->prints;
  if (!atomic_load_explicit(&prints->unwritten, memory_order_acquire))
    return;
  icd_enter(&prints->output);
  struct icd_print *completed = take_completed(context);
  const bool written = completed && !prints->callback;
  while (completed) {
    struct icd_print *print = completed;
    completed = print->next;
    print_launch(context, print);
    icd_module_drop(print->module);
    pthread_mutex_lock(&prints->lock);
    print->next = prints->idle;
    prints->idle = print;
    pthread_mutex_unlock(&prints->lock);
    atomic_fetch_sub(&prints->unwritten, 1);
  }
  if (written)
    fflush(stdout);
  icd_leave(&prints->output);
}
