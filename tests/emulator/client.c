/* See client.h. */
#include "tests/emulator/client.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/emulator/fake_sm.h"

static void io(int fd, unsigned long request, void *argument) {
  assert_int_equal(OS->ioctl(fd, request, argument), 0);
}

void client_open_tsg(struct client *c) {
  struct nvgpu_gpu_open_tsg_args tsg = {0};
  io(c->ctrl, NVGPU_GPU_IOCTL_OPEN_TSG, &tsg);
  c->tsg = (int)tsg.tsg_fd;
  struct nvgpu_tsg_create_subcontext_args sub = {.type = NVGPU_SUBCONTEXT_ASYNC, .as_fd = c->as};
  io(c->tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, &sub);
  c->veid = sub.veid;
}

void client_open_range(struct client *c, uint64_t start, uint64_t end) {
  memset(c, 0, sizeof(*c));
  c->nvmap = OS->open("/dev/nvmap", O_RDWR | O_SYNC);
  c->ctrl = OS->open("/dev/nvgpu/igpu0/ctrl", O_RDWR);
  c->node = OS->open(EMULATOR_NODE_PATH, O_RDWR);
  assert_true(c->nvmap >= 0 && c->ctrl >= 0 && c->node >= 0);
  struct nvgpu_alloc_as_args as = {
      .flags = NVGPU_AS_UNIFIED_VA, .va_range_start = start, .va_range_end = end};
  io(c->ctrl, NVGPU_GPU_IOCTL_ALLOC_AS, &as);
  c->as = as.as_fd;
  client_open_tsg(c);
  int error;
  c->page = OS->mmap(NULL, 0x10000, PROT_READ | PROT_WRITE, MAP_SHARED, c->ctrl, 0, &error);
  assert_non_null(c->page);
}

void client_open(struct client *c) {
  client_open_range(c, 0x200000, 0xffffe00000);
}

void client_close(struct client *c) {
  assert_int_equal(OS->munmap(c->page, 0x10000), 0);
  const int fds[] = {c->tsg, c->as, c->node, c->ctrl, c->nvmap};
  for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
    assert_int_equal(OS->close(fds[i]), 0);
}

struct buffer buffer_create(struct client *c, uint64_t size, bool map) {
  struct buffer b = {.size = size};
  struct nvmap_create_handle create = {.size64 = size};
  io(c->nvmap, NVMAP_IOC_CREATE_64, &create);
  b.handle = create.handle64;
  struct nvmap_alloc_handle alloc = {
      .handle = b.handle, .heap_mask = NVMAP_HEAP_IOVMM, .flags = 0x09000001, .align = 4096};
  io(c->nvmap, NVMAP_IOC_ALLOC, &alloc);
  struct nvmap_create_handle get = {.handle = b.handle};
  io(c->nvmap, NVMAP_IOC_GET_FD, &get);
  b.fd = get.fd;
  if (map) {
    struct nvgpu_as_map_buffer_ex_args m = {
        .compr_kind = -1, .incompr_kind = 0, .dmabuf_fd = (uint32_t)b.fd, .page_size = 4096};
    io(c->as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, &m);
    b.va = m.offset;
  }
  int error;
  b.cpu = OS->mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, 0, &error);
  assert_non_null(b.cpu);
  return b;
}

void buffer_destroy(struct client *c, struct buffer *b) {
  if (b->va) {
    struct nvgpu_as_unmap_buffer_args u = {.offset = b->va};
    io(c->as, NVGPU_AS_IOCTL_UNMAP_BUFFER, &u);
  }
  assert_int_equal(OS->munmap(b->cpu, b->size), 0);
  assert_int_equal(OS->close(b->fd), 0);
  assert_int_equal(OS->ioctl(c->nvmap, NVMAP_IOC_FREE, (void *)(uintptr_t)b->handle), 0);
}

void channel_open(struct client *c, struct channel *ch, uint32_t entries, uint32_t class_id) {
  memset(ch, 0, sizeof(*ch));
  struct nvgpu_gpu_open_channel_args open = {.in.runlist_id = NVGPU_RUNLIST_GR};
  io(c->ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL, &open);
  ch->fd = open.out.channel_fd;
  struct nvgpu_as_bind_channel_args as = {.channel_fd = (uint32_t)ch->fd};
  io(c->as, NVGPU_AS_IOCTL_BIND_CHANNEL, &as);
  /* Gives the channel its own subcontext, which ends with its last channel. */
  struct nvgpu_tsg_create_subcontext_args sub = {.type = NVGPU_SUBCONTEXT_ASYNC, .as_fd = c->as};
  io(c->tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, &sub);
  struct nvgpu_tsg_bind_channel_ex_args bind = {.channel_fd = ch->fd, .subcontext_id = sub.veid};
  io(c->tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, &bind);
  struct nvgpu_channel_wdt_args wdt = {.wdt_status = NVGPU_WDT_DISABLE};
  io(ch->fd, NVGPU_IOCTL_CHANNEL_WDT, &wdt);
  uint64_t bytes = entries * 8 < 4096 ? 4096 : entries * 8;
  ch->ring = buffer_create(c, bytes, false);
  ch->userd = buffer_create(c, 4096, false);
  ch->push = buffer_create(c, 0x10000, true);
  ch->notifier = buffer_create(c, 4096, false);
  struct nvgpu_channel_setup_bind_args setup = {.num_gpfifo_entries = entries,
                                                .flags = NVGPU_SETUP_BIND_DETERMINISTIC |
                                                         NVGPU_SETUP_BIND_USERMODE_SUPPORT,
                                                .userd_dmabuf_fd = ch->userd.fd,
                                                .gpfifo_dmabuf_fd = ch->ring.fd};
  io(ch->fd, NVGPU_IOCTL_CHANNEL_SETUP_BIND, &setup);
  ch->token = setup.work_submit_token;
  ch->entries = entries;
  if (class_id) {
    struct nvgpu_alloc_obj_ctx_args object = {.class_num = class_id};
    io(ch->fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, &object);
  }
  struct nvgpu_set_error_notifier notifier = {.size = 4096, .mem = (uint32_t)ch->notifier.fd};
  io(ch->fd, NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER, &notifier);
  ch->word = ch->push.cpu;
}

void channel_close(struct client *c, struct channel *ch) {
  assert_int_equal(OS->close(ch->fd), 0);
  buffer_destroy(c, &ch->ring);
  buffer_destroy(c, &ch->userd);
  buffer_destroy(c, &ch->push);
  buffer_destroy(c, &ch->notifier);
}

void push(struct channel *ch, uint32_t word) {
  assert_true((char *)(ch->word + 1) <= (char *)ch->push.cpu + ch->push.size);
  *ch->word++ = word;
}

void push_method(struct channel *ch, enum subchannel subchannel, uint32_t method, uint32_t data) {
  push(ch, method_header(METHOD_INC, subchannel, method, 1));
  push(ch, data);
}

void push_semaphore(struct channel *ch, uint64_t va, uint64_t payload, uint32_t execute) {
  push(ch, method_header(METHOD_INC, SUBCHANNEL_3D, NVC76F_SEM_ADDR_LO, 5));
  push(ch, (uint32_t)va);
  push(ch, (uint32_t)(va >> 32));
  push(ch, (uint32_t)payload);
  push(ch, (uint32_t)(payload >> 32));
  push(ch, execute);
}

void push_compute_setup(struct channel *ch) {
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_OBJECT, CLASS_COMPUTE);
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_A, WINDOW_SHARED_HIGH);
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_B, 0);
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A, WINDOW_LOCAL_HIGH);
  push_method(ch, SUBCHANNEL_COMPUTE, NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_B, 0);
}

void submit_entry(struct client *c, struct channel *ch, uint64_t entry) {
  ((uint64_t *)ch->ring.cpu)[ch->put] = entry;
  ch->put = (ch->put + 1) % ch->entries;
  uint32_t *put = (uint32_t *)(void *)((char *)ch->userd.cpu + USERD_GP_PUT);
  __atomic_store_n(put, ch->put, __ATOMIC_SEQ_CST);
  OS->doorbell(c->page, ch->token);
}

void submit(struct client *c, struct channel *ch) {
  uint32_t end = (uint32_t)(ch->word - (uint32_t *)ch->push.cpu);
  submit_entry(c, ch, gp_entry(ch->push.va + ch->start * 4, end - ch->start, 0));
  ch->start = end;
}

bool wait_until(bool (*done)(const void *, uint32_t), const void *p, uint32_t value) {
  enum { SPINS = 1000, STEP_NS = 20000, LIMIT_S = PATIENCE_MS / 1000 };
  const struct timespec step = {.tv_nsec = STEP_NS};
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  now = start;
  for (unsigned i = 0; now.tv_sec - start.tv_sec < LIMIT_S; i++) {
    if (done(p, value))
      return true;
    if (i > SPINS) {
      nanosleep(&step, NULL);
      clock_gettime(CLOCK_MONOTONIC, &now);
    }
  }
  return false;
}

static bool word_is(const void *p, uint32_t value) {
  return __atomic_load_n((const uint32_t *)p, __ATOMIC_SEQ_CST) == value;
}

bool wait_word(const void *word, uint32_t value) {
  return wait_until(word_is, word, value);
}

static bool notified(const void *p, uint32_t value) {
  const struct error_notifier *n = p;
  return __atomic_load_n(&n->status, __ATOMIC_SEQ_CST) == ERROR_NOTIFIER_WRITTEN &&
         n->code == value;
}

bool wait_fault(const struct channel *ch, uint32_t code) {
  return wait_until(notified, ch->notifier.cpu, code);
}

struct emulator_fault last_fault(struct client *c) {
  struct emulator_fault fault = {.as_fd = c->as};
  io(c->node, EMULATOR_IOCTL_FAULT, &fault);
  return fault;
}

void qmd_make(uint32_t *qmd, uint64_t program, uint64_t bank, uint32_t ctas) {
  memset(qmd, 0, QMD_BYTES);
  qmd_set(qmd, QMD_QMD_MAJOR_VERSION, QMD_MAJOR_VERSION_VALUE);
  qmd_set(qmd, QMD_PROGRAM_ADDRESS_LOWER, (uint32_t)program);
  qmd_set(qmd, QMD_PROGRAM_ADDRESS_UPPER, (uint32_t)(program >> 32));
  qmd_set(qmd, QMD_CTA_RASTER_WIDTH, ctas);
  qmd_set(qmd, QMD_CTA_RASTER_HEIGHT, 1);
  qmd_set(qmd, QMD_CTA_RASTER_DEPTH, 1);
  qmd_set(qmd, QMD_CTA_THREAD_DIMENSION0, 32);
  qmd_set(qmd, QMD_CTA_THREAD_DIMENSION1, 1);
  qmd_set(qmd, QMD_CTA_THREAD_DIMENSION2, 1);
  qmd_set(qmd, QMD_REGISTER_COUNT_V, 16);
  qmd_set(qmd, QMD_BARRIER_COUNT, 1);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_VALID(0), 1);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_ADDR_LOWER(0), (uint32_t)bank);
  qmd_set(qmd, QMD_CONSTANT_BUFFER_ADDR_UPPER(0), (uint32_t)(bank >> 32));
  qmd_set(qmd, QMD_CONSTANT_BUFFER_SIZE_SHIFTED4(0), 256 >> 4);
}

int fixture_setup(void **state) {
  static struct fixture f;
  client_open(&f.c);
  channel_open(&f.c, &f.ch, 1024, CLASS_COMPUTE);
  f.data = buffer_create(&f.c, 4096, true);
  f.code = buffer_create(&f.c, 0x10000, true);
  *state = &f;
  return 0;
}

int fixture_teardown(void **state) {
  struct fixture *f = *state;
  buffer_destroy(&f->c, &f->data);
  buffer_destroy(&f->c, &f->code);
  channel_close(&f->c, &f->ch);
  client_close(&f->c);
  return 0;
}

uint64_t fixture_program(struct fixture *f, unsigned slot, const struct fake_program *program) {
  memcpy((char *)f->code.cpu + slot * 128, program, sizeof(*program));
  return f->code.va + slot * 128;
}

uint32_t *fixture_qmd(struct fixture *f, unsigned slot) {
  return (uint32_t *)(void *)((char *)f->code.cpu + 0x1000 + slot * QMD_BYTES);
}

void fixture_launch(struct fixture *f, unsigned slot, uint32_t action) {
  uint64_t va = f->code.va + 0x1000 + slot * QMD_BYTES;
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A, (uint32_t)(va >> QMD_ADDRESS_SHIFT));
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, action);
}

void with_emulator(const char *option, void (*function)(const void *), const void *argument) {
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    if (option)
      setenv("TEGRACL_EMULATOR", option, 1);
    else
      unsetenv("TEGRACL_EMULATOR");
    function(argument);
    _exit(0);
  }
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

void *fixture_data(struct fixture *f, unsigned offset) {
  return (char *)f->data.cpu + offset;
}

bool fixture_store(struct fixture *f, uint64_t va, uint32_t value) {
  static uint32_t turn;
  push_semaphore(&f->ch, va, value, 1);
  push_semaphore(&f->ch, f->data.va, ++turn, 1);
  submit(&f->c, &f->ch);
  return wait_word(f->data.cpu, turn);
}

void fixture_run(struct fixture *f) {
  enum { SERIAL = 4080 };
  static uint32_t serial;
  serial++;
  push_semaphore(&f->ch, f->data.va + SERIAL, serial, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(fixture_data(f, SERIAL), serial));
}
