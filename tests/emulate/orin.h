/* A client of Orin's kernel interface that uses none of the project's headers. Its numbers are
 * those of docs/hardware/kernel-interface.md and docs/hardware/bring-up.md (column B), as another
 * implementer would write them. Every step that fails ends the program with a message. */
#ifndef TEGRACL_TEST_ORIN_H
#define TEGRACL_TEST_ORIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      orin_fail(__FILE__, __LINE__, #condition);                                                   \
  } while (0)
void orin_fail(const char *file, int line, const char *what) __attribute__((noreturn));

struct orin {
  int nvmap, ctrl, as, tsg;
  uint32_t veid;
  char *page; /* user-mode registers */
};

struct orin_buffer {
  uint32_t handle;
  int fd;
  uint64_t va;
  size_t size;
  char *cpu;
};

enum { ORIN_ENTRIES = 512 };

struct orin_channel {
  struct orin *orin;
  int fd;
  uint32_t token, syncpoint;
  uint64_t syncpoint_va;
  uint32_t put;
  struct orin_buffer ring, userd, push, notifier;
  uint32_t words, submitted; /* in push */
};

/* Opens the nodes, an address space and a TSG, and maps the doorbell page by a raw system call. */
void orin_open(struct orin *orin);
void orin_close(struct orin *orin);
/* Creates a buffer and maps it for the CPU, by a raw system call, and for the GPU. */
void orin_buffer(struct orin *orin, struct orin_buffer *buffer, size_t size);
/* Registers a dma-buf and maps it for the GPU. */
void orin_map(struct orin *orin, struct orin_buffer *buffer);
void orin_buffer_free(struct orin *orin, struct orin_buffer *buffer);
/* Opens a compute channel; creates the TSG's subcontext if there is none. */
void orin_channel(struct orin *orin, struct orin_channel *channel);
void orin_channel_close(struct orin_channel *channel);

/* Opens everything: the nodes, a channel, and a buffer of this size. */
void orin_begin(struct orin *orin, struct orin_channel *channel, struct orin_buffer *data,
                size_t size);
void orin_end(struct orin *orin, struct orin_channel *channel, struct orin_buffer *data);

void orin_push(struct orin_channel *channel, uint32_t word);
/* Pushes a 32-bit host semaphore release without a wait; each method has a separate header. */
void orin_push_release(struct orin_channel *channel, uint64_t va, uint32_t payload);
/* Writes an entry for the words pushed since the last call, and GP_PUT, but does not ring the
 * doorbell. */
void orin_put(struct orin_channel *channel);
void orin_ring(const struct orin_channel *channel);
void orin_submit(struct orin_channel *channel);

/* orin_word reads a word of shared memory. orin_wait returns whether it becomes value in 5 s. */
uint32_t orin_word(const void *address);
bool orin_wait(const void *address, uint32_t value);

#endif
