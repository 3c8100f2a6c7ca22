/* The client declared in orin.h. */
#include "orin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  PAGE = 4096,
  PUSH_BYTES = 65536,
  GP_PUT = 0x8c,
  DOORBELL = 0x90,
  COMPUTE = 0xc7c0,
};

void orin_fail(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: check failed: %s (%s)\n", file, line, what, strerror(errno));
  exit(1);
}

/* Uses a raw system call, as some clients do. */
static void *map(int fd, size_t size) {
  long address = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(address != -1);
  return (void *)address;
}

void orin_open(struct orin *orin) {
  orin->nvmap = open("/dev/nvmap", O_RDWR);
  CHECK(orin->nvmap >= 0);
  orin->ctrl = open("/dev/nvgpu/igpu0/ctrl", O_RDWR);
  CHECK(orin->ctrl >= 0);
  struct {
    uint32_t big_page_size;
    int32_t as_fd;
    uint32_t flags, reserved;
    uint64_t start, end, split;
    uint32_t padding[6];
  } as = {.start = 0x4000000, .end = 0x2000000000};
  CHECK(ioctl(orin->ctrl, 0xc0404708, &as) == 0);
  orin->as = as.as_fd;
  struct {
    uint32_t fd, flags;
    uint64_t source, token;
  } tsg = {0};
  CHECK(ioctl(orin->ctrl, 0xc0184709, &tsg) == 0);
  orin->tsg = (int)tsg.fd;
  orin->veid = 0;
  orin->page = map(orin->ctrl, PAGE);
}

void orin_close(struct orin *orin) {
  munmap(orin->page, PAGE);
  close(orin->tsg);
  close(orin->as);
  close(orin->ctrl);
  close(orin->nvmap);
}

/* CREATE_64 and flags with a tag, as CUDA sends them. */
static void allocate(struct orin *orin, struct orin_buffer *buffer, size_t size) {
  union {
    uint64_t size;
    uint32_t handle;
  } create = {.size = size};
  CHECK(ioctl(orin->nvmap, 0xc0084e01, &create) == 0);
  struct {
    uint32_t handle, heap, flags, align;
    int32_t numa;
  } alloc = {create.handle, 0x40000000, 0x8000003, PAGE, -1};
  CHECK(ioctl(orin->nvmap, 0x40144e03, &alloc) == 0);
  uint32_t get_fd[2] = {0, create.handle};
  CHECK(ioctl(orin->nvmap, 0xc0084e0f, get_fd) == 0);
  *buffer = (struct orin_buffer){.handle = create.handle, .fd = (int)get_fd[0], .size = size};
  buffer->cpu = map(buffer->fd, size);
}

void orin_buffer(struct orin *orin, struct orin_buffer *buffer, size_t size) {
  allocate(orin, buffer, size);
  orin_map(orin, buffer);
}

void orin_map(struct orin *orin, struct orin_buffer *buffer) {
  struct {
    int32_t fd;
    uint8_t comptags, reserved[3];
    uint64_t metadata;
    uint32_t metadata_size, flags;
  } registration = {.fd = buffer->fd};
  CHECK(ioctl(orin->ctrl, 0xc0184729, &registration) == 0);
  struct {
    uint32_t flags;
    int16_t compressible, incompressible;
    uint32_t fd, page_size;
    uint64_t buffer_offset, size, va;
  } mapping = {.compressible = -1, .fd = (uint32_t)buffer->fd, .page_size = PAGE};
  CHECK(ioctl(orin->as, 0xc0284107, &mapping) == 0);
  buffer->va = mapping.va;
}

void orin_buffer_free(struct orin *orin, struct orin_buffer *buffer) {
  if (buffer->va)
    CHECK(ioctl(orin->as, 0xc0084105, &buffer->va) == 0);
  munmap(buffer->cpu, buffer->size);
  close(buffer->fd);
  CHECK(ioctl(orin->nvmap, 0x4e04, (unsigned long)buffer->handle) == 0);
}

static void bind(struct orin *orin, struct orin_channel *channel) {
  CHECK(ioctl(orin->as, 0xc0044101, &channel->fd) == 0);
  if (!orin->veid) {
    struct {
      uint32_t type;
      int32_t as;
      uint32_t veid, reserved;
    } subcontext = {.type = 1, .as = orin->as};
    CHECK(ioctl(orin->tsg, 0xc0105412, &subcontext) == 0);
    orin->veid = subcontext.veid;
  }
  struct {
    int32_t fd;
    uint32_t veid;
    uint8_t reserved[16];
  } in_tsg = {.fd = channel->fd, .veid = orin->veid};
  CHECK(ioctl(orin->tsg, 0xc018540b, &in_tsg) == 0);
}

static void set_up(struct orin_channel *channel) {
  uint32_t watchdog[2] = {5, 0xffffffff};
  CHECK(ioctl(channel->fd, 0x40084877, watchdog) == 0);
  struct {
    uint32_t entries, jobs, flags;
    int32_t userd, ring;
    uint32_t token;
    uint64_t offsets[2], addresses[3];
    uint32_t reserved[9];
  } setup = {
      .entries = ORIN_ENTRIES, .flags = 0xa, .userd = channel->userd.fd, .ring = channel->ring.fd};
  _Static_assert(sizeof(setup) == 104, "SETUP_BIND");
  CHECK(ioctl(channel->fd, 0xc0684880, &setup) == 0);
  channel->token = setup.token;
  struct {
    uint64_t va;
    uint32_t id, max;
  } syncpoint = {0};
  CHECK(ioctl(channel->fd, 0x8010487e, &syncpoint) == 0);
  channel->syncpoint = syncpoint.id;
  channel->syncpoint_va = syncpoint.va;
}

void orin_channel(struct orin *orin, struct orin_channel *channel) {
  *channel = (struct orin_channel){.orin = orin, .fd = -1};
  CHECK(ioctl(orin->ctrl, 0xc004470b, &channel->fd) == 0); /* in: runlist -1; out: the fd */
  bind(orin, channel);
  CHECK(ioctl(channel->fd, 0x40044805, &orin->nvmap) == 0);
  allocate(orin, &channel->ring, ORIN_ENTRIES * sizeof(uint64_t));
  allocate(orin, &channel->userd, PAGE);
  set_up(channel);
  struct {
    uint32_t class, flags;
    uint64_t id;
  } object = {.class = COMPUTE};
  CHECK(ioctl(channel->fd, 0xc010486c, &object) == 0);
  uint32_t preemption[2] = {0, 4};
  CHECK(ioctl(channel->fd, 0x4008487a, preemption) == 0);
  allocate(orin, &channel->notifier, PAGE);
  struct {
    uint64_t offset, size;
    uint32_t fd, padding;
  } notifier = {.size = PAGE, .fd = (uint32_t)channel->notifier.fd};
  CHECK(ioctl(channel->fd, 0xc018486f, &notifier) == 0);
  orin_buffer(orin, &channel->push, PUSH_BYTES);
  CHECK(ioctl(orin->tsg, 0x5403, NULL) == 0);
}

void orin_channel_close(struct orin_channel *channel) {
  close(channel->fd);
  orin_buffer_free(channel->orin, &channel->push);
  orin_buffer_free(channel->orin, &channel->notifier);
  orin_buffer_free(channel->orin, &channel->userd);
  orin_buffer_free(channel->orin, &channel->ring);
}

void orin_begin(struct orin *orin, struct orin_channel *channel, struct orin_buffer *data,
                size_t size) {
  orin_open(orin);
  orin_channel(orin, channel);
  orin_buffer(orin, data, size);
}

void orin_end(struct orin *orin, struct orin_channel *channel, struct orin_buffer *data) {
  orin_buffer_free(orin, data);
  orin_channel_close(channel);
  orin_close(orin);
}

/* The caller starts at the beginning of the pushbuffer again when no submitted words remain to be
 * read. */
void orin_push(struct orin_channel *channel, uint32_t word) {
  ((uint32_t *)(void *)channel->push.cpu)[channel->words++] = word;
  CHECK(channel->words < PUSH_BYTES / sizeof(word));
}

void orin_push_release(struct orin_channel *channel, uint64_t va, uint32_t payload) {
  const uint32_t words[] = {0x20010017, (uint32_t)va, 0x20010018, (uint32_t)(va >> 32), 0x20010019,
                            payload,    0x2001001a,   0,          0x2001001b,           1};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    orin_push(channel, words[i]);
}

void orin_put(struct orin_channel *channel) {
  uint64_t va = channel->push.va + channel->submitted * sizeof(uint32_t);
  uint64_t entry = va | (uint64_t)(channel->words - channel->submitted) << 42;
  memcpy(channel->ring.cpu + channel->put * sizeof(entry), &entry, sizeof(entry));
  channel->submitted = channel->words;
  channel->put = (channel->put + 1) % ORIN_ENTRIES;
  __atomic_store_n((uint32_t *)(void *)(channel->userd.cpu + GP_PUT), channel->put,
                   __ATOMIC_RELEASE);
}

void orin_ring(const struct orin_channel *channel) {
  __atomic_store_n((uint32_t *)(void *)(channel->orin->page + DOORBELL), channel->token,
                   __ATOMIC_SEQ_CST);
}

void orin_submit(struct orin_channel *channel) {
  orin_put(channel);
  orin_ring(channel);
}

uint32_t orin_word(const void *address) {
  return __atomic_load_n((const uint32_t *)address, __ATOMIC_ACQUIRE);
}

bool orin_wait(const void *address, uint32_t value) {
  enum { TRIES = 600000, PAUSE_NS = 100000 };
  for (int i = 0; i < TRIES && orin_word(address) != value; i++)
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  return orin_word(address) == value;
}
