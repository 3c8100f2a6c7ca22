/* Tests small buffers in shared blocks on the software Orin, and counts calls to the kernel.
 *
 * test-runtime-heap [STEPS]   STEPS of each random trace; default 100000 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/nvgpu/uapi.h"
#include "runtime/context/context.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

static unsigned long steps = 100000;

static struct nvgpu_os counted_os;
static atomic_int calls_into_the_kernel;
static atomic_bool no_blocks; /* makes allocations larger than a page fail */

static int counted_ioctl(int fd, unsigned long request, void *argument) {
  calls_into_the_kernel++;
  if (no_blocks && request == NVMAP_IOC_CREATE_64 &&
      ((struct nvmap_create_handle *)argument)->size64 > 4 * KIB)
    return -ENOMEM;
  return nvgpu_os_emulator.ioctl(fd, request, argument);
}

static void *counted_mmap(void *address, size_t length, int protection, int flags, int fd,
                          off_t offset, int *error) {
  calls_into_the_kernel++;
  return nvgpu_os_emulator.mmap(address, length, protection, flags, fd, offset, error);
}

static int counted_munmap(void *address, size_t length) {
  calls_into_the_kernel++;
  return nvgpu_os_emulator.munmap(address, length);
}

struct place {
  struct rt_device *device;
  struct rt_context *context;
};

static void begin(struct place *p) {
  counted_os = nvgpu_os_emulator;
  counted_os.ioctl = counted_ioctl;
  counted_os.mmap = counted_mmap;
  counted_os.munmap = counted_munmap;
  no_blocks = false;
  assert_int_equal(rt_device_create(&counted_os, &p->device), 0);
  assert_int_equal(rt_context_create(p->device, &p->context), 0);
}

static void end(struct place *p) {
  rt_context_destroy(p->context);
  rt_device_close(p->device);
}

static struct rt_buffer *make(const struct place *p, uint64_t size) {
  struct rt_buffer *buffer = NULL;
  assert_int_equal(rt_buffer_allocate(p->context, size, &buffer), 0);
  assert_int_equal(buffer->size, size);
  assert_int_equal(buffer->gpu % RT_HEAP_GRANULE, 0);
  assert_int_equal((uintptr_t)buffer->cpu % RT_HEAP_GRANULE, 0);
  return buffer;
}

static bool shares_a_block(const struct rt_buffer *buffer) {
  return ((const struct rt_buffer_node *)buffer)->block;
}

/* mark writes a number to both ends of a buffer; has_mark checks for it. */
static void mark(const struct rt_buffer *b, uint64_t number) {
  const size_t size = b->size < sizeof(number) ? b->size : sizeof(number);
  memcpy((char *)b->cpu + b->size - size, &number, size);
  memcpy(b->cpu, &number, size);
}

static bool has_mark(const struct rt_buffer *b, uint64_t number) {
  const size_t size = b->size < sizeof(number) ? b->size : sizeof(number);
  return !memcmp(b->cpu, &number, size) &&
         (b->size < 2 * size || !memcmp((char *)b->cpu + b->size - size, &number, size));
}

static void no_kernel_calls_while_a_block_has_room(void **state) {
  (void)state;
  enum { COUNT = RT_HEAP_FIRST / (4 * KIB) };
  struct place p;
  struct rt_buffer *b[COUNT];
  begin(&p);
  b[0] = make(&p, 4 * KIB);
  assert_true(shares_a_block(b[0]));
  const int before = calls_into_the_kernel;
  for (int i = 1; i < COUNT; i++)
    b[i] = make(&p, 4 * KIB - (unsigned)i);
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < i; k++)
      assert_true(b[i]->gpu >= b[k]->gpu + 4 * KIB || b[k]->gpu >= b[i]->gpu + 4 * KIB);
  for (int i = 0; i < COUNT; i++)
    rt_buffer_destroy(b[i]);
  for (int i = 0; i < COUNT; i++)
    rt_buffer_destroy(make(&p, RT_HEAP_FIRST));
  assert_int_equal(calls_into_the_kernel, before);
  end(&p);
}

static void large_buffers_have_separate_memory(void **state) {
  (void)state;
  struct place p;
  begin(&p);
  struct rt_buffer *small = make(&p, RT_HEAP_BUFFER), *large = make(&p, RT_HEAP_BUFFER + 1);
  assert_true(shares_a_block(small));
  assert_false(shares_a_block(large));
  assert_int_equal(large->gpu % (4 * KIB), 0);
  rt_buffer_destroy(small);
  rt_buffer_destroy(large);
  struct rt_buffer *none = NULL;
  assert_int_equal(rt_buffer_allocate(p.context, 0, &none), -EINVAL);
  end(&p);
}

/* The larger of two empty blocks is kept. */
static void empty_blocks_are_returned(void **state) {
  (void)state;
  enum { COUNT = 64 };
  struct place p;
  struct rt_buffer *b[COUNT];
  begin(&p);
  for (int i = 0; i < COUNT; i++)
    b[i] = make(&p, MIB);
  assert_true(p.context->heap.bytes >= COUNT * MIB);
  for (int i = 0; i < COUNT; i++)
    rt_buffer_destroy(b[i]);
  assert_true(p.context->heap.bytes && p.context->heap.bytes <= RT_HEAP_BLOCK);
  const int before = calls_into_the_kernel;
  for (int i = 0; i < COUNT; i++)
    rt_buffer_destroy(make(&p, MIB));
  assert_int_equal(calls_into_the_kernel, before);
  assert_true(rt_heap_trim(&p.context->heap));
  assert_false(rt_heap_trim(&p.context->heap));
  assert_int_equal(p.context->heap.bytes, 0);
  end(&p);
}

static void small_buffers_work_without_room_for_a_block(void **state) {
  (void)state;
  struct place p;
  begin(&p);
  no_blocks = true;
  struct rt_buffer *b = make(&p, 100), *none = NULL;
  assert_false(shares_a_block(b));
  assert_int_equal(rt_buffer_allocate(p.context, 5000, &none), -ENOMEM);
  rt_buffer_destroy(b);
  end(&p);
}

/* A large buffer can get the memory of the reserve block. */
static void reserve_block_is_freed_for_a_large_buffer(void **state) {
  (void)state;
  struct place p;
  begin(&p);
  rt_buffer_destroy(make(&p, MIB));
  assert_non_null(p.context->heap.spare);
  no_blocks = true;
  struct rt_buffer *none = NULL;
  assert_int_equal(rt_buffer_create(p.context, 2 * MIB, RT_MEMORY_CACHED, &none), -ENOMEM);
  assert_null(p.context->heap.spare);
  end(&p);
}

static void switched_off(const char *variable, const char *value) {
  struct place p;
  setenv(variable, value, 1);
  begin(&p);
  unsetenv(variable);
  struct rt_buffer *b = make(&p, 100);
  assert_false(shares_a_block(b));
  rt_buffer_destroy(b);
  end(&p);
}

static void environment_disables_suballocation(void **state) {
  (void)state;
  switched_off("TEGRACL_SUBALLOCATION", "0");
}

/* Checks that the smallest buffers take this number of bytes. */
static void takes(uint64_t bytes) {
  struct place p;
  begin(&p);
  struct rt_buffer *a = make(&p, 1), *b = make(&p, bytes), *c = make(&p, bytes + 1);
  struct rt_buffer *d = make(&p, 1);
  assert_true(shares_a_block(d));
  assert_int_equal(b->gpu - a->gpu, bytes);
  assert_int_equal(c->gpu - b->gpu, bytes);
  assert_int_equal(d->gpu - c->gpu, 2 * bytes);
  assert_int_equal(a->gpu % bytes, 0);
  rt_buffer_destroy(a);
  rt_buffer_destroy(b);
  rt_buffer_destroy(c);
  rt_buffer_destroy(d);
  end(&p);
}

/* Any buffer may become an image, and the base of a texture has a larger alignment. */
static void granule_suits_textures_only_if_they_are_used(void **state) {
  (void)state;
  takes(RT_HEAP_GRANULE);
  setenv("TEGRACL_IMAGES", "hardware", 1);
  takes(RT_TEXTURE_BASE_ALIGN);
  unsetenv("TEGRACL_IMAGES");
}

/* ---- random traces --------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state, uint64_t count) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*state >> 24) % count;
}

/* Every power of two is equally likely. */
static uint64_t draw_any(uint64_t *state, unsigned long step) {
  (void)step;
  const uint64_t top = UINT64_C(1) << draw(state, 20);
  return top + draw(state, top);
}

static uint64_t draw_equal(uint64_t *state, unsigned long step) {
  (void)state;
  (void)step;
  return 4 * KIB;
}

static uint64_t draw_evenly(uint64_t *state, unsigned long step) {
  (void)step;
  return 1 + draw(state, MIB);
}

/* Large buffers follow the small ones, so the memory that small buffers free is between large
 * ones. */
static uint64_t draw_in_phases(uint64_t *state, unsigned long step) {
  return step / (steps / 10 + 1) % 2 ? 512 * KIB + draw(state, 512 * KIB)
                                     : 1 + draw(state, 4 * KIB);
}

enum { SLOTS = 32768 };
#define MOST_LIVE (UINT64_C(512) << 20)

struct slot {
  struct rt_buffer *buffer;
  uint64_t number;
};

/* Creates and releases buffers at random, at most SLOTS and MOST_LIVE bytes. Returns the peak of
 * allocated memory, divided by the peak of live bytes. */
static double trace(const struct place *p, uint64_t (*size)(uint64_t *, unsigned long)) {
  static struct slot slots[SLOTS];
  uint64_t state = 7, live = 0, most_live = 0, most_held = 0;
  for (unsigned long step = 0; step < steps; step++) {
    struct slot *s = &slots[draw(&state, SLOTS)];
    if (s->buffer) {
      assert_true(has_mark(s->buffer, s->number));
      live -= s->buffer->size;
      rt_buffer_destroy(s->buffer);
      s->buffer = NULL;
      continue;
    }
    const uint64_t bytes = size(&state, step);
    if (live + bytes > MOST_LIVE)
      continue;
    *s = (struct slot){make(p, bytes), step};
    mark(s->buffer, s->number);
    live += bytes;
    most_live = live > most_live ? live : most_live;
    most_held = p->context->heap.bytes > most_held ? p->context->heap.bytes : most_held;
  }
  for (int i = 0; i < SLOTS; i++) {
    rt_buffer_destroy(slots[i].buffer);
    slots[i].buffer = NULL;
  }
  assert_true(p->context->heap.bytes <= RT_HEAP_BLOCK);
  return (double)most_held / (double)most_live;
}

static void random_traces_keep_contents_and_waste_little(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint64_t (*size)(uint64_t *, unsigned long);
    double bound; /* measured over a million steps, plus a margin */
  } kinds[] = {
      {"4 KiB", draw_equal, 1.6},
      {"1 byte to 1 MiB, each power of two", draw_any, 1.6},
      {"1 byte to 1 MiB, each size", draw_evenly, 1.6},
      {"small and large in turns", draw_in_phases, 1.6},
  };
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    struct place p;
    begin(&p);
    const double ratio = trace(&p, kinds[i].size);
    printf("%s: %.2f bytes held for each that lived\n", kinds[i].name, ratio);
    assert_true(ratio < kinds[i].bound);
    end(&p);
  }
}

/* ---- threads ----------------------------------------------------------------------------- */

enum { THREADS = 16, OF_EACH = 32 };

struct worker {
  struct rt_context *context;
  uint64_t index;
  int failures;
};

static void *work(void *data) {
  struct worker *w = data;
  struct rt_buffer *b[OF_EACH] = {NULL};
  uint64_t state = w->index;
  for (unsigned long i = 0; i < steps / 100; i++) {
    const uint64_t k = draw(&state, OF_EACH), number = w->index << 32 | k;
    if (b[k]) {
      w->failures += !has_mark(b[k], number);
      rt_buffer_destroy(b[k]);
      b[k] = NULL;
    } else if (rt_buffer_allocate(w->context, 8 + draw_any(&state, 0), &b[k])) {
      w->failures++;
    } else {
      mark(b[k], number);
    }
  }
  for (int k = 0; k < OF_EACH; k++)
    rt_buffer_destroy(b[k]);
  return NULL;
}

static void threads_allocate_concurrently(void **state) {
  (void)state;
  struct place p;
  pthread_t threads[THREADS];
  struct worker workers[THREADS];
  begin(&p);
  for (unsigned i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){p.context, i, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(workers[i].failures, 0);
  }
  end(&p);
}

int main(int count, char **words) {
  if (count > 1)
    steps = strtoul(words[1], NULL, 0);
  /* The test sets these variables itself. */
  unsetenv("TEGRACL_SUBALLOCATION");
  unsetenv("TEGRACL_EMULATOR");
  unsetenv("TEGRACL_IMAGES");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_kernel_calls_while_a_block_has_room),
      cmocka_unit_test(large_buffers_have_separate_memory),
      cmocka_unit_test(empty_blocks_are_returned),
      cmocka_unit_test(small_buffers_work_without_room_for_a_block),
      cmocka_unit_test(reserve_block_is_freed_for_a_large_buffer),
      cmocka_unit_test(environment_disables_suballocation),
      cmocka_unit_test(granule_suits_textures_only_if_they_are_used),
      cmocka_unit_test(random_traces_keep_contents_and_waste_little),
      cmocka_unit_test(threads_allocate_concurrently),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
