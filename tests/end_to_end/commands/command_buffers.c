/* Compares command buffers with a model: random commands on a few buffers, in in-order and
 * out-of-order queues, replayed on several queues, and updated while replays wait or run. The host
 * executes the same commands on its own copies.
 *
 *   command_buffers random [SEED [ROUNDS]]
 *   command_buffers images | svm | lifetime | profile | threads
 */
#include <pthread.h>

#include "tests/end_to_end/commands/command_buffer.h"

enum {
  ITEMS = 1024, /* words of a buffer */
  BYTES = ITEMS * sizeof(cl_uint),
  BUFFERS = 4,
  QUEUES = 3,
  COMMANDS = 24,
  REPLAYS = 6,
  ROUNDS = 20,
  WIDTH = 32, /* words in a row, for rectangles */
};

static const char source[] =
    "kernel void step(global uint *x, uint n) {\n"
    "  const size_t i = get_global_id(0);\n"
    "  x[i] = x[i] * 3 + n + (uint)i;\n"
    "}\n"
    "kernel void join(global uint *x, global const uint *a, local uint *part, uint n) {\n"
    "  const size_t i = get_global_id(0), l = get_local_id(0);\n"
    "  part[l] = a[i];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  x[i] = x[i] * 5 + part[get_local_size(0) - 1 - l] + n;\n"
    "}\n"
    "kernel void spill(global uint *x, uint n) {\n"
    "  uint many[64];\n"
    "  const size_t i = get_global_id(0);\n"
    "  for (uint k = 0; k < 64; k++) many[k] = x[i] + k;\n"
    "  x[i] = many[(n + x[i]) % 64] * 7;\n"
    "}\n"
    "kernel void count(global uint *x, uint unused) {\n"
    "  atomic_inc(&x[get_global_id(0) % 8]);\n"
    "}\n";

enum kind { STEP, JOIN, SPILL, COPY, RECT, FILL, BARRIER, KINDS };

struct command {
  enum kind kind;
  unsigned target, source;
  cl_uint n;
  size_t offset, size, local; /* work-items */
  size_t from, to, bytes;     /* the region of a copy or fill */
  size_t rows;
  size_t pattern_size;
  unsigned char pattern[128];
  cl_mutable_command_khr handle;
};

struct test {
  struct opencl opencl;
  struct command_buffer_functions f;
  cl_command_queue queues[QUEUES]; /* the last queue is out of order */
  cl_kernel kernels[3];
  cl_mem buffers[BUFFERS];
  cl_uint expected[BUFFERS][ITEMS];
  struct command commands[COMMANDS];
  unsigned count;
  cl_event last; /* of the chain */
};

static uint64_t state;

static unsigned below(unsigned n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

/* ---- the model --------------------------------------------------------------------------- */

static void fill_expected(struct test *t, const struct command *c) {
  unsigned char *to = (unsigned char *)t->expected[c->target] + c->to;
  for (size_t i = 0; i < c->bytes; i++)
    to[i] = c->pattern[i % c->pattern_size];
}

static void copy_expected(struct test *t, const struct command *c) {
  for (size_t row = 0; row < c->rows; row++)
    memcpy((char *)t->expected[c->target] + c->to + row * WIDTH * sizeof(cl_uint),
           (char *)t->expected[c->source] + c->from + row * WIDTH * sizeof(cl_uint), c->bytes);
}

static void launch_expected(struct test *t, const struct command *c) {
  cl_uint *x = t->expected[c->target];
  const cl_uint *a = t->expected[c->source];
  for (size_t i = c->offset; i < c->offset + c->size; i++) {
    const size_t l = (i - c->offset) % c->local;
    if (c->kind == STEP)
      x[i] = x[i] * 3 + c->n + (cl_uint)i;
    else if (c->kind == JOIN)
      x[i] = x[i] * 5 + a[i - l + c->local - 1 - l] + c->n;
    else
      x[i] = (x[i] + (c->n + x[i]) % 64) * 7;
  }
}

static void expect(struct test *t) {
  for (unsigned i = 0; i < t->count; i++) {
    const struct command *c = &t->commands[i];
    if (c->kind == COPY || c->kind == RECT)
      copy_expected(t, c);
    else if (c->kind == FILL)
      fill_expected(t, c);
    else if (c->kind != BARRIER)
      launch_expected(t, c);
  }
}

static void compare(struct test *t) {
  static cl_uint got[ITEMS];
  for (unsigned b = 0; b < BUFFERS; b++) {
    CHECK_CL(clEnqueueReadBuffer(t->queues[0], t->buffers[b], CL_TRUE, 0, BYTES, got,
                                 t->last != NULL, t->last ? &t->last : NULL, NULL),
             CL_SUCCESS);
    for (unsigned i = 0; i < ITEMS; i++)
      if (got[i] != t->expected[b][i]) {
        fprintf(stderr, "buffer %u, word %u: %08x instead of %08x\n", b, i, got[i],
                t->expected[b][i]);
        exit(1);
      }
  }
}

/* ---- random commands ------------------------------------------------------------------------ */

static void choose_range(struct command *c) {
  static const size_t locals[] = {1, 8, 32, 64};
  c->local = locals[below(4)];
  c->size = c->local * (1 + below((unsigned)(ITEMS / 2 / c->local)));
  c->offset = below((unsigned)(ITEMS - c->size + 1));
}

static void choose(struct command *c) {
  *c = (struct command){.kind = below(KINDS), .target = below(BUFFERS), .n = below(1000)};
  c->source = (c->target + 1 + below(BUFFERS - 1)) % BUFFERS;
  c->rows = 1;
  choose_range(c);
  switch (c->kind) {
  case COPY:
    c->bytes = 1 + below(BYTES / 2);
    c->from = below((unsigned)(BYTES - c->bytes));
    c->to = below((unsigned)(BYTES - c->bytes));
    break;
  case RECT:
    c->bytes = 1 + below(WIDTH * sizeof(cl_uint));
    c->rows = 1 + below(ITEMS / WIDTH);
    break;
  case FILL:
    c->pattern_size = 1u << below(8);
    c->bytes = c->pattern_size * (1 + below((unsigned)(BYTES / c->pattern_size)));
    c->to = c->pattern_size * below((unsigned)((BYTES - c->bytes) / c->pattern_size + 1));
    for (size_t i = 0; i < c->pattern_size; i++)
      c->pattern[i] = (unsigned char)below(256);
    break;
  default:
    break;
  }
}

static void set_arguments(struct test *t, const struct command *c) {
  cl_kernel kernel = t->kernels[c->kind];
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &t->buffers[c->target]), CL_SUCCESS);
  if (c->kind == JOIN) {
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof(cl_mem), &t->buffers[c->source]), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 2, c->local * sizeof(cl_uint), NULL), CL_SUCCESS);
  }
  CHECK_CL(clSetKernelArg(kernel, c->kind == JOIN ? 3 : 1, sizeof c->n, &c->n), CL_SUCCESS);
}

static cl_int record(struct test *t, cl_command_buffer_khr buffer, struct command *c, cl_uint count,
                     const cl_sync_point_khr *waits, cl_sync_point_khr *point) {
  const struct command_buffer_functions *f = &t->f;
  const size_t from[3] = {c->from, 0, 0}, to[3] = {c->to, 0, 0}, region[3] = {c->bytes, c->rows, 1};
  const size_t pitch = WIDTH * sizeof(cl_uint);
  switch (c->kind) {
  case COPY:
    return f->clCommandCopyBufferKHR(buffer, NULL, NULL, t->buffers[c->source],
                                     t->buffers[c->target], c->from, c->to, c->bytes, count, waits,
                                     point, NULL);
  case RECT:
    return f->clCommandCopyBufferRectKHR(buffer, NULL, NULL, t->buffers[c->source],
                                         t->buffers[c->target], from, to, region, pitch, 0, pitch,
                                         0, count, waits, point, NULL);
  case FILL:
    return f->clCommandFillBufferKHR(buffer, NULL, NULL, t->buffers[c->target], c->pattern,
                                     c->pattern_size, c->to, c->bytes, count, waits, point, NULL);
  case BARRIER:
    return f->clCommandBarrierWithWaitListKHR(buffer, NULL, NULL, count, waits, point, NULL);
  default:
    set_arguments(t, c);
    return f->clCommandNDRangeKernelKHR(buffer, NULL, NULL, t->kernels[c->kind], 1, &c->offset,
                                        &c->size, &c->local, count, waits, point, &c->handle);
  }
}

/* Each command waits for the last one that used each of its buffers. */
static cl_command_buffer_khr record_all(struct test *t, cl_command_queue queue, bool points) {
  const cl_command_buffer_properties_khr properties[] = {
      CL_COMMAND_BUFFER_FLAGS_KHR,
      CL_COMMAND_BUFFER_MUTABLE_KHR | CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
  cl_int error;
  cl_command_buffer_khr buffer = t->f.clCreateCommandBufferKHR(1, &queue, properties, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_sync_point_khr last[BUFFERS] = {0};
  t->count = 1 + below(COMMANDS);
  for (unsigned i = 0; i < t->count; i++) {
    struct command *c = &t->commands[i];
    choose(c);
    cl_sync_point_khr waits[2], point;
    cl_uint count = 0;
    if (points && c->kind != BARRIER) {
      if (last[c->target])
        waits[count++] = last[c->target];
      if (last[c->source] && last[c->source] != last[c->target])
        waits[count++] = last[c->source];
    }
    CHECK_CL(record(t, buffer, c, count, count ? waits : NULL, &point), CL_SUCCESS);
    if (c->kind != BARRIER)
      last[c->target] = last[c->source] = point;
  }
  CHECK_CL(t->f.clFinalizeCommandBufferKHR(buffer), CL_SUCCESS);
  return buffer;
}

/* ---- replays and changes ------------------------------------------------------------------ */

static void replay(struct test *t, cl_command_buffer_khr buffer, cl_event gate) {
  cl_event waits[2], event;
  cl_uint count = 0;
  if (t->last)
    waits[count++] = t->last;
  if (gate)
    waits[count++] = gate;
  cl_command_queue queue = t->queues[below(QUEUES)];
  CHECK_CL(t->f.clEnqueueCommandBufferKHR(1, &queue, buffer, count, count ? waits : NULL, &event),
           CL_SUCCESS);
  if (t->last)
    CHECK_CL(clReleaseEvent(t->last), CL_SUCCESS);
  t->last = event;
  expect(t);
}

/* Updates arguments and offsets of some launches with one call. */
static void change(struct test *t, cl_command_buffer_khr buffer) {
  struct icd_mutable_dispatch_config configs[COMMANDS];
  cl_mutable_dispatch_arg_khr args[COMMANDS][3];
  cl_command_buffer_update_type_khr types[COMMANDS];
  const void *all[COMMANDS];
  cl_uint count = 0;
  for (unsigned i = 0; i < t->count; i++) {
    struct command *c = &t->commands[i];
    if (!c->handle || below(2))
      continue;
    c->n = below(1000);
    choose_range(c);
    const bool join = c->kind == JOIN;
    args[count][0] = (cl_mutable_dispatch_arg_khr){join ? 3 : 1, sizeof c->n, &c->n};
    args[count][1] = (cl_mutable_dispatch_arg_khr){2, c->local * sizeof(cl_uint), NULL};
    configs[count] = (struct icd_mutable_dispatch_config){
        .command = c->handle,
        .num_args = join ? 2 : 1,
        .arg_list = args[count],
        .work_dim = below(2),
        .global_work_offset = &c->offset,
        .global_work_size = &c->size,
        .local_work_size = &c->local,
    };
    types[count] = ICD_MUTABLE_DISPATCH_CONFIG;
    all[count] = &configs[count];
    count++;
  }
  if (count)
    CHECK_CL(t->f.clUpdateMutableCommandsKHR(buffer, count, types, all), CL_SUCCESS);
}

static void test_random(struct test *t, unsigned rounds) {
  for (unsigned round = 0; round < rounds; round++) {
    cl_int error;
    cl_event gate = below(3) ? NULL : clCreateUserEvent(t->opencl.context, &error);
    const bool in_order = below(2);
    cl_command_buffer_khr buffer =
        record_all(t, t->queues[in_order ? 0 : QUEUES - 1], !in_order || below(2));
    for (unsigned i = 0; i < REPLAYS; i++) {
      replay(t, buffer, i ? NULL : gate);
      if (below(2))
        change(t, buffer);
    }
    CHECK_CL(t->f.clReleaseCommandBufferKHR(buffer), CL_SUCCESS);
    if (gate) {
      CHECK_CL(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
      CHECK_CL(clReleaseEvent(gate), CL_SUCCESS);
    }
    compare(t);
  }
}

/* ---- images and shared virtual memory ----------------------------------------------------- */

static void finish(struct test *t, cl_command_buffer_khr buffer) {
  CHECK_CL(t->f.clFinalizeCommandBufferKHR(buffer), CL_SUCCESS);
  CHECK_CL(t->f.clEnqueueCommandBufferKHR(0, NULL, buffer, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(t->f.clEnqueueCommandBufferKHR(0, NULL, buffer, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clFinish(t->queues[0]), CL_SUCCESS);
  CHECK_CL(t->f.clReleaseCommandBufferKHR(buffer), CL_SUCCESS);
}

static cl_command_buffer_khr begin(struct test *t) {
  cl_int error;
  cl_command_buffer_khr buffer = t->f.clCreateCommandBufferKHR(1, t->queues, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  return buffer;
}

/* Copies a buffer through two images with 16-byte texels and back. A filled border must remain
 * around the copied part. */
static void test_images(struct test *t) {
  enum { SIDE = 8, TEXEL = 4 };
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
  const cl_image_desc shape = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
  const size_t origin[3] = {0, 0, 0}, inside[3] = {1, 2, 0}, whole[3] = {SIDE, SIDE, 1},
               part[3] = {SIDE - 2, SIDE - 3, 1};
  const cl_uint color[TEXEL] = {1, 2, 3, 4};
  cl_mem images[2];
  cl_int error;
  for (int i = 0; i < 2; i++) {
    images[i] = clCreateImage(t->opencl.context, CL_MEM_READ_WRITE, &format, &shape, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
  }
  cl_command_buffer_khr b = begin(t);
  const struct command_buffer_functions *f = &t->f;
  CHECK_CL(f->clCommandCopyBufferToImageKHR(b, NULL, NULL, t->buffers[0], images[0], 0, origin,
                                            whole, 0, NULL, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(
      f->clCommandFillImageKHR(b, NULL, NULL, images[1], color, origin, whole, 0, NULL, NULL, NULL),
      CL_SUCCESS);
  CHECK_CL(f->clCommandCopyImageKHR(b, NULL, NULL, images[0], images[1], inside, inside, part, 0,
                                    NULL, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(f->clCommandFillImageKHR(b, NULL, NULL, images[1], color, inside, (size_t[3]){2, 2, 1},
                                    0, NULL, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(f->clCommandCopyImageToBufferKHR(b, NULL, NULL, images[1], t->buffers[1], origin, whole,
                                            0, 0, NULL, NULL, NULL),
           CL_SUCCESS);
  finish(t, b);
  for (size_t y = 0; y < SIDE; y++)
    for (size_t x = 0; x < SIDE; x++) {
      const bool frame = x < 1 || x >= SIDE - 1 || y < 2 || y >= SIDE - 1;
      const bool corner = x >= 1 && x < 3 && y >= 2 && y < 4;
      const size_t at = (y * SIDE + x) * TEXEL;
      memcpy(&t->expected[1][at], frame || corner ? color : &t->expected[0][at], sizeof color);
    }
  compare(t);
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseMemObject(images[i]), CL_SUCCESS);
}

static void test_svm(struct test *t) {
  cl_device_svm_capabilities svm;
  CHECK_CL(clGetDeviceInfo(t->opencl.device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL),
           CL_SUCCESS);
  cl_command_buffer_khr b = begin(t);
  cl_uint outside[4] = {0};
  const cl_uint pattern = 0x12345678;
  const struct command_buffer_functions *f = &t->f;
  if (!svm) {
    CHECK_CL(f->clCommandSVMMemFillKHR(b, NULL, NULL, outside, &pattern, sizeof pattern,
                                       sizeof outside, 0, NULL, NULL, NULL),
             CL_INVALID_OPERATION);
    CHECK_CL(f->clReleaseCommandBufferKHR(b), CL_SUCCESS);
    return;
  }
  cl_uint *one = clSVMAlloc(t->opencl.context, CL_MEM_READ_WRITE, BYTES, 0);
  cl_uint *two = clSVMAlloc(t->opencl.context, CL_MEM_READ_WRITE, BYTES, 0);
  CHECK(one && two);
  CHECK_CL(f->clCommandSVMMemFillKHR(b, NULL, NULL, outside, &pattern, sizeof pattern,
                                     sizeof outside, 0, NULL, NULL, NULL),
           CL_INVALID_VALUE);
  CHECK_CL(f->clCommandSVMMemFillKHR(b, NULL, NULL, one, &pattern, sizeof pattern, BYTES, 0, NULL,
                                     NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clSetKernelArgSVMPointer(t->kernels[STEP], 0, one), CL_SUCCESS);
  const cl_uint n = 9;
  CHECK_CL(clSetKernelArg(t->kernels[STEP], 1, sizeof n, &n), CL_SUCCESS);
  const size_t items = ITEMS;
  CHECK_CL(f->clCommandNDRangeKernelKHR(b, NULL, NULL, t->kernels[STEP], 1, NULL, &items, NULL, 0,
                                        NULL, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(f->clCommandSVMMemcpyKHR(b, NULL, NULL, two, one, BYTES, 0, NULL, NULL, NULL),
           CL_SUCCESS);
  finish(t, b);
  for (cl_uint i = 0; i < ITEMS; i++)
    CHECK(two[i] == pattern * 3 + n + i);
  clSVMFree(t->opencl.context, one);
  clSVMFree(t->opencl.context, two);
}

/* ---- lifetime, states, times -------------------------------------------------------------- */

static cl_command_buffer_state_khr state_of(struct test *t, cl_command_buffer_khr buffer) {
  cl_command_buffer_state_khr s;
  CHECK_CL(t->f.clGetCommandBufferInfoKHR(buffer, CL_COMMAND_BUFFER_STATE_KHR, sizeof s, &s, NULL),
           CL_SUCCESS);
  return s;
}

/* Sets the arguments of a launch last. The recording remains usable after all handles of its
 * objects have been released. */
static void test_life(struct test *t) {
  const struct command_buffer_functions *f = &t->f;
  const cl_command_buffer_properties_khr mutable[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                      CL_COMMAND_BUFFER_MUTABLE_KHR, 0};
  const cl_command_properties_khr later[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                                             CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0};
  cl_int error;
  cl_command_queue queue =
      clCreateCommandQueueWithProperties(t->opencl.context, t->opencl.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernel = opencl_kernel(&t->opencl, source, "step");
  cl_command_buffer_khr b = f->clCreateCommandBufferKHR(1, &queue, mutable, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK(state_of(t, b) == CL_COMMAND_BUFFER_STATE_RECORDING_KHR);
  const size_t items = ITEMS;
  cl_mutable_command_khr handle;
  CHECK_CL(f->clCommandNDRangeKernelKHR(b, NULL, NULL, kernel, 1, NULL, &items, NULL, 0, NULL, NULL,
                                        NULL),
           CL_INVALID_KERNEL_ARGS);
  CHECK_CL(f->clCommandNDRangeKernelKHR(b, NULL, later, kernel, 1, NULL, &items, NULL, 0, NULL,
                                        NULL, &handle),
           CL_SUCCESS);
  CHECK_CL(f->clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, NULL), CL_INVALID_OPERATION);
  CHECK_CL(f->clFinalizeCommandBufferKHR(b), CL_SUCCESS);
  CHECK_CL(f->clFinalizeCommandBufferKHR(b), CL_INVALID_OPERATION);
  CHECK(state_of(t, b) == CL_COMMAND_BUFFER_STATE_FINALIZED_KHR);
  CHECK_CL(f->clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, NULL), CL_INVALID_OPERATION);
  const cl_uint n = 77;
  const cl_mutable_dispatch_arg_khr args[] = {{0, sizeof(cl_mem), &t->buffers[0]},
                                              {1, sizeof n, &n}};
  const cl_command_buffer_update_type_khr type = ICD_MUTABLE_DISPATCH_CONFIG;
  for (cl_uint i = 0; i < 2; i++) {
    const struct icd_mutable_dispatch_config config = {
        .command = handle, .num_args = 1, .arg_list = &args[i]};
    const void *configs[] = {&config};
    CHECK_CL(f->clUpdateMutableCommandsKHR(b, 1, &type, configs), CL_SUCCESS);
  }
  CHECK(state_of(t, b) == CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(queue), CL_SUCCESS);
  cl_event event, gate = clCreateUserEvent(t->opencl.context, &error);
  CHECK_CL(f->clEnqueueCommandBufferKHR(0, NULL, b, 1, &gate, &event), CL_SUCCESS);
  CHECK_CL(f->clReleaseCommandBufferKHR(b), CL_SUCCESS);
  CHECK_CL(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  CHECK_CL(clReleaseEvent(gate), CL_SUCCESS);
  t->count = 1;
  t->commands[0] = (struct command){.kind = STEP, .n = n, .size = ITEMS, .local = 1};
  expect(t);
  t->last = event;
  compare(t);
}

static cl_ulong time_of(cl_event event, cl_profiling_info what) {
  cl_ulong time;
  CHECK_CL(clGetEventProfilingInfo(event, what, sizeof time, &time, NULL), CL_SUCCESS);
  return time;
}

static void test_profile(struct test *t) {
  cl_command_buffer_khr b = record_all(t, t->queues[0], false);
  for (int i = 0; i < 3; i++) {
    cl_event event;
    cl_command_type type;
    CHECK_CL(t->f.clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, &event), CL_SUCCESS);
    expect(t);
    CHECK_CL(clWaitForEvents(1, &event), CL_SUCCESS);
    CHECK_CL(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
    CHECK(type == CL_COMMAND_COMMAND_BUFFER_KHR);
    const cl_ulong queued = time_of(event, CL_PROFILING_COMMAND_QUEUED),
                   submit = time_of(event, CL_PROFILING_COMMAND_SUBMIT),
                   start = time_of(event, CL_PROFILING_COMMAND_START),
                   end = time_of(event, CL_PROFILING_COMMAND_END);
    CHECK(queued <= submit && submit <= start && start < end);
    CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
  }
  CHECK_CL(t->f.clReleaseCommandBufferKHR(b), CL_SUCCESS);
  compare(t);
}

/* ---- several threads ---------------------------------------------------------------------- */

/* Replays of one command buffer on its own queue. */
struct replayer {
  struct test *test;
  cl_command_buffer_khr buffer;
  pthread_t thread;
};

enum { THREADS = 4, TIMES = 40, SLOTS = 8 };

static void *replay_often(void *data) {
  struct replayer *r = data;
  struct test *t = r->test;
  cl_int error;
  cl_command_queue queue =
      clCreateCommandQueueWithProperties(t->opencl.context, t->opencl.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (int i = 0; i < TIMES; i++)
    CHECK_CL(t->f.clEnqueueCommandBufferKHR(1, &queue, r->buffer, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clFinish(queue), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(queue), CL_SUCCESS);
  return NULL;
}

/* The replays are not ordered, and the buffer is updated meanwhile. No replay may be lost. */
static void test_threads(struct test *t) {
  const cl_command_buffer_properties_khr properties[] = {
      CL_COMMAND_BUFFER_FLAGS_KHR,
      CL_COMMAND_BUFFER_MUTABLE_KHR | CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
  const size_t items = ITEMS;
  cl_int error;
  cl_kernel kernel = opencl_kernel(&t->opencl, source, "count");
  cl_uint n = 0;
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &t->buffers[0]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof n, &n), CL_SUCCESS);
  cl_command_buffer_khr b = t->f.clCreateCommandBufferKHR(1, t->queues, properties, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mutable_command_khr command;
  CHECK_CL(t->f.clCommandNDRangeKernelKHR(b, NULL, NULL, kernel, 1, NULL, &items, NULL, 0, NULL,
                                          NULL, &command),
           CL_SUCCESS);
  CHECK_CL(t->f.clFinalizeCommandBufferKHR(b), CL_SUCCESS);
  struct replayer replayers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    replayers[i] = (struct replayer){.test = t, .buffer = b};
    CHECK(!pthread_create(&replayers[i].thread, NULL, replay_often, &replayers[i]));
  }
  const cl_mutable_dispatch_arg_khr arg = {1, sizeof n, &n};
  const struct icd_mutable_dispatch_config config = {
      .command = command, .num_args = 1, .arg_list = &arg};
  const cl_command_buffer_update_type_khr type = ICD_MUTABLE_DISPATCH_CONFIG;
  const void *configs[] = {&config};
  for (n = 0; n < TIMES; n++)
    CHECK_CL(t->f.clUpdateMutableCommandsKHR(b, 1, &type, configs), CL_SUCCESS);
  for (int i = 0; i < THREADS; i++)
    CHECK(!pthread_join(replayers[i].thread, NULL));
  for (int i = 0; i < SLOTS; i++)
    t->expected[0][i] += THREADS * TIMES * ITEMS / SLOTS;
  compare(t);
  CHECK_CL(t->f.clReleaseCommandBufferKHR(b), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void start(struct test *t) {
  static const char *const names[] = {"step", "join", "spill"};
  cl_int error;
  opencl_open(&t->opencl); /* a queue with profiling enabled */
  find_functions(&t->opencl, &t->f);
  for (unsigned i = 0; i < QUEUES; i++) {
    const cl_queue_properties disorder[] = {CL_QUEUE_PROPERTIES,
                                            CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    t->queues[i] = i ? clCreateCommandQueueWithProperties(t->opencl.context, t->opencl.device,
                                                          i == QUEUES - 1 ? disorder : NULL, &error)
                     : t->opencl.queue;
    CHECK(t->queues[i]);
  }
  for (int i = 0; i < 3; i++)
    t->kernels[i] = opencl_kernel(&t->opencl, source, names[i]);
  for (unsigned b = 0; b < BUFFERS; b++) {
    for (unsigned i = 0; i < ITEMS; i++)
      t->expected[b][i] = below(1u << 30);
    t->buffers[b] = clCreateBuffer(t->opencl.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   BYTES, t->expected[b], &error);
    CHECK_CL(error, CL_SUCCESS);
  }
}

static void end(struct test *t) {
  if (t->last)
    CHECK_CL(clReleaseEvent(t->last), CL_SUCCESS);
  for (int i = 0; i < 3; i++)
    CHECK_CL(clReleaseKernel(t->kernels[i]), CL_SUCCESS);
  for (unsigned b = 0; b < BUFFERS; b++)
    CHECK_CL(clReleaseMemObject(t->buffers[b]), CL_SUCCESS);
  for (unsigned i = 1; i < QUEUES; i++)
    CHECK_CL(clReleaseCommandQueue(t->queues[i]), CL_SUCCESS);
  opencl_close(&t->opencl);
}

int main(int count, char **words) {
  static struct test t;
  const char *what = count > 1 ? words[1] : "";
  state = count > 2 ? strtoull(words[2], NULL, 0) : 1;
  start(&t);
  if (!strcmp(what, "random"))
    test_random(&t, count > 3 ? (unsigned)strtoul(words[3], NULL, 0) : ROUNDS);
  else if (!strcmp(what, "images"))
    test_images(&t);
  else if (!strcmp(what, "svm"))
    test_svm(&t);
  else if (!strcmp(what, "lifetime"))
    test_life(&t);
  else if (!strcmp(what, "profile"))
    test_profile(&t);
  else if (!strcmp(what, "threads"))
    test_threads(&t);
  else
    return 2;
  end(&t);
  return 0;
}
