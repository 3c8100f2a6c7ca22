/* printf: each launch of a kernel that prints gets a buffer of the context, to which the GPU writes
 * records (kernel_code.h). The first thread that finds the launch complete prints them before it
 * reports completion to the application.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icd/objects.h"

/* Maximum number of launches that may print at the same time. Later ones wait. */
enum { PENDING_MAX = 8 };

struct icd_print {
  struct icd_print *next;
  struct rt_buffer *buffer;
  cl_command_queue queue; /* when it is destroyed, it waits for its work and writes its output */
  uint64_t point;
  uint64_t number;                /* among the launches of the context that print */
  pthread_t writer;               /* while the output is being written */
  struct icd_module *module;      /* held; contains the format strings */
  const struct kernel_code *code; /* the kernel */
};

void icd_print_init(cl_context context) {
  struct icd_prints *prints = &context->prints;
  base_mutex_init(&prints->lock, BASE_LOCK_PRINTS);
  pthread_cond_init(&prints->written, NULL);
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

/* The context has no queues any more, so no output is pending. */
void icd_print_finish(cl_context context) {
  struct icd_prints *prints = &context->prints;
  while (prints->idle) {
    struct icd_print *print = prints->idle;
    prints->idle = print->next;
    rt_buffer_destroy(print->buffer);
    free(print);
  }
  pthread_cond_destroy(&prints->written);
  base_mutex_destroy(&prints->lock);
}

/* ---- order of the output ------------------------------------------------------------ */

/* Whether this thread is writing output, and so may be in a callback. The caller holds the lock. */
static bool is_writing(const struct icd_prints *prints) {
  const struct icd_print *print = prints->writing;
  while (print && !pthread_equal(print->writer, pthread_self()))
    print = print->next;
  return print;
}

/* Whether another thread is writing output of launches up to number last that the queue's output
 * must follow. Standard output is written in order. With a callback only the output of one queue
 * is, because the callback may wait for threads that use other queues. The caller holds the
 * lock. */
static bool is_held_up(const struct icd_prints *prints, cl_command_queue queue, uint64_t last) {
  for (const struct icd_print *print = prints->writing; print; print = print->next)
    if (print->number <= last && (print->queue == queue || !prints->callback) &&
        !pthread_equal(print->writer, pthread_self()))
      return true;
  return false;
}

/* ---- launching -------------------------------------------------------------- */

/* Returns a buffer from the free list or a new one. Returns 0 or -errno. */
static int get_print_buffer(cl_context context, struct icd_print **print) {
  struct icd_prints *prints = &context->prints;
  base_mutex_lock(&prints->lock);
  *print = prints->idle;
  if (*print)
    prints->idle = (*print)->next;
  base_mutex_unlock(&prints->lock);
  if (*print)
    return 0;
  *print = calloc(1, sizeof(**print));
  if (!*print)
    return -ENOMEM;
  const int error = rt_buffer_create(context->rt, sizeof(struct print_buffer) + prints->bytes,
                                     RT_MEMORY_CACHED, &(*print)->buffer);
  if (error) {
    free(*print);
    return error;
  }
  const struct print_buffer head = {.capacity = prints->bytes};
  memcpy((*print)->buffer->cpu, &head, sizeof(head));
  return 0;
}

int icd_print_launch(cl_command_queue queue, cl_kernel kernel, const struct rt_launch *launch) {
  struct icd_prints *prints = &queue->context->prints;
  struct rt_launch printing = *launch;
  struct icd_print *print;
  int error = get_print_buffer(queue->context, &print);
  if (error)
    return error;
  printing.print_buffer = print->buffer->gpu;
  error = rt_queue_launch(queue->rt, &printing, NULL);
  icd_module_hold(kernel->owner);
  print->module = kernel->owner;
  print->code = kernel->code;
  print->queue = queue;
  /* after a failure too, because some grids may run */
  print->point = rt_queue_submitted(queue->rt);
  base_mutex_lock(&prints->lock);
  print->next = prints->pending;
  prints->pending = print;
  prints->pending_count++;
  print->number = ++prints->count;
  atomic_fetch_add(&prints->unwritten, 1);
  base_mutex_unlock(&prints->lock);
  return error;
}

/* A thread in a callback tries only once, because others may wait for it. */
void icd_print_wait_for_room(cl_context context) {
  struct icd_prints *prints = &context->prints;
  bool in_callback = false;
  while (!in_callback) {
    cl_command_queue queue = NULL;
    uint64_t point = 0;
    base_mutex_lock(&prints->lock);
    in_callback = is_writing(prints);
    if (prints->pending_count >= PENDING_MAX) {
      struct icd_print *oldest = prints->pending;
      while (oldest->next)
        oldest = oldest->next;
      /* A queue that is being destroyed writes its own output. */
      if (icd_object_try_hold(&oldest->queue->object))
        queue = oldest->queue;
      point = oldest->point;
    }
    base_mutex_unlock(&prints->lock);
    if (!queue)
      return;
    rt_queue_wait(queue->rt, point, UINT64_MAX);
    icd_print_drain(queue);
    icd_queue_drop(queue);
  }
}

/* ---- printing ---------------------------------------------------------------- */

/* Moves the oldest completed launch that this thread can write now, among those up to number
 * last, from pending to writing. Returns NULL if there is none. A launch only depends on older
 * ones. These are checked after it, so they are found complete if it is. The caller holds the
 * lock. */
static struct icd_print *take_completed(cl_context context, uint64_t last) {
  struct icd_prints *prints = &context->prints;
  struct icd_print **oldest = NULL;
  const bool dead = rt_context_fault(context->rt);
  for (struct icd_print **link = &prints->pending; *link; link = &(*link)->next)
    if ((*link)->number <= last &&
        (dead || rt_queue_completed((*link)->queue->rt) >= (*link)->point) &&
        !is_held_up(prints, (*link)->queue, last))
      oldest = link;
  if (!oldest)
    return NULL;
  struct icd_print *print = *oldest;
  *oldest = print->next;
  prints->pending_count--;
  print->writer = pthread_self();
  print->next = prints->writing;
  prints->writing = print;
  return print;
}

/* Removes a launch whose output has been written. The caller holds the lock. */
static void put_written(struct icd_prints *prints, struct icd_print *print) {
  struct icd_print **link = &prints->writing;
  while (*link != print)
    link = &(*link)->next;
  *link = print->next;
  print->next = prints->idle;
  prints->idle = print;
  atomic_fetch_sub(&prints->unwritten, 1);
  pthread_cond_broadcast(&prints->written);
}

/* The data of find_string and write_output. */
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

static void write_output(void *data, const char *text, size_t size) {
  const struct output *output = data;
  if (output->context->prints.callback)
    output->context->prints.callback(text, size, 0, output->context->notify_data);
  else
    fwrite(text, 1, size, stdout);
}

/* Prints the records of a launch and clears them for the next one. The size from the GPU is
 * limited to that of the buffer. */
static void print_launch(cl_context context, const struct icd_print *print) {
  struct icd_prints *prints = &context->prints;
  struct output output = {context, print};
  const struct cc_print_reader reader = {&output, find_string, write_output};
  unsigned char *records = (unsigned char *)print->buffer->cpu + sizeof(struct print_buffer);
  struct print_buffer head;
  memcpy(&head, print->buffer->cpu, sizeof(head));
  const size_t size = head.reserved < prints->bytes ? head.reserved : prints->bytes;
  if (!prints->callback)
    flockfile(stdout); /* keeps lines of different launches apart */
  const bool whole = cc_print(&reader, records, size);
  if (prints->callback) {
    prints->callback("", 0, 1, context->notify_data);
  } else {
    fflush(stdout);
    funlockfile(stdout);
  }
  if (!whole)
    icd_fail(context, CL_OUT_OF_HOST_MEMORY, "printf",
             "out of host memory: the printf output of kernel %s is incomplete", print->code->name);
  if (head.dropped)
    icd_fail(context, CL_OUT_OF_RESOURCES, "printf",
             "%llu calls of kernel %s were dropped: the buffer of %zu bytes is full "
             "(CL_PRINTF_BUFFERSIZE_ARM sets its size)",
             (unsigned long long)head.dropped, print->code->name, prints->bytes);
  memset(records, 0, size);
  head = (struct print_buffer){.capacity = prints->bytes};
  memcpy(print->buffer->cpu, &head, sizeof(head));
}

/* Whether this thread should wait for output that others are writing. A thread in a callback
 * should not, because the others may wait for it, unless the queue is being destroyed. The
 * caller holds the lock. */
static bool should_wait(const struct icd_prints *prints, cl_command_queue queue) {
  return !is_writing(prints) || !atomic_load(&queue->object.references);
}

/* No lock is held during a callback. A call from a callback writes only the output that is
 * complete. Launches that are added meanwhile are left to later calls, so the loop ends. */
void icd_print_drain(cl_command_queue queue) {
  cl_context context = queue->context;
  struct icd_prints *prints = &context->prints;
  if (!atomic_load_explicit(&prints->unwritten, memory_order_acquire))
    return;
  icd_enter(&prints->lock);
  const uint64_t last = prints->count;
  for (;;) {
    struct icd_print *print = take_completed(context, last);
    if (print) {
      base_mutex_unlock(&prints->lock);
      print_launch(context, print);
      icd_module_drop(print->module);
      base_mutex_lock(&prints->lock);
      put_written(prints, print);
    } else if (is_held_up(prints, queue, last) && should_wait(prints, queue)) {
      base_mutex_wait(&prints->lock, &prints->written);
    } else {
      break;
    }
  }
  icd_leave(&prints->lock);
}
