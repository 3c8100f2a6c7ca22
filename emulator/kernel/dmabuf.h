/* dma-bufs: memory that fds, handles and mappings share. gpu.lock held. */
#ifndef TEGRACL_EMULATOR_DMABUF_H
#define TEGRACL_EMULATOR_DMABUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emulator/objects.h"

struct emu_vma;

/* A dma-buf. Its fds, nvmap handles and mappings hold references, and so do channels whose ring,
 * USERD or notifier it is. */
struct emu_dmabuf {
  struct emu_object object;
  struct emu_dmabuf *next, *previous; /* of emu_memory */
  size_t mapping_count;               /* in all address spaces */
  uint64_t size;                      /* bytes, a multiple of 4096 */
  uint64_t asked;                     /* bytes that CREATE asked for */
  uint64_t serial;                    /* for PARAMETERS */
  uint32_t heap, flags, align;
  bool allocated; /* has pages (NVMAP ALLOC was done) */
  bool from_va;   /* its pages were the client's memory (FROM_VA) */
  bool in_place;  /* its pages are still the client's, at host */
  bool drivers;   /* made by the driver itself: not counted as nvmap's */
  bool foreign;   /* made by another process's device, which counts it */
  bool read_only; /* made by a FROM_VA with READ_ONLY */
  uint8_t *host;  /* the emulator's mapping, made by emu_dmabuf_host; NULL: none */
  int handles;    /* nvmap handles among refs */
  int kept_fd;    /* keeps the memfd when the client has no fd; -1: none */
  dev_t device;   /* identify the memfd */
  ino_t inode;
  bool has_inode;
  bool registered, mutable_metadata;
  uint32_t metadata_size;
  uint8_t metadata[256];
};

extern struct emu_memory {
  struct emu_dmabuf *dmabufs;
  uint64_t next_serial;
  uint64_t limit, used; /* bytes */
} emu_memory;

/* The dma-buf of an fd with a new reference: 0, -EBADF or -EINVAL. */
int emu_dmabuf_from_fd(int fd, struct emu_dmabuf **dmabuf);
/* A new dma-buf without pages; NULL: no memory. size: a multiple of 4096. */
struct emu_dmabuf *emu_dmabuf_create(uint64_t size);
/* Sets host, if it is not set: 0 or -errno. */
int emu_dmabuf_host(struct emu_dmabuf *dmabuf);
/* A new client fd, or -errno. */
int emu_dmabuf_fd(struct emu_dmabuf *dmabuf, bool read_only);
/* Whether the dma-buf, or the client's fd of it, forbids writing. */
bool emu_dmabuf_read_only(const struct emu_dmabuf *dmabuf, int fd);
/* Whether the mapping is one of the dma-buf's file. */
bool emu_dmabuf_is(const struct emu_dmabuf *dmabuf, const struct emu_vma *vma);
/* Call after a handle was freed: without handles no new fd can be requested, so no file is kept. */
void emu_dmabuf_drop_kept_fd(struct emu_dmabuf *dmabuf);

#endif
